#pragma once

/// Matrices that are symmetric but for rounding, as scaling or adding up element matrices in other orders leaves them.

#include "solver/csr_matrix.hpp"
#include "solver/numeric/rounding.hpp"

#include <cstdint>

namespace solver::testing {

/// D (A / 3) D with d_i = 1 + i / n, rounded at each step, from the left to the right.
template <class T>
CsrMatrix<T> scaled_from_both_sides(CsrMatrix<T> a) {
    const auto d = [&](std::int64_t i) { return T(1) + static_cast<T>(i) / static_cast<T>(a.rows); };
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            a.values[k] = mul_rn(mul_rn(d(i), div_rn(a.values[k], T(3))), d(a.column_indices[k]));
    return a;
}

}  // namespace solver::testing
