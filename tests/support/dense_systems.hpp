#pragma once

/// Dense matrices, products with them and right-hand sides.

#include "solver/dense_matrix.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace solver::testing {

/// In (0, 1) or, `signed_values`, in (-1, 1), of very different sizes.
template <class T>
std::vector<T> random_values(std::size_t count, unsigned seed, bool signed_values) {
    std::mt19937_64 random(seed);
    std::vector<T> values(count);
    for (T& value : values) {
        value = static_cast<T>((static_cast<double>(random() >> 12) + 0.5) * 0x1p-52 *
                               std::exp2(-static_cast<double>(random() % 20)));
        if (signed_values && random() % 2 == 0) value = -value;
    }
    return values;
}

/// Diagonally dominant, unsymmetric, every seventh element zero.
template <class T>
DenseMatrix<T> system_matrix(std::int64_t n) {
    DenseMatrix<T> a{n, n, random_values<T>(static_cast<std::size_t>(n * n), 5, true)};
    for (std::int64_t i = 0; i < n * n; i += 7) a.values[i] = T(0);
    for (std::int64_t i = 0; i < n; ++i) a.values[i * (n + 1)] = static_cast<T>(std::sqrt(static_cast<double>(n)));
    return a;
}

/// One that converges at once, zeros, Inf, and ones that take their time.
template <class T>
DenseMatrix<T> right_hand_sides(std::int64_t n, std::int64_t columns) {
    DenseMatrix<T> b{n, columns, random_values<T>(static_cast<std::size_t>(n * columns), 9, true)};
    if (columns > 2) std::fill_n(b.values.begin() + n, n, T(0));
    if (columns > 3) b.values[2 * n + 1] = std::numeric_limits<T>::infinity();
    return b;
}

template <class T>
std::vector<T> column_of(const DenseMatrix<T>& a, std::int64_t j) {
    return {a.values.begin() + j * a.rows, a.values.begin() + (j + 1) * a.rows};
}

/// Every kind of task on a few vectors.
template <class T>
struct Tasks {
    std::int64_t rows, columns;
    std::vector<std::vector<T>> x, x_low, y;

    Tasks(std::int64_t rows_of_a, std::int64_t columns_of_a, int count, bool signed_values)
        : rows(rows_of_a), columns(columns_of_a) {
        for (int i = 0; i < count; ++i) {
            x.push_back(random_values<T>(columns, 10 + i, signed_values));
            x_low.push_back(random_values<T>(columns, 50 + i, signed_values));
            for (T& low : x_low.back()) low *= std::numeric_limits<T>::epsilon();
            y.push_back(random_values<T>(rows, 90 + i, signed_values));
        }
    }

    std::vector<std::vector<T>> made_by(const SpmvPlan<T>& plan, Accuracy accuracy) const {
        std::vector<std::vector<T>> out(x.size(), std::vector<T>(rows, T(7)));
        std::vector<SpmvTask<T>> tasks;
        for (std::size_t i = 0; i < x.size(); ++i) {
            SpmvTask<T> task{.x = x[i], .y = out[i]};
            if (i % 3 == 1) task = {.alpha = T(-1), .x = x[i], .beta = T(1), .y_in = y[i], .y = out[i]};
            if (i % 5 == 4) task = {.x = x[i], .beta = T(2), .y_in = y[i], .y = out[i]};  // alpha as of those without beta
            if (i % 7 == 3) task.x_low = x_low[i];
            if (i % 7 == 6) task.alpha = T(0);
            if (i % 3 == 2) task.alpha = static_cast<T>(i);  // beta as of others of another alpha
            tasks.push_back(task);
        }
        plan.multiply(tasks, accuracy);
        return out;
    }
};

}  // namespace solver::testing
