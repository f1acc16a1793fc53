#include "trial_report.hpp"

#include "report.hpp"
#include "solver/error.hpp"
#include "tools/page/provenance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace solver::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string residual_text(double residual) { return std::isfinite(residual) ? fmt::format("{:.1e}", residual) : "-"; }

std::string time_text(double seconds) {
    constexpr double below = 0.9995;  // of a second: from there on three digits would be 1e+03
    return seconds < below ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

const char* whose(const Trial& trial) { return !trial.ours ? "peer" : trial.automatic ? "automatic" : "by hand"; }

Json json_of(const TestedProblem& problem, const Trial& trial, double tolerance) {
    return {{"problem", problem.name},
            {"unknowns", problem.unknowns},
            {"nonzeros", problem.nonzeros},
            {"singularity", problem.singularity},
            {"tolerance", tolerance},
            {"whose", whose(trial)},
            {"solver", trial.solver},
            {"status", trial.status},
            {"claimed", trial.claimed},
            {"reached", trial.reached(tolerance)},
            {"false_claim", trial.false_claim(tolerance)},
            {"iterations", trial.iterations},
            {"relative_residual", trial.residual},  // null where there is none
            {"setup_seconds", trial.setup_seconds},
            {"solve_seconds", trial.solve_seconds},
            {"memory_bytes", trial.memory_bytes},
            {"remark", trial.remark}};
}

}  // namespace

void TrialReport::begin(TestedProblem problem) {
    fmt::print("\n{}: {} unknowns, {} entries{}{}\n", problem.name, problem.unknowns, problem.nonzeros,
               problem.singularity.empty() ? "" : ", ", problem.singularity);
    std::fflush(stdout);
    problems_.push_back(std::move(problem));
}

void TrialReport::add(Trial trial) {
    fmt::print("  {:<22} {:<16} {:>6} iterations  true residual {:>8}  {:>9} + {:>9}{}{}{}\n", trial.solver, trial.status,
               trial.iterations, residual_text(trial.residual), time_text(trial.setup_seconds), time_text(trial.solve_seconds),
               trial.memory_bytes > 0 ? fmt::format("  {:>6.1f} MB", trial.memory_bytes / 1e6) : "",
               trial.false_claim(options_.tolerance) ? "  FALSE CLAIM" : "", trial.remark.empty() ? "" : "  " + trial.remark);
    std::fflush(stdout);
    problems_.back().trials.push_back(std::move(trial));
    write(write_draft);
}

void TrialReport::finish() const {
    if (problems_.empty()) throw InvalidArgument("no matrix here is square and real, with values: nothing was solved");
    struct Count {
        std::string solver;
        int reached = 0, timed_out = 0;
        bool built = false;
    };
    std::vector<Count> counts;
    for (const TestedProblem& problem : problems_)
        for (const Trial& trial : problem.trials) {
            auto count = std::find_if(counts.begin(), counts.end(), [&](const Count& c) { return c.solver == trial.solver; });
            if (count == counts.end()) count = counts.insert(counts.end(), {.solver = trial.solver});
            count->reached += trial.reached(options_.tolerance) ? 1 : 0;
            count->timed_out += trial.status == "timed out" ? 1 : 0;
            count->built = count->built || trial.status != "not built";
        }
    fmt::print("\nOf {} matrices, a true residual of {:g} is reached on\n", problems_.size(), options_.tolerance);
    for (const Count& count : counts)
        fmt::print("- {} by {}{}{}\n", count.reached, count.solver, count.built ? "" : ", which is not built",
                   count.timed_out > 0 ? fmt::format(", {} timed out", count.timed_out) : "");
    write(write_file);
}

bool TrialReport::has_false_claims_of_ours() const {
    for (const TestedProblem& problem : problems_)
        for (const Trial& trial : problem.trials)
            if (trial.ours && trial.false_claim(options_.tolerance)) return true;
    return false;
}

void TrialReport::write(FileWriter to_file) const {
    if (!options_.json.empty()) to_file(options_.json, json());
}

std::string TrialReport::json() const {
    Json json = head_of_record(options_, std::string(to_string(options_.subject)));
    json["tolerance"] = options_.tolerance;
    json["max_iterations"] = options_.max_iterations;
    json["time_limit_seconds"] = options_.effort.time_limit;
    json["accuracy"] = std::string(to_string(options_.accuracy));
    json["cases"] = Json::array();
    for (const TestedProblem& problem : problems_)
        for (const Trial& trial : problem.trials) json["cases"].push_back(json_of(problem, trial, options_.tolerance));
    return text_of(json);
}

}  // namespace solver::bench
