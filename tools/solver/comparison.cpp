#include "comparison.hpp"

#include "errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace solver::command {
namespace {

/// The forward error where it is known, else the distance from the direct solution, the last of the references.
std::optional<double> error_of(const std::vector<double>& x, std::optional<double> known, const Outcome& outcome) {
    if (known) return known;
    if (outcome.references.empty() || outcome.references.back().solution.empty() || x.empty()) return std::nullopt;
    return relative_distance(x, outcome.references.back().solution);
}

ComparisonLine line_of(const Run& run, const Outcome& outcome) {
    const SolveResult& worst = run.worst();
    const auto known = run.forward_error ? std::optional(run.forward_error->error) : std::nullopt;
    return {std::string(to_string(run.accuracy)),          status_text(run),         worst.iterations,
            run.setup_seconds + run.solve_seconds,         worst.recursive_residual, worst.relative_residual,
            error_of(run.solution.values, known, outcome), run.sha256.substr(0, 16)};
}

ComparisonLine line_of(const ReferenceRun& run, const Outcome& outcome) {
    const bool has_solution = !run.solution.empty();
    return {run.name,
            has_solution ? run.claim : "none",
            run.iterations,
            run.seconds,
            run.claimed_residual,
            run.true_residual,
            error_of(run.solution, run.forward_error, outcome),
            ""};
}

}  // namespace

std::vector<ComparisonLine> comparison_lines(const Outcome& outcome) {
    std::vector<ComparisonLine> lines;
    for (const Run& run : outcome.runs) lines.push_back(line_of(run, outcome));
    for (const ReferenceRun& run : outcome.references) lines.push_back(line_of(run, outcome));
    return lines;
}

std::string error_heading(const Options& options) {
    if (std::holds_alternative<RhsOfOnes>(options.rhs)) return "forward error";
    return options.reference ? "off direct" : "";
}

std::string comparison(const Options& options, const Outcome& outcome, bool coloured) {
    if (outcome.runs.size() + outcome.references.size() < 2) return "";
    const std::vector<ComparisonLine> lines = comparison_lines(outcome);
    std::size_t width = 0;
    for (const ComparisonLine& line : lines) width = std::max(width, line.name.size());

    std::string head =
        fmt::format("  {:<{}}  {:<15}  {:>10}  {:>10}  {:>12}  {:>13}  {:>13}  {}", "", width, "status", "iterations",
                    "seconds", "claimed res.", "true residual", error_heading(options), "fingerprint");
    std::string text = coloured ? fmt::format("\x1b[2m{}\x1b[0m\n", head) : head + '\n';
    for (const ComparisonLine& line : lines)
        fmt::format_to(std::back_inserter(text), "  {:<{}}  {:<15}  {:>10}  {:>10.3g}  {:>12.1e}  {:>13.1e}  {:>13}  {}\n",
                       line.name, width, line.status, line.iterations, line.seconds, line.claimed, line.residual,
                       line.error ? fmt::format("{:.1e}", *line.error) : "", line.fingerprint);
    for (const ReferenceRun& run : outcome.references)
        if (run.solution.empty()) fmt::format_to(std::back_inserter(text), "  {}: {}\n", run.name, run.claim);
    return text + '\n';
}

}  // namespace solver::command
