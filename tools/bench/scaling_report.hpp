#pragma once

/// What solver-bench scaling found: tables, ratios, growth, figures.

#include "io/atomic_file.hpp"
#include "options.hpp"
#include "trial.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace solver::bench {

/// A problem of one size, and who solved it how.
struct ScaledProblem {
    std::string name;  ///< without .mtx
    std::int64_t unknowns = 0;
    std::int64_t nonzeros = 0;
    double tolerance = 0;
    std::vector<Trial> trials{};

    /// 12 bytes an entry, 8 a row.
    double matrix_bytes() const { return 12.0 * static_cast<double>(nonzeros) + 8.0 * static_cast<double>(unknowns + 1); }
};

/// The time of a trial by that of the best of ours picked by hand: above 1 is slower. Nothing where one of them did not reach
/// the tolerance.
std::optional<double> by_best_hand_picked(const ScaledProblem& problem, const Trial& trial);

/// Keeps trials, prints them, and writes all output files anew after each one, so that an interrupted run keeps what it has.
class ScalingReport {
public:
    explicit ScalingReport(const Options& options);

    void begin(ScaledProblem problem);
    void add(Trial trial);
    /// Prints what the last problem came to.
    void end() const;

    /// What --json once wrote. Throws FileError where it is something else.
    void read(const std::filesystem::path& path);

    /// Prints the summary, writes the last files and draws the figures.
    void finish() const;

    bool has_false_claims_of_ours() const;

private:
    void write(FileWriter to_file) const;
    std::string markdown() const;
    std::vector<std::string> summary() const;

    const Options& options_;
    std::vector<std::string> machines_{};
    std::vector<ScaledProblem> problems_{};
};

}  // namespace solver::bench
