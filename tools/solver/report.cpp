#include "report.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

namespace solver::command {
namespace {

using Json = nlohmann::ordered_json;

std::string text(std::string_view view) { return std::string(view); }

std::string rhs_option(const Rhs& rhs) {
    if (const auto* random = std::get_if<RhsRandom>(&rhs)) return fmt::format("random:{}", random->seed);
    if (const auto* file = std::get_if<RhsFile>(&rhs)) return file->path.string();
    return std::holds_alternative<RhsOnes>(rhs) ? "ones" : "A*ones";
}

void add_forward_error(Json& json, const std::optional<ForwardError>& known) {
    json["forward_error"] = known ? Json(known->error) : Json();
    json["forward_error_floor"] = known ? Json(known->floor) : Json();
    json["rhs_rounding"] = known ? Json(known->rhs_rounding) : Json();
}

}  // namespace

std::string report_json(const Options& options, const Outcome& outcome, const std::string& solution_sha256) {
    const SolveResult& result = outcome.result;
    const bool on_cpu = options.device.kind() == Device::Kind::cpu;
    Json json;
    json["solver"] = SOLVER_VERSION;
    json["matrix"] = outcome.matrix;
    json["rows"] = outcome.rows;
    json["columns"] = outcome.columns;
    json["nonzeros"] = outcome.nonzeros;
    json["rhs"] = rhs_option(options.rhs);
    json["device"] = to_string(options.device);
    json["threads"] = on_cpu ? Json(options.device.threads()) : Json();
    json["accuracy"] = text(to_string(options.accuracy));
    json["precision"] = text(to_string(options.precision));
    json["preconditioner"] = text(to_string(options.preconditioner));
    json["spmv"] = text(to_string(outcome.spmv));
    json["tolerance"] = options.tolerance;
    json["max_iterations"] = options.max_iterations;
    json["status"] = status_text(outcome);
    json["iterations"] = result.iterations;
    json["relative_residual"] = result.relative_residual;
    json["recursive_residual"] = result.recursive_residual;
    json["replacements"] = result.replacements;
    json["restarts"] = result.restarts;
    add_forward_error(json, outcome.forward_error);
    json["seconds"] = {{"read", outcome.seconds.read}, {"setup", outcome.seconds.setup}, {"solve", outcome.seconds.solve}};
    json["solution_sha256"] = solution_sha256;
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string history_csv(const std::vector<Iteration>& history) {
    std::string csv = "iteration,recursive_residual,true_residual,replaced\n";
    for (const Iteration& step : history) {
        const std::string known = step.true_residual >= 0 ? fmt::format("{}", step.true_residual) : "";
        fmt::format_to(std::back_inserter(csv), "{},{},{},{}\n", step.number, step.recursive_residual, known,
                       int{step.replaced});
    }
    return csv;
}

}  // namespace solver::command
