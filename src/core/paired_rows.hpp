#pragma once

#include "core/paired_triangle.hpp"
#include "solver/csr_matrix.hpp"

#include <complex>
#include <vector>

namespace solver {

/// What a PairedTriangle looks at.
template <class T>
struct PairedRows {
    std::vector<T> pivots;
    CsrMatrix<T> beside;

    /// Of a complex triangle with sorted columns. Throws InvalidArgument as real_form does.
    explicit PairedRows(const CsrView<std::complex<T>>& a);

    PairedTriangle<T> triangle(Triangle which) const { return {beside.view(), which, pivots}; }
};

/// Throws InvalidArgument for more rows than a CUDA device solves with: each is four, counted in 32 bits.
void require_few_paired_rows(std::int64_t rows);

}  // namespace solver
