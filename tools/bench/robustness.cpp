/// Every square matrix, every solver, judged by the exact residual.

#include "benchmarks.hpp"
#include "child_process.hpp"
#include "common.hpp"
#include "eigen_bicgstab.hpp"
#include "io/matrix_market/header.hpp"
#include "robustness_report.hpp"
#include "singularity.hpp"
#include "solver/error.hpp"
#include "solver/matrix_market.hpp"
#include "solver/reduce.hpp"
#include "solver/solve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace solver::bench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Problem {
    CsrMatrix<double> a;
    std::vector<double> b;
};

/// What a solver gives back: its word and its solution x + x_low.
struct Answer {
    Trial trial;
    std::vector<double> x;
    std::vector<double> x_low{};
};

struct Solver {
    std::string name;
    bool ours;
    bool automatic;
    std::function<Answer(const Problem&, const Options&)> run;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// ------------------------------------------------------------------------------------------------------------- the solvers

Answer by_eigen(eigen::Preconditioner preconditioner, const Problem& problem, const Options& options) {
    Answer answer{.trial = {}, .x = std::vector<double>(problem.b.size())};
    const eigen::Solve solve = eigen::bicgstab(preconditioner, problem.a.view(), problem.b, answer.x, options.tolerance,
                                               options.max_iterations, options.threads);
    answer.trial.claimed = solve.converged;
    answer.trial.status = solve.converged ? "converged" : "not converged";
    answer.trial.iterations = solve.iterations;
    answer.trial.setup_seconds = solve.setup_seconds;
    answer.trial.solve_seconds = solve.solve_seconds;
    return answer;
}

/// "jacobi 40, ilu0 refused, klu 1": what was tried, and the iterations of each.
std::string path_of(const SolveReport& report) {
    std::vector<std::string> steps;
    for (const Attempt& attempt : report.attempts)
        steps.push_back(fmt::format("{} {}", to_string(attempt.preconditioner),
                                    attempt.refusal.empty() ? std::to_string(attempt.results.front().iterations) : "refused"));
    return fmt::format("{}", fmt::join(steps, ", "));
}

/// By the library, with this preconditioner or, without one, the automatic choice.
Answer by_us(std::optional<PreconditionerKind> kind, const Problem& problem, const Options& options) {
    Answer answer{.trial = {}, .x = std::vector<double>(problem.b.size())};
    const auto start = std::chrono::steady_clock::now();
    const SpmvPlan<double> plan(problem.a.view(), Device::cpu(options.threads));
    SolveOptions wish;
    wish.iteration = {.accuracy = options.accuracy, .tolerance = options.tolerance, .max_iterations = options.max_iterations};
    wish.preconditioner = kind;
    const SolveReport report = solve<double>(plan, problem.b, answer.x, {}, wish);
    const double seconds = seconds_since(start);
    for (const Attempt& attempt : report.attempts) answer.trial.setup_seconds += attempt.setup_seconds;
    answer.trial.solve_seconds = seconds - answer.trial.setup_seconds;
    if (!kind) answer.trial.remark = path_of(report);
    const SolveResult& result = report.result();
    answer.trial.claimed = result.status == SolveStatus::converged;
    answer.trial.status = to_string(result.status);
    answer.trial.iterations = result.iterations;
    return answer;
}

std::vector<Solver> all_solvers() {
    std::vector<Solver> solvers;
    const auto peer = [&](const char* name, eigen::Preconditioner kind) {
        solvers.push_back({name, false, false, [kind](const Problem& problem, const Options& options) {
                               return by_eigen(kind, problem, options);
                           }});
    };
    peer("eigen none", eigen::Preconditioner::none);
    peer("eigen jacobi", eigen::Preconditioner::jacobi);
    peer("eigen ilut", eigen::Preconditioner::ilut);
    for (const PreconditionerKind kind : {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::ilu0,
                                          PreconditionerKind::isai, PreconditionerKind::ilut, PreconditionerKind::klu})
        solvers.push_back({std::string(to_string(kind)), true, false,
                           [kind](const Problem& problem, const Options& options) { return by_us(kind, problem, options); }});
    solvers.push_back({"auto", true, true,
                       [](const Problem& problem, const Options& options) { return by_us(std::nullopt, problem, options); }});
    return solvers;
}

/// Those asked for, or all.
std::vector<Solver> chosen_solvers(const Options& options) {
    std::vector<Solver> solvers = all_solvers();
    std::vector<std::string> names;
    for (const Solver& solver : solvers) names.push_back(solver.name);
    for (const std::string& wish : options.solvers)
        if (std::find(names.begin(), names.end(), wish) == names.end())
            throw InvalidArgument(fmt::format("--solver '{}' is not known; choose {}", wish, fmt::join(names, ", ")));
    if (!options.solvers.empty())
        std::erase_if(solvers, [&](const Solver& solver) {
            return std::find(options.solvers.begin(), options.solvers.end(), solver.name) == options.solvers.end();
        });
    return solvers;
}

// -------------------------------------------------------------------------------------------------------------- one trial

double true_residual(const Problem& problem, const Answer& answer, const Device& device) {
    const SpmvPlan<double> plan(problem.a.view(), device);
    std::vector<double> r(problem.b.size());
    plan.residual(problem.b, answer.x, answer.x_low, r, Accuracy::exact);
    const double b_norm = norm2(problem.b, Accuracy::exact, device);
    const double r_norm = norm2(r, Accuracy::exact, device);
    return b_norm == 0 ? r_norm : r_norm / b_norm;
}

/// The trial of a solver, in the child process. What is over quickly is repeated, and the fastest run counts.
Trial tried(const Solver& solver, const Problem& problem, const Options& options) {
    constexpr int most_runs = 5;
    constexpr double long_enough = 0.2;
    const auto start = std::chrono::steady_clock::now();
    Answer answer = solver.run(problem, options);
    for (int run = 1; run < most_runs && seconds_since(start) < long_enough; ++run) {
        const Answer again = solver.run(problem, options);
        if (again.trial.seconds() < answer.trial.seconds()) answer.trial = again.trial;
    }
    answer.trial.residual = true_residual(problem, answer, Device::cpu(options.threads));
    return answer.trial;
}

Trial failed(std::string status, std::string remark) {
    Trial trial;
    trial.status = std::move(status);
    trial.remark = std::move(remark);
    return trial;
}

Trial tried_or_failed(const Solver& solver, const Problem& problem, const Options& options) try {
    return tried(solver, problem, options);
} catch (const std::bad_alloc&) {
    return failed("failed", "not enough memory");
} catch (const NotSupported& error) {
    return failed("not built", error.what());
} catch (const std::exception& error) {
    return failed("failed", error.what());
}

std::string as_text(const Trial& trial) {
    return json{{"status", trial.status},         {"remark", trial.remark},      {"claimed", trial.claimed},
                {"iterations", trial.iterations}, {"residual", trial.residual},  // null where it is not finite
                {"setup", trial.setup_seconds},   {"solve", trial.solve_seconds}}
        .dump(-1, ' ', false, json::error_handler_t::replace);
}

Trial from_text(const std::string& text) {
    const json fields = json::parse(text);
    Trial trial = failed(fields["status"], fields["remark"]);
    trial.claimed = fields["claimed"];
    trial.iterations = fields["iterations"];
    if (!fields["residual"].is_null()) trial.residual = fields["residual"];
    trial.setup_seconds = fields["setup"];
    trial.solve_seconds = fields["solve"];
    return trial;
}

Trial trial_of(const Solver& solver, const Problem& problem, const Options& options) {
    const Ending ending =
        run_apart([&] { return as_text(tried_or_failed(solver, problem, options)); }, options.effort.time_limit);
    Trial trial;
    switch (ending.how) {
        case Ending::How::done:
            trial = from_text(ending.result);
            break;
        case Ending::How::timed_out:
            trial = failed("timed out", "");
            trial.solve_seconds = options.effort.time_limit;
            break;
        case Ending::How::died:
            trial = failed("crashed", fmt::format("signal {}", ending.signal));
            break;
    }
    trial.solver = solver.name;
    trial.ours = solver.ours;
    trial.automatic = solver.automatic;
    return trial;
}

// ------------------------------------------------------------------------------------------------------------ the matrices

/// Why a matrix is no test for a solver; nothing where it is.
std::optional<std::string> reason_against(const fs::path& path) {
    try {
        matrix_market::TextBlocks blocks(path);
        matrix_market::TextBlock block;
        const matrix_market::Header header = matrix_market::read_header(blocks, block);
        if (header.format != matrix_market::Format::coordinate) return "dense";
        if (header.field == matrix_market::Field::pattern) return "a pattern";
        if (header.rows != header.columns) return fmt::format("{} x {}", header.rows, header.columns);
        return header.rows == 0 ? std::optional<std::string>("empty") : std::nullopt;
    } catch (const FileError& error) {
        return error.what();
    }
}

/// b = A x*, x*_i = 1 + (i mod 8)/8. On one thread: children can be made only where none was started.
Problem problem_of(CsrMatrix<double> a) {
    Problem problem{.a = std::move(a), .b = {}};
    std::vector<double> x(problem.a.columns);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<double>(i % 8) / 8;
    problem.b.resize(problem.a.rows);
    SpmvPlan<double>(problem.a.view(), Device::cpu(1)).multiply(1, x, 0, problem.b, Accuracy::exact);
    return problem;
}

CsrMatrix<double> load(const matrices::FoundMatrix& found) {
    if (const auto* generator = std::get_if<matrices::Generator>(&found.source)) return generator->make();
    return read_csr<double>(std::get<fs::path>(found.source), {.threads = 1});
}

std::string singularity_of(const Problem& problem, const Options& options) {
    const Ending ending = run_apart([&] { return singularity(problem.a.view()); }, options.effort.time_limit);
    return ending.how == Ending::How::done ? ending.result : "unknown";
}

}  // namespace

bool bench_robustness(const Options& options) {
    const std::vector<Solver> solvers = chosen_solvers(options);
    RobustnessReport report(options);
    std::vector<std::string> left_out;
    for (const matrices::FoundMatrix& found : matrices_of(options)) {
        const auto* path = std::get_if<fs::path>(&found.source);
        if (const auto reason = path != nullptr ? reason_against(*path) : std::nullopt) {
            left_out.push_back(fmt::format("{} ({})", short_name(found), *reason));
            continue;
        }
        const Problem problem = problem_of(load(found));
        report.begin({.name = short_name(found),
                      .rows = problem.a.rows,
                      .nonzeros = problem.a.view().nonzeros(),
                      .singularity = singularity_of(problem, options)});
        for (const Solver& solver : solvers) report.add(trial_of(solver, problem, options));
    }
    if (!left_out.empty())
        fmt::print("\nLeft out, for only square real or integer matrices are solved: {}\n", fmt::join(left_out, ", "));
    report.finish();
    return !report.has_false_claims_of_ours();
}

}  // namespace solver::bench
