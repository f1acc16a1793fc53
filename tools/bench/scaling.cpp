/// Cost by size: ours beside multigrid, incomplete and complete factors of others.

#include "benchmarks.hpp"
#include "child_process.hpp"
#include "common.hpp"
#include "eigen_bicgstab.hpp"
#include "eigen_peer.hpp"
#include "hypre_peer.hpp"
#include "linear_solvers.hpp"
#include "pyamg_peer.hpp"
#include "solver/error.hpp"
#include "suitesparse_peer.hpp"
#include "text_file.hpp"
#include "trial_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>

namespace solver::bench {
namespace {

namespace fs = std::filesystem;

using Run = std::function<Answer(const Problem&, const Options&)>;

/// The run with a tolerance of 1, 1/10 or 1/100 of the one asked for, the first whose true residual meets that: what a peer
/// believes of its residual may be too good.
Run until_true(const Run& run) {
    return [run](const Problem& problem, const Options& options) {
        Answer answer;
        Options stricter = options;
        for (int attempt = 0; attempt < 3; ++attempt, stricter.tolerance /= 10) {
            answer = run(problem, stricter);
            if (attempt > 0) answer.trial.remark = fmt::format("asked for {:.0e}", stricter.tolerance);
            if (!answer.trial.claimed) break;
            if (true_residual(problem, answer, Device::cpu(options.threads)) <= options.tolerance) break;
        }
        return answer;
    };
}

// ------------------------------------------------------------------------------------------------------------------- ours

/// A GPU's first use takes a second or so.
void wake_device(const Options& options) {
    const Problem tiny = problem_of({.rows = 1, .columns = 1, .row_offsets = {0, 1}, .column_indices = {0}, .values = {1.0}});
    by_us({PreconditionerKind::none}, tiny, options);
}

LinearSolver ours(const std::string& name, const OurChoice& choice, const Options& options) {
    LinearSolver solver = bench::ours(name, choice);
    if (options.cuda_device) solver.prepare = [&options] { wake_device(options); };
    return solver;
}

// ------------------------------------------------------------------------------------------------------------------ peers

LinearSolver peer(std::string name, Run run, bool needs_symmetric = false) {
    LinearSolver solver{std::move(name), false, false, until_true(run)};
    solver.needs_symmetric = needs_symmetric;
    return solver;
}

void add_eigen(std::vector<LinearSolver>& solvers) {
    const auto ilut = [](const PeerTask& task) { return eigen::bicgstab(eigen::Preconditioner::ilut, task); };
    solvers.push_back(peer("eigen cg jacobi", by_peer(eigen::conjugate_gradients), true));
    solvers.push_back(peer("eigen bicgstab ilut", by_peer(ilut)));
}

/// Whether the points of a made problem fill a cube, not a square: hypre's manual advises another threshold there.
bool is_in_space(std::string_view problem) {
    constexpr std::array<std::string_view, 6> families{"poisson3d_",       "stencil27_",         "jumping_",
                                                       "convection_weak_", "convection_medium_", "convection_strong_"};
    return std::any_of(families.begin(), families.end(), [&](std::string_view family) { return problem.starts_with(family); });
}

void add_hypre(std::vector<LinearSolver>& solvers, const fs::path& scratch) {
    const auto add = [&](const char* name, hypre::Method method, int aggressive_levels) {
        const auto solve = [=](const PeerTask& task) {
            const hypre::Multigrid multigrid{.strong_threshold = is_in_space(task.name) ? 0.5 : 0.25,
                                             .aggressive_levels = aggressive_levels,
                                             .unknowns_per_point = task.name.starts_with("elasticity2d_") ? 2 : 1};
            return hypre::solve(method, multigrid, task);
        };
        solvers.push_back(peer(name, by_peer(solve), method == hypre::Method::pcg));
        solvers.back().prepare = [scratch] { hypre::begin(scratch); };
    };
    add("hypre pcg", hypre::Method::pcg, 0);
    add("hypre pcg aggressive", hypre::Method::pcg, 1);
    add("hypre bicgstab", hypre::Method::bicgstab, 0);
}

void add_pyamg(std::vector<LinearSolver>& solvers, const fs::path& scratch) {
    const auto add = [&](const char* name, pyamg::Method method) {
        const auto run = [=](const Problem& problem, const Options& options) {
            return pyamg::solve(method, problem, options, scratch);
        };
        solvers.push_back(peer(name, run, method == pyamg::Method::cg));
    };
    add("pyamg cg", pyamg::Method::cg);
    add("pyamg bicgstab", pyamg::Method::bicgstab);
}

void add_suitesparse(std::vector<LinearSolver>& solvers, const char* name, suitesparse::Method method) {
    if (!suitesparse::is_there(method)) return;
    // To ask a direct method for less changes nothing.
    LinearSolver solver{name, false, false,
                        by_peer([method](const PeerTask& task) { return suitesparse::solve(method, task); })};
    solver.needs_symmetric = method == suitesparse::Method::cholmod;
    solvers.push_back(std::move(solver));
}

const std::string& pyamg_version() {
    static const std::string version = pyamg::description();
    return version;
}

std::vector<LinearSolver> all_peers(const fs::path& scratch) {
    std::vector<LinearSolver> peers;
    add_eigen(peers);
    if (hypre::is_there()) add_hypre(peers, scratch);
    if (!pyamg_version().empty()) add_pyamg(peers, scratch);
    add_suitesparse(peers, "suitesparse klu", suitesparse::Method::klu);
    add_suitesparse(peers, "suitesparse umfpack", suitesparse::Method::umfpack);
    add_suitesparse(peers, "suitesparse cholmod", suitesparse::Method::cholmod);
    return peers;
}

/// One line for each peer that is not there.
void say_who_is_missing() {
    if (!hypre::is_there()) fmt::print("  without  hypre, which was not there when this was built (libhypre-dev and MPI)\n");
    if (pyamg_version().empty()) fmt::print("  without  PyAMG, which python3 cannot import (pip install pyamg)\n");
    if (!suitesparse::is_there(suitesparse::Method::umfpack) || !suitesparse::is_there(suitesparse::Method::cholmod))
        fmt::print("  without  UMFPACK or CHOLMOD, which were not there when this was built (libsuitesparse-dev)\n");
}

std::vector<LinearSolver> usual_solvers(const Options& options, std::vector<LinearSolver> peers) {
    std::vector<LinearSolver> solvers;
    for (const char* name : {"auto", "jacobi", "ilu0", "amg", amg_with_modes.data()})
        solvers.push_back(ours(name, our_choice(name).value(), options));
    std::move(peers.begin(), peers.end(), std::back_inserter(solvers));
    return solvers;
}

/// Those asked for; what is no peer's name is to be one of ours.
std::vector<LinearSolver> solvers_of(const Options& options, const fs::path& scratch) {
    std::vector<LinearSolver> peers;
    if (!options.cuda_device) peers = all_peers(scratch);
    if (options.solvers.empty()) return usual_solvers(options, std::move(peers));
    std::vector<LinearSolver> solvers;
    for (const std::string& wish : options.solvers) {
        const auto known = std::find_if(peers.begin(), peers.end(), [&](const LinearSolver& one) { return one.name == wish; });
        if (known != peers.end()) {
            solvers.push_back(*known);
        } else if (const auto choice = our_choice(wish)) {
            solvers.push_back(ours(wish, *choice, options));
        } else {
            std::vector<std::string> names{
                "auto, a preconditioner (solver --help lists them), one after a method ('cg amg'), 'amg modes' (told the "
                "rigid-body "
                "modes of elasticity)"};
            for (const LinearSolver& one : peers) names.push_back(one.name);
            throw InvalidArgument(fmt::format("--solver '{}' is not known here; choose {}", wish, fmt::join(names, ", ")));
        }
    }
    return solvers;
}

// --------------------------------------------------------------------------------------------------------------- problems

bool is_symmetric_with_positive_diagonal(const CsrView<double>& a) {
    const CsrMatrix<double> mirrored = transpose(a);
    const auto same = [](const auto& x, const auto& y) { return std::equal(x.begin(), x.end(), y.begin(), y.end()); };
    if (!same(mirrored.row_offsets, a.row_offsets) || !same(mirrored.column_indices, a.column_indices) ||
        !same(mirrored.values, a.values))
        return false;
    std::int64_t positive = 0;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            positive += a.column_indices[k] == i && a.values[k] > 0 ? 1 : 0;
    return positive == a.rows;
}

Problem named_problem(CsrMatrix<double> a, const std::string& name) {
    Problem problem = problem_of(std::move(a));
    problem.name = name;
    const auto answer =
        run_apart([&] { return std::string(is_symmetric_with_positive_diagonal(problem.a.view()) ? "yes" : "no"); }, 1e6);
    problem.symmetric = answer.result == "yes";
    return problem;
}

Trial trial_or_not(const LinearSolver& solver, const Problem& problem, const Options& options) {
    if (!solver.needs_symmetric || problem.symmetric) return trial_of(solver, problem, options);
    Trial trial = failed("left out", "A is not symmetric with a positive diagonal");
    trial.solver = solver.name;
    trial.ours = solver.ours;
    return trial;
}

void measure(const Options& options, TrialReport& report) {
    const TemporaryFolder scratch;
    const std::vector<LinearSolver> solvers = solvers_of(options, scratch.path());
    if (!options.cuda_device) say_who_is_missing();
    for (const matrices::FoundMatrix& found : matrices_of(options)) {
        auto matrix = matrix_to_solve(found);
        if (const auto* reason = std::get_if<std::string>(&matrix)) {
            fmt::print("\n{} is left out: {}\n", short_name(found), *reason);
            continue;
        }
        const Problem problem = named_problem(std::get<CsrMatrix<double>>(std::move(matrix)), short_name(found));
        report.begin({.name = problem.name, .unknowns = problem.a.rows, .nonzeros = problem.a.view().nonzeros()});
        for (const LinearSolver& solver : solvers)
            if (!solver.needs_modes || size_of_elasticity(problem.name)) report.add(trial_or_not(solver, problem, options));
    }
}

}  // namespace

std::string peers_of_scaling() {
    std::vector<std::string> peers{eigen::description()};
    if (hypre::is_there()) peers.push_back(hypre::description() + " (one process)");
    if (!pyamg_version().empty()) peers.push_back(pyamg_version() + " (one thread)");
    peers.push_back(suitesparse::description());
    return fmt::format("{}", fmt::join(peers, ", "));
}

bool bench_scaling(const Options& options) {
    TrialReport report(options);
    measure(options, report);
    report.finish();
    return !report.has_false_claims_of_ours();
}

}  // namespace solver::bench
