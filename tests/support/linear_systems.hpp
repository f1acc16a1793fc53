#pragma once

/// Systems to solve, how they are solved in a test, and how good the result really is.

#include "solver/csr_matrix.hpp"
#include "solver/krylov_solve.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"
#include "support/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace solver::testing {

template <class T>
struct Problem {
    CsrMatrix<T> a;
    std::vector<T> b;
};

/// What to solve with, and how it went.
template <class T>
struct Solve {
    SolveResult result;
    std::vector<T> x;
    std::vector<T> x_low;
};

struct Setting {
    PreconditionerKind kind = PreconditionerKind::jacobi;
    bool pair = false;
    Device device = Device::cpu(1);
    SpmvKernel kernel = SpmvKernel::automatic;
    KrylovMethod method = KrylovMethod::bicgstab;
};

template <class T>
Solve<T> solve(const Problem<T>& problem, const KrylovOptions& options, const Setting& setting = {}, std::vector<T> x = {}) {
    Solve<T> solve;
    solve.x = x.empty() ? std::vector<T>(problem.b.size()) : x;
    if (setting.pair) solve.x_low.assign(problem.b.size(), T(0));
    const SpmvPlan<T> plan(problem.a, setting.device, setting.kernel);
    const auto m = make_preconditioner<T>(setting.kind, problem.a, options.accuracy, setting.device);
    solve.result = krylov_solve<T>(setting.method, plan, *m, problem.b, solve.x, solve.x_low, options);
    return solve;
}

/// "", or the first difference.
inline std::string difference(const SolveResult& found, const SolveResult& expected) {
    if (found.status != expected.status)
        return std::string(to_string(found.status)) + " instead of " + std::string(to_string(expected.status));
    if (found.iterations != expected.iterations)
        return std::to_string(found.iterations) + " iterations instead of " + std::to_string(expected.iterations);
    if (found.history.size() != expected.history.size()) return "histories of different lengths";
    const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    for (std::size_t i = 0; i < found.history.size(); ++i) {
        const Iteration& x = found.history[i];
        const Iteration& y = expected.history[i];
        if (x.number != y.number || !same(x.recursive_residual, y.recursive_residual) ||
            !same(x.true_residual, y.true_residual) || x.replaced != y.replaced)
            return "another record " + std::to_string(i);
    }
    return found.replacements == expected.replacements && found.restarts == expected.restarts &&
                   same(found.relative_residual, expected.relative_residual)
               ? ""
               : "another end";
}

/// ||b - A (x + x_low)|| / ||b||, row by row by MPFR.
template <class T>
double true_residual(const Problem<T>& problem, const Solve<T>& solve) {
    long double residual = 0, norm = 0;
    Oracle row;
    for (std::int64_t i = 0; i < problem.a.rows; ++i) {
        row.reset();
        row.add(problem.b[i]);
        for (auto k = problem.a.row_offsets[i]; k < problem.a.row_offsets[i + 1]; ++k) {
            const auto j = problem.a.column_indices[k];
            row.add_product(-problem.a.values[k], solve.x[j]);
            if (!solve.x_low.empty()) row.add_product(-problem.a.values[k], solve.x_low[j]);
        }
        const long double r = row.template rounded<double>();
        residual += r * r;
        norm += static_cast<long double>(problem.b[i]) * problem.b[i];
    }
    return residual == 0 ? 0 : static_cast<double>(std::sqrt(residual / norm));
}

template <class T>
std::vector<T> random_vector(std::size_t n, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<T> x(n);
    for (T& element : x) element = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-53 + 0.5);
    return x;
}

/// b = A x for random x, so that x is not exactly representable once b is rounded.
template <class T>
Problem<T> with_random_solution(const CsrMatrix<T>& a) {
    Problem<T> problem{a, std::vector<T>(static_cast<std::size_t>(a.rows))};
    spmv(T(1), a, random_vector<T>(problem.b.size(), 7), T(0), problem.b, Accuracy::exact, Device::cpu(1));
    return problem;
}

/// Five-point convection-diffusion on a square of side^2 unknowns.
template <class T>
Problem<T> convection_diffusion(std::int32_t side, T wind) {
    std::vector<Entry<T>> entries;
    for (std::int32_t i = 0; i < side * side; ++i) {
        entries.push_back({i, i, T(4)});
        if (i % side > 0) entries.push_back({i, i - 1, T(-1) - wind});
        if (i % side < side - 1) entries.push_back({i, i + 1, T(-1) + wind});
        if (i >= side) entries.push_back({i, i - side, T(-1)});
        if (i < side * (side - 1)) entries.push_back({i, i + side, T(-1)});
    }
    return with_random_solution(csr_from_entries<T>(side * side, side * side, entries));
}

/// Columns that end at different times: zeros, ones, random ones of different size.
template <class T>
DenseMatrix<T> several_right_hand_sides(const Problem<T>& problem) {
    const auto n = static_cast<std::int64_t>(problem.b.size());
    DenseMatrix<T> b{n, 4, std::vector<T>(static_cast<std::size_t>(4 * n))};
    std::fill_n(b.values.begin() + n, n, T(1));
    std::copy(problem.b.begin(), problem.b.end(), b.values.begin() + 2 * n);
    const auto random = random_vector<T>(problem.b.size(), 3);
    std::transform(random.begin(), random.end(), b.values.begin() + 3 * n, [](T x) { return x * T(0x1p40); });
    return b;
}

/// Rows given densely.
template <class T>
Problem<T> dense(std::int64_t n, const std::vector<T>& values, std::vector<T> b) {
    Problem<T> problem{{n, n, {0}, {}, {}}, std::move(b)};
    for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
            problem.a.column_indices.push_back(static_cast<std::int32_t>(j));
            problem.a.values.push_back(values[i * n + j]);
        }
        problem.a.row_offsets.push_back(problem.a.nonzeros());
    }
    return problem;
}

/// Random elements and 10^6 times a matrix of rank one: of A v nearly all is one vector, so that what is left when that has
/// been taken away is far from orthogonal to it.
inline Problem<double> mostly_of_rank_one(std::int64_t n) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> values = random_vector<double>(size * size, 1);
    const std::vector<double> u = random_vector<double>(size, 2), v = random_vector<double>(size, 3);
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j) values[i * size + j] += 1e6 * (u[i] * v[j]);
    return dense(n, values, random_vector<double>(size, 4));
}

/// Small matrices of all kinds: singular, with zero rows and columns, skew-symmetric, graded to the point of hopelessness.
template <class T>
Problem<T> nasty(std::mt19937_64& random) {
    const std::int64_t n = 1 + static_cast<std::int64_t>(random() % 8);
    const unsigned kind = random() % 5;
    std::vector<T> a(n * n), b(n);
    for (T& x : a) x = static_cast<T>(static_cast<int>(random() % 7) - 3);
    for (T& x : b) x = static_cast<T>(static_cast<int>(random() % 7) - 3);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            T& x = a[i * n + j];
            if (kind == 1 && i == n - 1) x = a[j];                                  // the last row is the first
            if (kind == 2 && (i == j || j > i)) x = i == j ? T(0) : -a[j * n + i];  // nearly skew
            if (kind == 3) x = std::ldexp(x, static_cast<int>(i * 5 - j * 7));      // graded
            if (kind == 4 && (j == 0 || random() % 2 == 0)) x = 0;                  // an empty column
        }
    return dense<T>(n, a, b);
}

bool all_finite(const auto& x) {
    return std::all_of(x.begin(), x.end(), [](auto element) { return std::isfinite(element); });
}

inline KrylovOptions with(Accuracy accuracy, double tolerance = 1e-10) {
    return {.accuracy = accuracy, .tolerance = tolerance};
}

/// What compensated may err on the residual: gamma_h^2 (|b| + |A| |x|), relative to ||b||; nothing in exact.
template <class T>
double residual_error(const Problem<T>& problem, const Solve<T>& solve, Accuracy accuracy) {
    if (accuracy == Accuracy::exact) return 0;
    double longest = 0, error = 0, norm = 0;
    for (std::int64_t i = 0; i < problem.a.rows; ++i) {
        double sum = std::abs(double{problem.b[i]});
        for (auto k = problem.a.row_offsets[i]; k < problem.a.row_offsets[i + 1]; ++k)
            sum += std::abs(double{problem.a.values[k]} * solve.x[problem.a.column_indices[k]]);
        longest = std::max(longest, 2.0 * problem.a.view().row_length(i) + 2);
        error += sum * sum;
        norm += double{problem.b[i]} * problem.b[i];
    }
    return norm == 0 ? 0 : std::pow(longest * unit_roundoff<T>, 2) * std::sqrt(error / norm);
}

/// Finite; as good as promised, as reported, and as the initial guess, zero.
template <class T>
void expect_honest(const Problem<T>& problem, const Solve<T>& s, const KrylovOptions& options) {
    EXPECT_TRUE(all_finite(s.x) && all_finite(s.x_low));
    const double residual = true_residual(problem, s);
    const double error = residual_error(problem, s, options.accuracy) + 1e-6 * residual;
    if (s.result.status == SolveStatus::converged) {
        EXPECT_LE(residual, options.tolerance + error);
    }
    EXPECT_LE(residual, 1 + error);
    EXPECT_NEAR(s.result.relative_residual, residual, error) << to_string(options.accuracy);
}

}  // namespace solver::testing
