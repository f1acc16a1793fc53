#include "report.hpp"

#include "solver/cuda/runtime.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

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

void add_result(Json& json, const SolveResult& result) {
    json["status"] = text(to_string(result.status));
    json["iterations"] = result.iterations;
    json["relative_residual"] = result.relative_residual;
    json["recursive_residual"] = result.recursive_residual;
    json["replacements"] = result.replacements;
    json["restarts"] = result.restarts;
}

Json levels_json(const std::vector<LevelSummary>& levels) {
    Json all = Json::array();
    for (const LevelSummary& level : levels)
        all.push_back({{"rows", level.rows}, {"nonzeros", level.nonzeros}, {"unknowns_per_node", level.unknowns_per_node}});
    return all;
}

Json attempts_json(const std::vector<Attempt>& attempts, const char* precision) {
    Json all = Json::array();
    for (const Attempt& attempt : attempts) {
        Json& json = all.emplace_back(Json::object());
        json["preconditioner"] = text(to_string(attempt.preconditioner));
        json["method"] = text(method_name(attempt));
        json["repeated"] = attempt.repeated;
        json["iterates_in"] = attempt.mixed ? "single" : precision;
        json["refusal"] = attempt.refusal.empty() ? Json() : Json(attempt.refusal);
        json["factor_entries"] = attempt.factor_entries;
        json["pivot_ratio"] = attempt.pivot_ratio;
        json["factor_hash"] = fmt::format("{:016x}", attempt.factor_hash);
        json["levels"] = levels_json(attempt.levels);
        json["operator_complexity"] = attempt.levels.empty() ? Json() : Json(operator_complexity(attempt.levels));
        json["seconds"] = {{"setup", attempt.setup_seconds}, {"solve", attempt.solve_seconds}};
        json["results"] = Json::array();
        for (std::size_t i = 0; i < attempt.results.size(); ++i) {
            Json& result = json["results"].emplace_back(Json::object());
            result["column"] = attempt.columns[i];
            add_result(result, attempt.results[i]);
        }
    }
    return all;
}

/// JSON has no infinity: "Infinity", as in Protocol Buffers; null is what is not known.
Json number(double value) { return std::isinf(value) ? Json("Infinity") : std::isnan(value) ? Json() : Json(value); }

Json proof_json(const SolutionProof& proof) {
    Json json;
    json["status"] = text(to_string(proof.status));
    json["reason"] = proof.reason;
    json["backward_error"] = number(proof.backward_error);
    json["error_bound"] = proof.error_bound < 0 ? Json() : number(proof.error_bound);
    json["estimated_error"] = proof.estimated_error < 0 ? Json() : number(proof.estimated_error);
    json["certified_digits"] = proof.certified_digits;
    json["rounded"] = proof.rounded;
    json["ties"] = proof.ties;
    json["zeros"] = proof.zeros;
    json["dropped"] = proof.dropped;
    json["undecided"] = proof.undecided;
    json["first_undecided"] = proof.first_undecided;
    json["refinements"] = proof.refinements;
    json["iterations"] = proof.iterations;
    return json;
}

Json run_json(const Run& run, Precision precision) {
    Json json;
    json["accuracy"] = text(to_string(run.accuracy));
    add_result(json, run.worst());
    json["status"] = status_text(run);
    add_forward_error(json, run.forward_error);
    json["backward_error"] = run.normal_residual ? Json() : number(run.backward_error);
    if (run.normal_residual) {
        json["normal_residual"] = number(*run.normal_residual);
        const PreconditionerKind kind = run.of_normal_equations;
        json["normal_equations"] = kind == PreconditionerKind::none ? Json() : Json(text(to_string(kind)));
        json["factor_entries"] = run.factor_entries;
    }
    json["proofs"] = Json::array();
    for (const SolutionProof& proof : run.report.proofs) json["proofs"].push_back(proof_json(proof));
    json["certificate_iterations"] = run.report.certificate_iterations;
    json["seconds"] = {{"setup", run.setup_seconds}, {"solve", run.solve_seconds}, {"guarantee", run.report.guarantee_seconds}};
    json["solution_sha256"] = run.sha256;
    json["profile"] = text(to_string(run.report.profile));
    json["obstacle"] = run.report.obstacle.empty() ? Json() : Json(run.report.obstacle);
    json["attempts"] = attempts_json(run.report.attempts, precision == Precision::single_precision ? "single" : "double");
    json["right_hand_sides"] = Json::array();
    for (const SolveResult& result : run.report.results)
        add_result(json["right_hand_sides"].emplace_back(Json::object()), result);
    return json;
}

Json reference_json(const ReferenceRun& run) {
    return {{"name", run.name},
            {"claim", run.claim},
            {"iterations", run.iterations},
            {"claimed_residual", run.claimed_residual},
            {"relative_residual", run.true_residual},
            {"forward_error", run.forward_error ? Json(*run.forward_error) : Json()},
            {"seconds", run.seconds}};
}

/// The versions in use on a CUDA device, 13000 for 13.0; null on the processor.
Json cuda_json(const Device& device) {
    if (device.kind() == Device::Kind::cpu) return {};
    const cuda::Platform platform = cuda::platform();
    return {{"runtime_version", platform.runtime_version}, {"driver_version", platform.driver_version}};
}

/// Of rectangular matrices it is not known.
Json structure_json(const Diagnosis& structure, bool is_square) {
    if (!is_square) return {{"structural_rank", {}}, {"empty_rows", {}}, {"empty_columns", {}}, {"zero_diagonals", {}}};
    return {{"structural_rank", structure.structural_rank},
            {"empty_rows", structure.empty_rows.count},
            {"empty_columns", structure.empty_columns.count},
            {"zero_diagonals", structure.zero_diagonals.count}};
}

}  // namespace

std::string report_json(const Options& options, const Outcome& outcome) {
    const bool on_cpu = options.device.kind() == Device::Kind::cpu;
    const bool is_square = !outcome.run().normal_residual;
    Json json;
    json["solver"] = SOLVER_VERSION;
    json["matrix"] = outcome.matrix;
    json["rows"] = outcome.rows;
    json["columns"] = outcome.columns;
    json["nonzeros"] = outcome.nonzeros;
    json["complex"] = outcome.is_complex;
    json["structure"] = structure_json(outcome.structure, is_square);
    json["rhs"] = rhs_option(options.rhs);
    json["device"] = to_string(options.device);
    const DeviceDescription device = describe(options.device);
    json["device_name"] = device.name;
    json["device_memory_bytes"] = device.memory_bytes;
    json["cuda"] = cuda_json(options.device);
    json["threads"] = on_cpu ? Json(options.device.threads()) : Json();
    json["precision"] = text(to_string(options.precision));
    json["preconditioner"] = is_square ? Json(text(to_string(options.preconditioner))) : Json();
    json["spmv"] = text(to_string(outcome.spmv));
    json["storage"] = {{"kind", text(to_string(outcome.storage.storage))},
                       {"bytes_a_nonzero", outcome.storage.bytes_a_nonzero},
                       {"description", outcome.storage.text}};
    json["tolerance"] = options.tolerance;
    json["absolute_tolerance"] = options.absolute_tolerance;
    json["max_iterations"] = options.max_iterations;
    json["guarantee"] = text(to_string(options.guarantee));
    json.update(run_json(outcome.run(), options.precision));
    json["seconds"] = {{"read", outcome.read_seconds},
                       {"setup", outcome.setup_seconds + outcome.run().setup_seconds},
                       {"solve", outcome.run().solve_seconds},
                       {"guarantee", outcome.run().report.guarantee_seconds}};
    if (options.compare) {
        json["compared"] = Json::array();
        for (const Run& run : std::span(outcome.runs).subspan(1)) json["compared"].push_back(run_json(run, options.precision));
    }
    if (options.reference) {
        json["references"] = Json::array();
        for (const ReferenceRun& run : outcome.references) json["references"].push_back(reference_json(run));
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string history_csv(const std::vector<Run>& runs) {
    std::string csv = "accuracy,column,iteration,recursive_residual,true_residual,replaced\n";
    for (const Run& run : runs)
        for (const SolveResult& result : run.report.results)
            for (const Iteration& step : result.history) {
                const std::string known = step.true_residual >= 0 ? fmt::format("{}", step.true_residual) : "";
                fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{}\n", to_string(run.accuracy), step.column,
                               step.number, canonical(step.recursive_residual), known, int{step.replaced});
            }
    return csv;
}

}  // namespace solver::command
