#pragma once

/// Rows of D^-1 A, D the diagonal of A, on host and device; every sum in the order of the row.

#include "solver/numeric/rounding.hpp"

#include <cstdint>

namespace solver::amg {

/// A row's diagonal, zero where there is none, and whether all of its entries are finite as numbers of type V.
struct DiagonalOfRow {
    double value = 0;
    bool is_finite_row = true;
};

template <class V, class Matrix>
SOLVER_HD DiagonalOfRow diagonal_of_row(const Matrix& a, std::int64_t i) {
    DiagonalOfRow diagonal;
    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
        if (a.column_indices[k] == i) diagonal.value = a.values[k];
        diagonal.is_finite_row = diagonal.is_finite_row && is_finite(static_cast<V>(a.values[k]));
    }
    return diagonal;
}

/// Whether a smoother in V can divide by it.
template <class V>
SOLVER_HD bool is_divisor(const DiagonalOfRow& diagonal) {
    return diagonal.is_finite_row && diagonal.value != 0 && is_finite(static_cast<V>(div_rn(1.0, diagonal.value)));
}

/// sum_j |a_ij| / |a_ii|, the radius of Gershgorin's disc around 0.
template <class Matrix>
SOLVER_HD double gershgorin_radius(const Matrix& a, std::int64_t i, double inverse_diagonal) {
    double sum = 0;
    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
        sum = add_rn(sum, magnitude(static_cast<double>(a.values[k])));
    return mul_rn(sum, magnitude(inverse_diagonal));
}

/// a_ij x_j
template <class Matrix>
SOLVER_HD double term_of_product(const Matrix& a, std::int64_t k, const double* x) {
    return mul_rn(static_cast<double>(a.values[k]), x[a.column_indices[k]]);
}

/// (D^-1 A x)_i / norm from the sum of the terms
SOLVER_HD double scaled(double sum, double inverse_diagonal, double norm) {
    return div_rn(mul_rn(inverse_diagonal, sum), norm);
}

}  // namespace solver::amg
