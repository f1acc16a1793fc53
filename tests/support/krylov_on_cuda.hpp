#pragma once

/// Solves on a CUDA device beside those on the processor.

#include "matrices/generators.hpp"
#include "solver/device.hpp"
#include "solver/krylov_solve.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"
#include "support/expected.hpp"
#include "support/linear_systems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace solver::testing {

/// b = A x*, x*_i = 1 + (i mod 8) / 8
template <class T>
std::vector<T> right_hand_side(const CsrView<T>& a) {
    std::vector<T> x(static_cast<std::size_t>(a.columns)), b(static_cast<std::size_t>(a.rows));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(1) + static_cast<T>(i % 8) / T(8);
    spmv(T(1), a, std::span<const T>(x), T(0), std::span<T>(b), Accuracy::exact, Device::cpu());
    return b;
}

template <class T>
Solve<T> solve_on(const Device& device, const CsrView<T>& a, const std::vector<T>& b, const Preconditioner<T>& m,
                  const KrylovOptions& options, bool pair = false, KrylovMethod method = KrylovMethod::bicgstab) {
    Solve<T> solve{{}, std::vector<T>(b.size()), std::vector<T>(pair ? b.size() : 0)};
    const SpmvPlan<T> plan(a, device);
    solve.result = krylov_solve<T>(method, plan, m, b, solve.x, solve.x_low, options);
    return solve;
}

inline KrylovOptions recorded(Accuracy accuracy, std::int64_t max_iterations = 200) {
    return {.accuracy = accuracy, .tolerance = 1e-10, .max_iterations = max_iterations, .keep_history = true};
}

template <class T>
void expect_bits_of_cpu(const CsrView<T>& a, const std::vector<T>& b, const Preconditioner<T>& m, const KrylovOptions& options,
                        bool pair, KrylovMethod method = KrylovMethod::bicgstab) {
    const Solve<T> expected = solve_on(Device::cpu(), a, b, m, options, pair, method);
    const Solve<T> found = solve_on(Device::cuda(), a, b, m, options, pair, method);
    EXPECT_EQ(difference(found.result, expected.result), "");
    EXPECT_EQ(differences<T>(found.x, expected.x), "");
    EXPECT_EQ(differences<T>(found.x_low, expected.x_low), "");
}

/// `columns` that end at different times, among them zero, one that A maps to something orthogonal where A begins with a
/// rotation of two rows, Inf, and such as are far out of scale.
template <class T>
DenseMatrix<T> right_hand_sides_of_all_kinds(std::int64_t rows, std::int64_t columns) {
    DenseMatrix<T> b{rows, columns, std::vector<T>(static_cast<std::size_t>(rows * columns))};
    for (std::int64_t j = 0; j < columns; ++j) {
        T* const column = b.values.data() + j * rows;
        for (std::int64_t i = 0; i < rows; ++i) column[i] = static_cast<T>(std::cos(0.1 * static_cast<double>(j * j * i + j)));
        if (j % 8 == 1) std::fill_n(column, rows, T(0));
        if (j % 8 == 3) std::fill_n(column + 2, rows - 2, T(0));
        if (j % 8 == 5) column[rows / 2] = std::numeric_limits<T>::infinity();
        if (j % 8 == 6)
            for (std::int64_t i = 0; i < rows; ++i) column[i] *= T(0x1p60);
    }
    return b;
}

inline CsrMatrix<double> generated(const std::string& name) { return matrices::find_generator(name).value().make(); }

}  // namespace solver::testing
