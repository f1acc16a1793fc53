#pragma once

/// What solver-bench robustness found, as it goes and at the end.

#include "io/atomic_file.hpp"
#include "options.hpp"
#include "trial.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace solver::bench {

struct TestedMatrix {
    std::string name;
    std::int64_t rows = 0;
    std::int64_t nonzeros = 0;
    std::string singularity;
    std::vector<Trial> trials{};
};

/// Keeps trials, prints them, and writes all output files anew after each one, so that an interrupted run keeps what it has.
class RobustnessReport {
public:
    explicit RobustnessReport(const Options& options) : options_(options) {}

    void begin(TestedMatrix matrix);
    void add(Trial trial);

    /// Prints and writes the summary.
    void finish() const;

    bool has_false_claims_of_ours() const;

private:
    void write(FileWriter to_file) const;
    std::string csv() const;
    std::string json() const;
    std::string markdown() const;
    std::string markdown_row(const TestedMatrix& matrix) const;
    std::vector<std::string> summary() const;

    const Options& options_;
    std::vector<TestedMatrix> matrices_;
};

}  // namespace solver::bench
