/// Every square matrix, every solver, judged by the exact residual.

#include "benchmarks.hpp"
#include "child_process.hpp"
#include "common.hpp"
#include "eigen_bicgstab.hpp"
#include "linear_solvers.hpp"
#include "singularity.hpp"
#include "solver/error.hpp"
#include "trial_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace solver::bench {
namespace {

/// Ours that are not among these but are asked for: "gmres jacobi".
void add_wishes(std::vector<LinearSolver>& solvers, const Options& options) {
    for (const std::string& wish : options.solvers) {
        const auto is_known = [&](const LinearSolver& solver) { return solver.name == wish; };
        const auto choice = our_choice(wish);
        if (choice && choice->method && std::ranges::none_of(solvers, is_known)) solvers.push_back(ours(wish, *choice));
    }
}

std::vector<LinearSolver> all_solvers(const Options& options) {
    std::vector<LinearSolver> solvers;
    const auto peer = [&](const char* name, eigen::Preconditioner kind) {
        solvers.push_back({name, false, false, by_peer([kind](const PeerTask& task) { return eigen::bicgstab(kind, task); })});
    };
    peer("eigen none", eigen::Preconditioner::none);
    peer("eigen jacobi", eigen::Preconditioner::jacobi);
    peer("eigen ilut", eigen::Preconditioner::ilut);
    for (const PreconditionerKind kind : {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::ilu0,
                                          PreconditionerKind::isai, PreconditionerKind::ilut, PreconditionerKind::klu})
        solvers.push_back(ours(std::string(to_string(kind)), {kind}));
    solvers.push_back(ours("auto", {}));
    add_wishes(solvers, options);
    return solvers;
}

// ------------------------------------------------------------------------------------------------------------ the matrices

std::string singularity_of(const Problem& problem, const Options& options) {
    const Ending ending = run_apart([&] { return singularity(problem.a.view()); }, options.effort.time_limit);
    return ending.how == Ending::How::done ? ending.result : "unknown";
}

}  // namespace

bool bench_robustness(const Options& options) {
    const std::vector<LinearSolver> solvers = chosen(all_solvers(options), options);
    TrialReport report(options);
    std::vector<std::string> left_out;
    for (const matrices::FoundMatrix& found : matrices_of(options)) {
        auto matrix = matrix_to_solve(found);
        if (const auto* reason = std::get_if<std::string>(&matrix)) {
            left_out.push_back(fmt::format("{} ({})", short_name(found), *reason));
            continue;
        }
        const Problem problem = problem_of(std::get<CsrMatrix<double>>(std::move(matrix)));
        report.begin({.name = short_name(found),
                      .unknowns = problem.a.rows,
                      .nonzeros = problem.a.view().nonzeros(),
                      .singularity = singularity_of(problem, options)});
        for (const LinearSolver& solver : solvers) report.add(trial_of(solver, problem, options));
    }
    if (!left_out.empty())
        fmt::print("\nLeft out, for only square real or integer matrices are solved: {}\n", fmt::join(left_out, ", "));
    report.finish();
    return !report.has_false_claims_of_ours();
}

}  // namespace solver::bench
