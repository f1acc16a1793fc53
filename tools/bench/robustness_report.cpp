#include "robustness_report.hpp"

#include "eigen_peer.hpp"
#include "io/atomic_file.hpp"
#include "machine.hpp"
#include "report.hpp"
#include "solver/device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

namespace solver::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string residual_text(double residual) { return std::isfinite(residual) ? fmt::format("{:.1e}", residual) : "-"; }

std::string time_text(double seconds) {
    constexpr double below = 0.9995;  // of a second: from there on three digits would be 1e+03
    return seconds < below ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// How much longer the automatic choice took than the best by hand; nothing where one of them did not reach the tolerance.
std::optional<double> price_of_choice(const TestedMatrix& matrix, double tolerance) {
    const Trial* automatic = automatic_trial(matrix.trials);
    const Trial* best = best_hand_picked(matrix.trials, tolerance);
    if (!automatic || !best || !automatic->reached(tolerance)) return std::nullopt;
    return automatic->seconds() / best->seconds();
}

/// A cell: residual and iterations, bold where the tolerance is reached; else what happened.
std::string cell(const Trial& trial, double tolerance) {
    if (!std::isfinite(trial.residual)) return trial.status;
    const std::string text = fmt::format("{} / {}", residual_text(trial.residual), trial.iterations);
    if (trial.reached(tolerance)) return fmt::format("**{}**", text);
    return trial.false_claim(tolerance) ? text + " (claimed)" : text;
}

std::string in_one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::replace(text.begin(), text.end(), '|', '/');
    return text;
}

}  // namespace

void RobustnessReport::begin(TestedMatrix matrix) {
    fmt::print("\n{}: {} x {}, {} entries, {}\n", matrix.name, matrix.rows, matrix.rows, matrix.nonzeros, matrix.singularity);
    std::fflush(stdout);
    matrices_.push_back(std::move(matrix));
}

void RobustnessReport::add(Trial trial) {
    fmt::print("  {:<13} {:<16} {:>6} iterations  true residual {:>8}  {:>9}{}{}\n", trial.solver, trial.status,
               trial.iterations, residual_text(trial.residual), time_text(trial.seconds()),
               trial.false_claim(options_.tolerance) ? "  FALSE CLAIM" : "", trial.remark.empty() ? "" : "  " + trial.remark);
    std::fflush(stdout);
    matrices_.back().trials.push_back(std::move(trial));
    write(write_draft);
}

void RobustnessReport::finish() const {
    fmt::print("\n");
    for (const std::string& line : summary()) fmt::print("{}\n", line);
    write(write_file);
}

bool RobustnessReport::has_false_claims_of_ours() const {
    for (const TestedMatrix& matrix : matrices_)
        for (const Trial& trial : matrix.trials)
            if (trial.ours && trial.false_claim(options_.tolerance)) return true;
    return false;
}

std::vector<std::string> RobustnessReport::summary() const {
    struct Count {
        std::string solver;
        int reached = 0;
        int timed_out = 0;
        bool built = false;
        std::vector<std::string> false_claims{};
    };
    std::vector<Count> counts;
    int by_peer = 0, by_hand = 0;
    std::vector<std::string> singular, unreached;
    std::vector<double> prices;
    const double tolerance = options_.tolerance;
    for (const TestedMatrix& matrix : matrices_) {
        bool peer = false;
        for (const Trial& trial : matrix.trials) {
            auto count = std::find_if(counts.begin(), counts.end(), [&](const Count& c) { return c.solver == trial.solver; });
            if (count == counts.end()) count = counts.insert(counts.end(), {.solver = trial.solver});
            count->reached += trial.reached(tolerance) ? 1 : 0;
            count->built = count->built || trial.status != "not built";
            count->timed_out += trial.status == "timed out" ? 1 : 0;
            if (trial.false_claim(tolerance)) count->false_claims.push_back(matrix.name);
            peer = peer || (!trial.ours && trial.reached(tolerance));
        }
        const Trial* automatic = automatic_trial(matrix.trials);
        const bool hand = best_hand_picked(matrix.trials, tolerance) != nullptr;
        by_peer += peer ? 1 : 0;
        by_hand += hand ? 1 : 0;
        if (!peer && !hand && !(automatic && automatic->reached(tolerance))) unreached.push_back(matrix.name);
        if (matrix.singularity.find("singular") != std::string::npos)
            singular.push_back(fmt::format("{} ({})", matrix.name, matrix.singularity));
        if (const auto price = price_of_choice(matrix, tolerance)) prices.push_back(*price);
    }
    std::vector<std::string> lines{
        fmt::format("Of {} matrices, a true residual of {:g} is reached on", matrices_.size(), tolerance)};
    for (const Count& count : counts) {
        std::string line = fmt::format("- {} by {}", count.reached, count.solver);
        if (!count.built) line = fmt::format("- {} is not built", count.solver);
        if (count.timed_out > 0) line += fmt::format(", {} timed out", count.timed_out);
        if (!count.false_claims.empty()) line += fmt::format(", false claims: {}", fmt::join(count.false_claims, ", "));
        lines.push_back(line);
    }
    lines.push_back(fmt::format("- {} by Eigen's best, {} by our best hand-picked", by_peer, by_hand));
    if (!prices.empty())
        lines.push_back(
            fmt::format("- median time of the automatic choice by that of the best hand-picked: {:.2f} ({} matrices)",
                        median(prices), prices.size()));
    if (!singular.empty()) lines.push_back(fmt::format("- singular: {}", fmt::join(singular, ", ")));
    if (!unreached.empty()) lines.push_back(fmt::format("- reached by nobody: {}", fmt::join(unreached, ", ")));
    return lines;
}

void RobustnessReport::write(FileWriter to_file) const {
    if (!options_.csv.empty()) to_file(options_.csv, csv());
    if (!options_.json.empty()) to_file(options_.json, json());
    if (!options_.markdown.empty()) to_file(options_.markdown, markdown());
}

std::string RobustnessReport::csv() const {
    std::string text =
        "matrix,rows,nonzeros,singularity,solver,status,claimed,reached,false_claim,iterations,relative_residual,setup_seconds,"
        "solve_seconds,remark\n";
    for (const TestedMatrix& matrix : matrices_)
        for (const Trial& trial : matrix.trials)
            text +=
                fmt::format("{},{},{},{},{},{},{:d},{:d},{:d},{},{},{},{},{}\n", csv_field(matrix.name), matrix.rows,
                            matrix.nonzeros, csv_field(matrix.singularity), csv_field(trial.solver), csv_field(trial.status),
                            trial.claimed, trial.reached(options_.tolerance), trial.false_claim(options_.tolerance),
                            trial.iterations, std::isnan(trial.residual) ? "" : fmt::format("{}", trial.residual),
                            trial.setup_seconds, trial.solve_seconds, csv_field(in_one_line(trial.remark)));
    return text;
}

std::string RobustnessReport::json() const {
    Json json;
    json["solver"] = SOLVER_VERSION;
    json["benchmark"] = std::string(to_string(options_.subject));
    json["machine"] = machine_facts(options_);
    json["tolerance"] = options_.tolerance;
    json["max_iterations"] = options_.max_iterations;
    json["time_limit_seconds"] = options_.effort.time_limit;
    json["accuracy"] = std::string(to_string(options_.accuracy));
    json["cases"] = Json::array();
    for (const TestedMatrix& matrix : matrices_)
        for (const Trial& trial : matrix.trials)
            json["cases"].push_back({{"matrix", matrix.name},
                                     {"rows", matrix.rows},
                                     {"nonzeros", matrix.nonzeros},
                                     {"singularity", matrix.singularity},
                                     {"solver", trial.solver},
                                     {"status", trial.status},
                                     {"claimed", trial.claimed},
                                     {"reached", trial.reached(options_.tolerance)},
                                     {"false_claim", trial.false_claim(options_.tolerance)},
                                     {"iterations", trial.iterations},
                                     {"relative_residual", trial.residual},  // null where there is none
                                     {"setup_seconds", trial.setup_seconds},
                                     {"solve_seconds", trial.solve_seconds},
                                     {"remark", trial.remark}});
    json["summary"] = summary();
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string RobustnessReport::markdown_row(const TestedMatrix& matrix) const {
    const double tolerance = options_.tolerance;
    std::string row = fmt::format("| {} | {} | {} |", matrix.name, matrix.rows, matrix.nonzeros);
    for (const Trial& trial : matrix.trials)
        if (!trial.ours) row += fmt::format(" {} |", cell(trial, tolerance));
    const Trial* automatic = automatic_trial(matrix.trials);
    const Trial* best = best_hand_picked(matrix.trials, tolerance);
    const auto price = price_of_choice(matrix, tolerance);
    if (automatic != nullptr) row += fmt::format(" {} | {} |", in_one_line(automatic->remark), cell(*automatic, tolerance));
    row += best == nullptr ? std::string(" - |")
                           : fmt::format(" {}: {}, {} |", best->solver, cell(*best, tolerance), time_text(best->seconds()));
    if (automatic != nullptr) row += price ? fmt::format(" {:.2f} |", *price) : std::string(" - |");
    return row + '\n';
}

std::string RobustnessReport::markdown() const {
    std::string text = fmt::format(
        "`solver-bench robustness`, solver {}, {}, {}, {} thread{}. b = A x*, x*_i = 1 + (i mod 8)/8, formed exactly and "
        "rounded. "
        "Tolerance {:g}, at most {} iterations and {:g} s a solve, accuracy {}.\n"
        "Cells: true relative residual (from the exact residual) / iterations, bold where it meets the tolerance, (claimed) "
        "where convergence was claimed falsely. Times are setup and solve.\n\n",
        SOLVER_VERSION, eigen::description(), describe(Device::cpu()).name, options_.threads, options_.threads == 1 ? "" : "s",
        options_.tolerance, options_.max_iterations, options_.effort.time_limit, to_string(options_.accuracy));
    if (!matrices_.empty()) {
        std::vector<std::string> titles{"matrix", "n", "nonzeros"};
        for (const Trial& trial : matrices_.front().trials)
            if (!trial.ours) titles.push_back(trial.solver);
        const bool automatic = automatic_trial(matrices_.front().trials) != nullptr;
        if (automatic) titles.insert(titles.end(), {"ours: tried", "ours: auto"});
        titles.push_back("ours: best hand-picked");
        if (automatic) titles.push_back("auto / best");
        text += fmt::format("| {} |\n|", fmt::join(titles, " | "));
        for (std::size_t i = 0; i < titles.size(); ++i) text += i == 0 ? "---|" : "---:|";
        text += '\n';
        for (const TestedMatrix& matrix : matrices_) text += markdown_row(matrix);
        text += '\n';
    }
    return text + fmt::format("{}\n", fmt::join(summary(), "\n"));
}

}  // namespace solver::bench
