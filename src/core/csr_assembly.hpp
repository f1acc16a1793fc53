#pragma once

/// From entries in any order to rows. What the Matrix Market reader and csr_from_entries share.

#include "solver/csr_matrix.hpp"
#include "solver/numeric/complex.hpp"

#include <span>

namespace solver {

/// What a stored entry (i, j, v) stands for besides itself, where i != j.
enum class Symmetry {
    general,         ///< nothing
    symmetric,       ///< (j, i, v)
    skew_symmetric,  ///< (j, i, -v)
    hermitian,       ///< (j, i, conj(v)); complex matrices alone
};

/// The value at (j, i) where v is stored at (i, j) of a matrix that is not general.
template <class T>
T mirrored(T v, Symmetry symmetry) {
    if (symmetry == Symmetry::skew_symmetric) return -v;
    if constexpr (is_complex<T>)
        if (symmetry == Symmetry::hermitian) return std::conj(v);
    return v;
}

template <class T>
struct Assembly {
    CsrMatrix<T> matrix;
    std::int64_t repeated_entries = 0;  ///< how many entries were added to another one at their place
};

/// The matrix of all entries of all parts, which must lie within rows x columns. Columns sorted, entries at one place summed
/// with one rounding: neither the order of the entries nor the number of threads shows in the result.
template <class T>
Assembly<T> assemble(std::int64_t rows, std::int64_t columns, std::span<const std::span<const Entry<T>>> parts,
                     Symmetry symmetry, int threads);

}  // namespace solver
