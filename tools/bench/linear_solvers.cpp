#include "linear_solvers.hpp"

#include "common.hpp"
#include "io/matrix_market/header.hpp"
#include "matrices/elasticity.hpp"
#include "solver/error.hpp"
#include "solver/reduce.hpp"
#include "solver/solve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>

namespace solver::bench {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Bytes that the system counts under this name ("VmRSS": in memory now, "VmHWM": at most) for this process.
double counted_memory(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with(name + ":")) return 1024 * std::stod(line.substr(name.size() + 1));
    return 0;
}

/// "jacobi 40, ilu0 refused, klu 1": what was tried, and the iterations of each.
std::string path_of(const SolveReport& report) {
    std::vector<std::string> steps;
    for (const Attempt& attempt : report.attempts)
        steps.push_back(fmt::format("{} {}", to_string(attempt.preconditioner),
                                    attempt.refusal.empty() ? std::to_string(attempt.results.front().iterations) : "refused"));
    return fmt::format("{}", fmt::join(steps, ", "));
}

Device device_of(const Options& options) {
    return options.cuda_device ? Device::cuda(*options.cuda_device) : Device::cpu(options.threads);
}

/// Of a file that is no test, "dense" or "a pattern"; else empty.
std::string unfit_kind(const matrices::FoundMatrix& found) {
    const auto* path = std::get_if<std::filesystem::path>(&found.source);
    if (path == nullptr) return "";
    matrix_market::TextBlocks blocks(*path);
    matrix_market::TextBlock block;
    const matrix_market::Header header = matrix_market::read_header(blocks, block);
    if (header.format != matrix_market::Format::coordinate) return "dense";
    return header.field == matrix_market::Field::pattern ? "a pattern" : "";
}

Trial tried(const LinearSolver& solver, const Problem& problem, const Options& options) {
    constexpr int most_runs = 5;
    constexpr double long_enough = 0.2;
    if (solver.prepare) solver.prepare();
    ::malloc_trim(0);  // what the parent once freed is not to be used again unseen
    const double memory = counted_memory("VmRSS");
    const auto start = std::chrono::steady_clock::now();
    Answer answer = solver.run(problem, options);
    if (answer.trial.memory_bytes == 0) answer.trial.memory_bytes = std::max(0.0, counted_memory("VmHWM") - memory);
    for (int run = 1; run < most_runs && seconds_since(start) < long_enough; ++run) {
        const Answer again = solver.run(problem, options);
        if (again.trial.seconds() < answer.trial.seconds()) {
            const double first_memory = answer.trial.memory_bytes;
            answer.trial = again.trial;
            answer.trial.memory_bytes = first_memory;
        }
    }
    answer.trial.residual = true_residual(problem, answer, Device::cpu(options.threads));
    return answer.trial;
}

}  // namespace

Problem problem_of(CsrMatrix<double> a) {
    Problem problem{.a = std::move(a), .b = {}};
    std::vector<double> x(static_cast<std::size_t>(problem.a.columns));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<double>(i % 8) / 8;
    problem.b.resize(static_cast<std::size_t>(problem.a.rows));
    SpmvPlan<double>(problem.a.view(), Device::cpu(1)).multiply(1, x, 0, problem.b, Accuracy::exact);
    return problem;
}

std::variant<CsrMatrix<double>, std::string> matrix_to_solve(const matrices::FoundMatrix& found) try {
    if (const std::string kind = unfit_kind(found); !kind.empty()) return kind;
    auto matrix = square_matrix(found, 1);
    const auto* square = std::get_if<CsrMatrix<double>>(&matrix);
    if (square == nullptr) return matrix;
    if (square->rows == 0) return "empty";
    return matrix;
} catch (const FileError& error) {
    return error.what();
}

double true_residual(const Problem& problem, const Answer& answer, const Device& device) {
    const SpmvPlan<double> plan(problem.a.view(), device);
    std::vector<double> r(problem.b.size());
    plan.residual(problem.b, answer.x, answer.x_low, r, Accuracy::exact);
    const double b_norm = norm2(problem.b, Accuracy::exact, device);
    const double r_norm = norm2(r, Accuracy::exact, device);
    return b_norm == 0 ? r_norm : r_norm / b_norm;
}

std::optional<std::int64_t> size_of_elasticity(const std::string& problem) {
    constexpr std::string_view family = "elasticity2d_";
    std::int64_t n = 0;
    if (!problem.starts_with(family)) return std::nullopt;
    const auto [end, error] = std::from_chars(problem.data() + family.size(), problem.data() + problem.size(), n);
    if (error != std::errc() || end != problem.data() + problem.size()) return std::nullopt;
    return n;
}

std::optional<OurChoice> our_choice(std::string_view name) try {
    if (name == "auto") return OurChoice{};
    if (name == amg_with_modes) return OurChoice{.preconditioner = PreconditionerKind::amg, .rigid_body_modes = true};
    const std::size_t space = name.find(' ');
    if (space == std::string_view::npos) return OurChoice{.preconditioner = preconditioner_from_text(name)};
    return OurChoice{.preconditioner = preconditioner_from_text(name.substr(space + 1)),
                     .method = krylov_method_from_text(name.substr(0, space))};
} catch (const InvalidArgument&) {
    return std::nullopt;
}

Answer by_us(const OurChoice& choice, const Problem& problem, const Options& options) {
    Answer answer{.trial = {}, .x = std::vector<double>(problem.b.size())};
    SolveOptions wish;
    std::vector<double> modes;
    if (const auto n = size_of_elasticity(problem.name); n && choice.rigid_body_modes) {
        modes = matrices::elasticity2d_rigid_body_modes(*n);
        wish.factors.amg = {.unknowns_per_node = 2, .near_null_space = modes};
    }
    const auto start = std::chrono::steady_clock::now();
    const SpmvPlan<double> plan(problem.a.view(), device_of(options), {.expected_products = products_of_a_solve});
    wish.iteration = {.accuracy = options.accuracy, .tolerance = options.tolerance, .max_iterations = options.max_iterations};
    wish.preconditioner = choice.preconditioner;
    wish.method = choice.method;
    const SolveReport report = solve<double>(plan, problem.b, answer.x, {}, wish);
    const double seconds = seconds_since(start);
    for (const Attempt& attempt : report.attempts) answer.trial.setup_seconds += attempt.setup_seconds;
    answer.trial.solve_seconds = seconds - answer.trial.setup_seconds;
    if (!choice.preconditioner) answer.trial.remark = path_of(report);
    const SolveResult& result = report.result();
    answer.trial.claimed = result.status == SolveStatus::converged;
    answer.trial.status = to_string(result.status);
    answer.trial.iterations = result.iterations;
    return answer;
}

LinearSolver ours(std::string name, const OurChoice& choice) {
    return {.name = std::move(name),
            .ours = true,
            .automatic = !choice.preconditioner,
            .run = [choice](const Problem& problem, const Options& options) { return by_us(choice, problem, options); },
            .needs_symmetric = choice.method == KrylovMethod::cg || choice.method == KrylovMethod::minres,
            .needs_modes = choice.rigid_body_modes};
}

std::function<Answer(const Problem&, const Options&)> by_peer(std::function<PeerSolve(const PeerTask&)> solve) {
    return [solve = std::move(solve)](const Problem& problem, const Options& options) {
        Answer answer{.trial = {}, .x = std::vector<double>(problem.b.size())};
        const PeerSolve result = solve(
            {problem.a.view(), problem.b, answer.x, options.tolerance, options.max_iterations, options.threads, problem.name});
        answer.trial.claimed = result.converged;
        answer.trial.status = result.converged ? "converged" : "not converged";
        answer.trial.iterations = result.iterations;
        answer.trial.setup_seconds = result.setup_seconds;
        answer.trial.solve_seconds = result.solve_seconds;
        return answer;
    };
}

std::vector<LinearSolver> chosen(std::vector<LinearSolver> solvers, const Options& options) {
    std::vector<std::string> names;
    for (const LinearSolver& solver : solvers) names.push_back(solver.name);
    for (const std::string& wish : options.solvers)
        if (std::find(names.begin(), names.end(), wish) == names.end())
            throw InvalidArgument(fmt::format("--solver '{}' is not known; choose {}", wish, fmt::join(names, ", ")));
    if (!options.solvers.empty())
        std::erase_if(solvers, [&](const LinearSolver& solver) {
            return std::find(options.solvers.begin(), options.solvers.end(), solver.name) == options.solvers.end();
        });
    return solvers;
}

Trial trial_of(const LinearSolver& solver, const Problem& problem, const Options& options) {
    Trial trial = tried_apart([&] { return tried(solver, problem, options); }, options.effort.time_limit);
    trial.solver = solver.name;
    trial.ours = solver.ours;
    trial.automatic = solver.automatic;
    return trial;
}

}  // namespace solver::bench
