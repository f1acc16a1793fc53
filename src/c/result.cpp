#include "c/result.hpp"

#include "c/arguments.hpp"
#include "c/status.hpp"

#include <algorithm>

namespace solver::c {
namespace {

static_assert(static_cast<int>(SolveStatus::converged) == SOLVER_CONVERGED);
static_assert(static_cast<int>(SolveStatus::iteration_limit) == SOLVER_ITERATION_LIMIT);
static_assert(static_cast<int>(SolveStatus::breakdown) == SOLVER_BREAKDOWN);
static_assert(static_cast<int>(SolveStatus::stagnated) == SOLVER_STAGNATED);
static_assert(static_cast<int>(SolveStatus::non_finite) == SOLVER_NON_FINITE);
static_assert(static_cast<int>(SolveStatus::indefinite) == SOLVER_INDEFINITE);

solver_outcome outcome_of(const SolveResult& result, bool stopped) {
    const bool by_callback = stopped && result.status == SolveStatus::iteration_limit;
    return {sizeof(solver_outcome),
            by_callback ? std::int32_t{SOLVER_STOPPED} : static_cast<std::int32_t>(result.status),
            0,
            result.iterations,
            result.relative_residual,
            result.recursive_residual,
            result.replacements,
            result.restarts};
}

solver_attempt attempt_of(const Attempt& attempt, const std::string& refusal) {
    solver_attempt found{};
    found.size = sizeof found;
    found.preconditioner = to_string(attempt.preconditioner).data();
    found.refusal = refusal.c_str();
    found.mixed = attempt.mixed ? 1 : 0;
    found.method = method_name(attempt).data();
    found.repeated = attempt.repeated ? 1 : 0;
    found.factor_entries = attempt.factor_entries;
    found.factor_hash = attempt.factor_hash;
    found.setup_seconds = attempt.setup_seconds;
    found.solve_seconds = attempt.solve_seconds;
    for (const SolveResult& result : attempt.results) found.iterations = std::max(found.iterations, result.iterations);
    if (attempt.results.empty()) return found;
    found.status = static_cast<std::int32_t>(attempt.results.front().status);
    found.relative_residual = attempt.results.front().relative_residual;
    return found;
}

solver_proof proof_of(const SolutionProof& proof, const std::string& reason) {
    return {sizeof(solver_proof),
            static_cast<std::int32_t>(proof.status),
            0,
            reason.c_str(),
            proof.backward_error,
            proof.error_bound,
            proof.certified_digits,
            proof.rounded,
            proof.ties,
            proof.zeros,
            proof.undecided,
            proof.refinements,
            proof.iterations,
            proof.estimated_error,
            proof.dropped};
}

}  // namespace

solver_iteration to_c(const Iteration& iteration) {
    return {sizeof(solver_iteration),
            iteration.number,
            iteration.column,
            iteration.recursive_residual,
            iteration.true_residual,
            iteration.replaced ? 1 : 0,
            0,
            iteration.iterate};
}

solver_result to_c(const SolveReport& report, const std::vector<bool>& stopped) {
    solver_result result;
    for (std::size_t column = 0; column < report.results.size(); ++column) {
        result.outcomes.push_back(outcome_of(report.results[column], stopped[column]));
        std::vector<solver_iteration>& history = result.histories.emplace_back();
        for (const Iteration& iteration : report.results[column].history) history.push_back(to_c(iteration));
    }
    result.obstacle = report.obstacle;
    if (!report.attempts.empty()) result.profile = to_string(report.profile);
    const SolutionProof not_asked;
    const auto proof = [&](std::size_t column) -> const SolutionProof& {
        return report.proofs.empty() ? not_asked : report.proofs[column];
    };
    const std::size_t columns = report.results.size();
    for (std::size_t column = 0; column < columns; ++column) result.reasons.push_back(proof(column).reason);
    for (std::size_t column = 0; column < columns; ++column)
        result.proofs.push_back(proof_of(proof(column), result.reasons[column]));
    for (const Attempt& attempt : report.attempts) result.refusals.push_back(attempt.refusal);
    for (std::size_t k = 0; k < report.attempts.size(); ++k)
        result.attempts.push_back(attempt_of(report.attempts[k], result.refusals[k]));
    return result;
}

namespace {

/// The element with this number; throws where there is none.
template <class T>
const T& numbered(const std::vector<T>& all, std::int64_t index, const char* function, const char* name) {
    if (index < 0 || index >= std::ssize(all))
        throw InvalidArgument(
            fmt::format("{}: {} {} was asked for, there are {}, counted from 0", function, name, index, all.size()));
    return all[static_cast<std::size_t>(index)];
}

}  // namespace
}  // namespace solver::c

using namespace solver::c;

solver_status solver_result_outcome(const solver_result* result, int64_t column, solver_outcome* outcome) {
    constexpr const char* name = "solver_result_outcome";
    return guarded([&] {
        hand_over(numbered(required(result, name, "result").outcomes, column, name, "column"), outcome, name, "outcome");
    });
}

solver_status solver_result_attempts(const solver_result* result, int64_t* count) {
    constexpr const char* name = "solver_result_attempts";
    return guarded([&] { required(count, name, "count") = std::ssize(required(result, name, "result").attempts); });
}

solver_status solver_result_attempt(const solver_result* result, int64_t index, solver_attempt* attempt) {
    constexpr const char* name = "solver_result_attempt";
    return guarded([&] {
        hand_over(numbered(required(result, name, "result").attempts, index, name, "attempt"), attempt, name, "attempt");
    });
}

solver_status solver_result_proof(const solver_result* result, int64_t column, solver_proof* proof) {
    constexpr const char* name = "solver_result_proof";
    return guarded(
        [&] { hand_over(numbered(required(result, name, "result").proofs, column, name, "column"), proof, name, "proof"); });
}

solver_status solver_result_history(const solver_result* result, int64_t column, const solver_iteration** history,
                                    int64_t* count) {
    constexpr const char* name = "solver_result_history";
    return guarded([&] {
        const auto& found = numbered(required(result, name, "result").histories, column, name, "column");
        required(count, name, "count");
        required(history, name, "history") = found.data();
        *count = std::ssize(found);
    });
}

solver_status solver_iteration_x(const solver_iteration* iteration, int64_t n, double* x) {
    constexpr const char* name = "solver_iteration_x";
    return guarded([&] {
        const auto* const iterate = static_cast<const solver::Iterate*>(required(iteration, name, "iteration").iterate);
        require(iterate != nullptr, name, "this iteration has no x: only one that a callback is told of has, at its intervals");
        iterate->copy_to(elements<double>(x, n, name, "x"));
    });
}

const char* solver_result_obstacle(const solver_result* result) { return result == nullptr ? "" : result->obstacle.c_str(); }

const char* solver_result_profile(const solver_result* result) { return result == nullptr ? "" : result->profile.c_str(); }

const char* solver_outcome_name(int32_t status) {
    if (status == SOLVER_STOPPED) return "stopped";
    if (status < SOLVER_CONVERGED || status > SOLVER_INDEFINITE) return "unknown outcome";
    return to_string(static_cast<solver::SolveStatus>(status)).data();
}

void solver_result_destroy(solver_result* result) { delete result; }
