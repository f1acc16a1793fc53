#pragma once

/// Several solves of one system, one a line.

#include "options.hpp"
#include "outcome.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace solver::command {

/// A solve as a line of a table.
struct ComparisonLine {
    std::string name;
    std::string status;  ///< "none" where a reference has no solution
    std::int64_t iterations;
    double seconds;
    double claimed;               ///< residual
    double residual;              ///< true
    std::optional<double> error;  ///< forward error, or the distance from the direct solution, where either is known
    std::string fingerprint;
};

/// The runs, then the references.
std::vector<ComparisonLine> comparison_lines(const Outcome& outcome);

/// What ComparisonLine::error is: "forward error" or "off direct"; empty where it is not known.
std::string error_heading(const Options& options);

/// Empty unless accuracies or references were to be compared.
std::string comparison(const Options& options, const Outcome& outcome, bool coloured);

}  // namespace solver::command
