#pragma once

/// How strongly two unknowns hang together, row by row, on host and device.

#include "core/multigrid/sorted_row.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace solver::amg {

/// s_ij = |a_ij| / sqrt(|a_ii a_jj|), the same bits for (i, j) and (j, i). Rows of A are sorted and have a diagonal.
template <class Matrix>
struct Strength {
    Matrix a;
    const double* weight;   ///< of each row: weight_of_row
    const double* largest;  ///< of each row: largest_of_row

    /// 1 / sqrt(|a_ii|)
    static SOLVER_HD double weight_of_row(const Matrix& a, std::int64_t i) {
        return div_rn(1.0, sqrt_rn(magnitude(static_cast<double>(a.values[place_in_row(a, i, i)]))));
    }

    /// max_{j != i} s_ij
    SOLVER_HD double largest_of_row(std::int64_t i) const {
        double most = 0;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] != i) most = std::max(most, of_entry(i, k));
        return most;
    }

    SOLVER_HD bool is_strong(std::int64_t i, std::int64_t k, double theta) const {
        const std::int32_t j = a.column_indices[k];
        const double s = of_entry(i, k);
        return j != i && s > 0 && s >= mul_rn(theta, std::min(largest[i], largest[j]));
    }

private:
    SOLVER_HD double of_entry(std::int64_t i, std::int64_t k) const {
        return mul_rn(magnitude(static_cast<double>(a.values[k])), mul_rn(weight[i], weight[a.column_indices[k]]));
    }
};

/// Row i of |A| + |A^T|: two sorted rows merged. visit(column, value) in rising order.
template <class Matrix, class Visit>
SOLVER_HD void for_each_magnitude(const Matrix& a, const Matrix& transposed, std::int64_t i, const Visit& visit) {
    std::int64_t k = a.row_offsets[i], l = transposed.row_offsets[i];
    const std::int64_t end = a.row_offsets[i + 1], transposed_end = transposed.row_offsets[i + 1];
    while (k < end || l < transposed_end) {
        const std::int32_t column = l == transposed_end ? a.column_indices[k]
                                    : k == end          ? transposed.column_indices[l]
                                                        : std::min(a.column_indices[k], transposed.column_indices[l]);
        std::remove_cvref_t<decltype(a.values[k])> value = 0;
        if (k < end && a.column_indices[k] == column) value = magnitude(a.values[k++]);
        if (l < transposed_end && transposed.column_indices[l] == column)
            value = add_rn(value, magnitude(transposed.values[l++]));
        visit(column, value);
    }
}

}  // namespace solver::amg
