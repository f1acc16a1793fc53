#include "page.hpp"

#include "comparison.hpp"
#include "linear_system.hpp"
#include "products.hpp"
#include "solver/cuda/runtime.hpp"
#include "tools/page/html.hpp"
#include "tools/page/proven_digits.hpp"
#include "tools/page/provenance.hpp"
#include "tools/page/residual_panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>

namespace solver::command {
namespace {

using page::Cell;
using page::escaped;
using page::grouped;
using page::power;
using page::ResidualCurve;

std::string matrix_name(const Outcome& outcome) { return std::filesystem::path(outcome.matrix).filename().string(); }

std::string header(const Options& options, const Outcome& outcome) {
    const std::string columns =
        outcome.right_hand_sides == 1 ? "" : fmt::format(", {} columns", grouped(outcome.right_hand_sides));
    return fmt::format(
        "<p class=\"kicker\">A <i>x</i> = <i>b</i> by solver {}</p>\n<h1>{}</h1>\n<p class=\"lede\">{} × {} with {} "
        "{}nonzeros; "
        "<i>b</i>: {}{}. Solved by {} in {} precision, preconditioner {}, tolerance {} on the true residual.</p>\n",
        SOLVER_VERSION, escaped(matrix_name(outcome)), grouped(outcome.rows), grouped(outcome.columns),
        grouped(outcome.nonzeros), outcome.is_complex ? "complex " : "", escaped(describe(options.rhs)), columns,
        method_name(outcome.run()), to_string(options.precision), to_string(options.preconditioner), power(options.tolerance));
}

std::string iterations(std::int64_t count) { return fmt::format("{} iteration{}", grouped(count), count == 1 ? "" : "s"); }

ResidualCurve residual_curve(const Run& run) {
    const SolveResult& result = run.worst();
    ResidualCurve curve{std::string(to_string(run.accuracy)),
                        fmt::format("{} after {}.<br/>{}", status_text(run), iterations(result.iterations),
                                    page::belief_and_truth(result.recursive_residual, result.relative_residual)),
                        {},
                        {}};
    for (const Iteration& step : result.history) {
        const auto number = static_cast<double>(step.number);
        curve.believed.push_back({number, step.recursive_residual});
        if (step.true_residual >= 0) curve.truth.push_back({number, step.true_residual});
    }
    curve.truth.push_back({static_cast<double>(result.iterations), result.relative_residual});
    return curve;
}

ResidualCurve residual_curve(const ReferenceRun& run) {
    ResidualCurve curve{run.name,
                        fmt::format("{} after {}.<br/>{}", escaped(run.claim), iterations(run.iterations),
                                    page::belief_and_truth(run.claimed_residual, run.true_residual)),
                        {},
                        {{static_cast<double>(run.iterations), run.true_residual}}};
    for (std::size_t i = 0; i < run.half_steps.size(); ++i)
        curve.believed.push_back({static_cast<double>(i) + 0.5, run.half_steps[i]});
    return curve;
}

std::string convergence(const Options& options, const Outcome& outcome) {
    std::vector<ResidualCurve> curves;
    for (const Run& run : outcome.runs) curves.push_back(residual_curve(run));
    for (const ReferenceRun& run : outcome.references)
        if (!run.half_steps.empty()) curves.push_back(residual_curve(run));
    return page::section(
        "Believed and true",
        fmt::format(
            "<p>The iteration updates its residual from step to step: what the recursion <span class=\"claim\">believes</span> "
            "(line). Rounding makes it drift from ‖<i>b</i> − A <i>x</i>‖, the <span class=\"truth\">true</span> residual "
            "(dots, where it was computed), on which alone this library claims convergence.{}</p>\n{}",
            outcome.right_hand_sides > 1 ? " Shown is the right-hand side that went worst." : "",
            page::residual_panels(curves, options.tolerance, "residual")));
}

std::string seconds(double time) {
    return time < 99.95 ? fmt::format("{:#.3g}", time) : fmt::format("{:.0f}", time);  // from there on it would be "100."
}

std::vector<Cell> cells(const ComparisonLine& line, double slowest, bool has_error) {
    const bool drifted = line.claimed < line.residual / 2;
    std::vector<Cell> row{
        page::text_cell(line.status), page::number_cell(grouped(line.iterations)),
        page::bar_cell(seconds(line.seconds), line.seconds / slowest), page::number_cell(power(line.claimed)),
        page::number_cell(drifted ? fmt::format("<span class=\"bad\">{}</span>", power(line.residual)) : power(line.residual))};
    if (has_error) row.push_back(page::number_cell(line.error ? power(*line.error) : ""));
    row.push_back({fmt::format("<code>{}</code>", escaped(line.fingerprint))});
    return row;
}

std::string solves(const Options& options, const Outcome& outcome) {
    const std::vector<ComparisonLine> lines = comparison_lines(outcome);
    double slowest = 0;
    for (const ComparisonLine& line : lines) slowest = std::max(slowest, line.seconds);
    const std::string error = error_heading(options);
    std::vector<Cell> columns{page::text_cell("status"), page::number_cell("iterations"), page::number_cell("seconds"),
                              page::number_cell("claimed residual"), page::number_cell("true residual")};
    if (!error.empty()) columns.push_back(page::number_cell(error));
    columns.push_back(page::text_cell("fingerprint of x"));
    page::Table table("Seconds are those of preparing and solving, the bars compare them.", columns);
    for (const ComparisonLine& line : lines) table.add(escaped(line.name), cells(line, slowest, !error.empty()));
    std::string html = table.html();
    for (const ReferenceRun& run : outcome.references)
        if (run.solution.empty()) html += fmt::format("<p class=\"note\">{}: {}</p>\n", escaped(run.name), escaped(run.claim));
    return page::section(lines.size() > 1 ? "Side by side" : "The solve", html);
}

/// Of the right-hand side of which least was proven; nothing where nothing was asked for.
std::string proof(const Run& run) {
    const SolutionProof* const proof = run.worst_proof();
    if (proof == nullptr) return "";
    std::string html = fmt::format("<p>{}: {}.</p>\n", escaped(to_string(proof->status)), escaped(proof->reason));
    const std::span x(run.solution.values.data() + (proof - run.report.proofs.data()) * run.solution.rows,
                      static_cast<std::size_t>(run.solution.rows));
    if (proof->refinements > 0)
        html += fmt::format("<p>{} of {} components are those of A<sup>−1</sup><i>b</i>, rounded once.</p>\n",
                            grouped(proof->rounded), grouped(proof->rounded + proof->undecided));
    else if (!proof->bounds.empty())
        html += page::proven_digits(x, proof->bounds, "digits");
    return page::section("What is proven", html);
}

/// The last one that was made; nothing where there was none.
std::string hierarchy(const Run& run) {
    const std::vector<LevelSummary>* levels = nullptr;
    for (const Attempt& attempt : run.report.attempts)
        if (!attempt.levels.empty()) levels = &attempt.levels;
    if (levels == nullptr) return "";
    const auto entries = static_cast<double>(levels->front().nonzeros);
    page::Table table(
        fmt::format("Together {:.2f} times the entries of A (operator complexity).", operator_complexity(*levels)),
        {page::number_cell("rows"), page::number_cell("nonzeros"), page::number_cell("a row"), page::number_cell("of A's")});
    for (std::size_t l = 0; l < levels->size(); ++l) {
        const LevelSummary& level = (*levels)[l];
        const auto count = static_cast<double>(level.nonzeros);
        table.add(fmt::format("level {}", l + 1),
                  {page::number_cell(grouped(level.rows)), page::number_cell(grouped(level.nonzeros)),
                   page::number_cell(fmt::format("{:.1f}", count / static_cast<double>(level.rows))),
                   page::bar_cell(fmt::format("{:.3f}", count / entries), std::min(count / entries, 1.0))});
    }
    return page::section("The levels of multigrid", table.html());
}

std::string products(const Options& options, const Outcome& outcome) {
    if (outcome.products.empty()) return "";
    std::string html =
        fmt::format("<p>One product <i>y</i> = A <i>x</i> in {} precision. {}</p>\n",
                    options.precision == Precision::single_precision ? "single" : "double", page::about_ulp_histograms);
    for (const ProductErrors& product : outcome.products) html += page::ulp_histograms(product.x, {}, product.ways);
    html += fmt::format("<p class=\"note\">{}</p>\n", page::about_exact_products);
    return page::section("One product with this matrix", html);
}

std::string origin(const Options& options) {
    page::Facts facts;
    facts.add("device", escaped(fmt::format("{}, {}", to_string(options.device), describe(options.device).name)));
    if (options.device.kind() != Device::Kind::cpu) facts.add("processor", escaped(describe(Device::cpu()).name));
    facts.add("threads", fmt::format("{}", Device::cpu(options.threads).threads()));
    facts.add("versions", escaped(fmt::format("solver {}, {}, {}", SOLVER_VERSION, page::compiler(), eigen_version())));
    facts.add("CUDA", escaped(describe_cuda()));
    facts.add("made", escaped(page::now()));
    facts.add("command", fmt::format("<code>{}</code>", escaped(options.command)));
    return page::section("Where this comes from", facts.html());
}

}  // namespace

std::string page_html(const Options& options, const Outcome& outcome) {
    return page::document(fmt::format("{}: solver", matrix_name(outcome)), header(options, outcome),
                          convergence(options, outcome) + solves(options, outcome) + proof(outcome.run()) +
                              hierarchy(outcome.run()) + products(options, outcome) + origin(options));
}

}  // namespace solver::command
