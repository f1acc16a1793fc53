#include "krylov/solve.hpp"

#include "krylov/bicgstab_recurrence.hpp"
#include "krylov/cg_recurrence.hpp"
#include "krylov/cpu_backend.hpp"
#include "support/linear_systems.hpp"
#include "support/richardson.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace solver {
namespace {

using namespace testing;

/// 4 on the diagonal, -1 beside it: with Jacobi's M the error falls by 1/2 at least in every step, in the largest element.
template <class T>
Problem<T> dominant(std::int32_t n) {
    std::vector<Entry<T>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, T(4)});
        if (i > 0) entries.push_back({i, i - 1, T(-1)});
        if (i < n - 1) entries.push_back({i, i + 1, T(-1)});
    }
    return with_random_solution(csr_from_entries<T>(n, n, entries));
}

template <class T>
Solve<T> solve_by_richardson(const Problem<T>& problem, const KrylovOptions& options, bool pair = false) {
    const SpmvPlan<T> plan(problem.a, Device::cpu(1));
    const auto m = make_preconditioner<T>(PreconditionerKind::jacobi, problem.a, options.accuracy, Device::cpu(1));
    CpuSystem<T, T> system(plan, plan);
    using Backend = typename CpuSystem<T, T>::Backend;
    Backend backend = system.backend(*m, problem.b, pair, options.accuracy);
    RecurrenceOf<RichardsonRecurrence<Backend>, typename Backend::Vector> recurrence(backend);
    const Pauses pauses = pauses_of(options);
    KrylovSolve<Backend> krylov(backend, recurrence, options, pauses, 0);
    Solve<T> solve{{}, std::vector<T>(problem.b.size()), std::vector<T>(pair ? problem.b.size() : 0)};
    Task<SolveResult> task = krylov.run(solve.x);
    TaskStack stack;
    task.start(stack);
    for (stack.resume(); !stack.is_done(); stack.resume()) system.make_products();
    solve.result = task.result();
    backend.store(krylov.solution(), solve.x, solve.x_low);
    return solve;
}

TEST(OuterLoop, CarriesAnyRecurrence) {
    const auto problem = dominant<double>(200);
    for (const Accuracy accuracy : all_accuracies) {
        KrylovOptions options = with(accuracy);
        options.keep_history = true;
        const auto solved = solve_by_richardson(problem, options);
        EXPECT_EQ(solved.result.status, SolveStatus::converged);
        expect_honest(problem, solved, options);
        // ||r||_2 <= 6 ||e||_2, and ||e||_2 falls by 1/2 in every step, for I - M^-1 A is symmetric with eigenvalues below 1/2
        EXPECT_LE(solved.result.iterations, std::ceil(std::log2(6 / 2 / 1e-10)));
        EXPECT_EQ(solved.result.history.back().true_residual, solved.result.relative_residual);
    }
}

// Promise: bicgstab.hpp, "In compensated and exact the residual is replaced"
TEST(OuterLoop, ReplacesTheResidualOfAnyRecurrenceWhereItHasDrifted) {
    const auto problem = dominant<float>(200);
    const auto solved = solve_by_richardson(problem, with(Accuracy::compensated, 1e-13), true);
    EXPECT_EQ(solved.result.status, SolveStatus::converged);
    EXPECT_GT(solved.result.replacements, 0);
    EXPECT_LE(true_residual(problem, solved), 1.000001e-13);
}

TEST(OuterLoop, EndsWhereAnyRecurrenceDiverges) {
    auto problem = dominant<double>(50);
    for (auto& value : problem.a.values)
        if (value > 0) value = 1;  // the spectral radius of I - M^-1 A is nearly 2
    for (const Accuracy accuracy : all_accuracies) {
        const auto solved = solve_by_richardson(problem, with(accuracy));
        EXPECT_NE(solved.result.status, SolveStatus::converged);
        expect_honest(problem, solved, with(accuracy));
    }
}

/// The elements of r after two steps from r = b, which other steps from r = other may have gone before.
template <template <class> class Recurrence>
std::vector<double> two_steps(const Problem<double>& problem, const std::vector<double>* other) {
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    const auto m = make_preconditioner<double>(PreconditionerKind::jacobi, problem.a, Accuracy::exact, Device::cpu(1));
    CpuSystem<double, double> system(plan, plan);
    using Backend = typename CpuSystem<double, double>::Backend;
    Backend backend = system.backend(*m, problem.b, false, Accuracy::exact);
    Recurrence<Backend> recurrence(backend);
    recurrence.start(nullptr);
    const auto steps_from = [&](const std::vector<double>& r) {
        recurrence.r = r;
        recurrence.begin(backend.norm2(recurrence.r), 0);
        for (int i = 0; i < 2; ++i) {
            Task<Stretch> task = recurrence.advance(StepLimits{});
            TaskStack stack;
            task.start(stack);
            for (stack.resume(); !stack.is_done(); stack.resume()) system.make_products();
            EXPECT_EQ(task.result().end, StepEnd::full);
        }
    };
    if (other != nullptr) steps_from(*other);
    steps_from(problem.b);
    return {recurrence.r.begin(), recurrence.r.end()};
}

TEST(Recurrences, BeginAgainAsIfNothingHadBeenBefore) {
    const auto problem = dominant<double>(60);
    const std::vector<double> other(problem.b.rbegin(), problem.b.rend());
    EXPECT_EQ(two_steps<BicgstabRecurrence>(problem, &other), two_steps<BicgstabRecurrence>(problem, nullptr));
    EXPECT_EQ(two_steps<CgRecurrence>(problem, &other), two_steps<CgRecurrence>(problem, nullptr));
}

/// (shadow, r) is 2 u |shadow_0 shadow_1| 2^-60 and ||r|| about 2^-60: lost, unless the shadow is taken for as short as r.
TEST(Recurrences, BicgstabKnowsTheNormOfARandomShadow) {
    const auto problem = dominant<double>(60);
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    const auto m = make_preconditioner<double>(PreconditionerKind::jacobi, problem.a, Accuracy::exact, Device::cpu(1));
    CpuSystem<double, double> system(plan, plan);
    using Backend = typename CpuSystem<double, double>::Backend;
    Backend backend = system.backend(*m, problem.b, false, Accuracy::exact);
    auto shadow = backend.vector();
    backend.fill_random(1, shadow);
    BicgstabRecurrence<Backend> recurrence(backend);
    recurrence.start(nullptr);
    std::fill(recurrence.r.begin(), recurrence.r.end(), 0.0);
    recurrence.r[0] = std::ldexp(shadow[1], -60) * (1 + 0x1p-52);
    recurrence.r[1] = std::ldexp(-shadow[0], -60);
    recurrence.begin(backend.norm2(recurrence.r), 1);
    Task<Stretch> task = recurrence.advance(StepLimits{});
    TaskStack stack;
    task.start(stack);
    for (stack.resume(); !stack.is_done(); stack.resume()) system.make_products();
    EXPECT_EQ(task.result().end, StepEnd::breakdown);
}

}  // namespace
}  // namespace solver
