#pragma once

#include "solver/triangular_solve.hpp"

#include <span>

namespace solver {

/// A complex triangular matrix as a real one: rows 2i and 2i + 1 are those of the real form (complex.hpp) for row i, without
/// its diagonal entry p + q i, which stands in `pivots`. Both are equally long and have entries in the same pairs of columns,
/// so that both are of the same level.
template <class T>
struct PairedTriangle {
    CsrView<T> beside;
    Triangle triangle = Triangle::lower;
    std::span<const T> pivots;  ///< p and q of each pair in turn; none where the diagonal is 1
};

}  // namespace solver
