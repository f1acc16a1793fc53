#pragma once

/// What robustness and scaling found: lines as it goes, and JSON from which tools/bench-pages makes tables and figures.

#include "io/atomic_file.hpp"
#include "options.hpp"
#include "trial.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace solver::bench {

/// A system, and who solved it how.
struct TestedProblem {
    std::string name;  ///< without .mtx
    std::int64_t unknowns = 0;
    std::int64_t nonzeros = 0;
    std::string singularity{};  ///< empty: not looked at
    std::vector<Trial> trials{};
};

/// Keeps trials, prints them, and writes JSON anew after each one, so that an interrupted run keeps what it has.
class TrialReport {
public:
    explicit TrialReport(const Options& options) : options_(options) {}

    void begin(TestedProblem problem);
    void add(Trial trial);

    /// Prints how many reached the tolerance, by solver, and writes what pipes get once. Throws InvalidArgument where no system
    /// was begun.
    void finish() const;

    bool has_false_claims_of_ours() const;

private:
    void write(FileWriter to_file) const;
    std::string json() const;

    const Options& options_;
    std::vector<TestedProblem> problems_{};
};

}  // namespace solver::bench
