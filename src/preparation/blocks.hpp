#pragma once

/// Preparations of the real form of a complex matrix (solver/complex.hpp), whose rows and columns stay in pairs.
///
/// A transversal of the single entries would tear the pairs apart, and complete factors of what is left fill more: of sound in
/// 200^2 points 14.5 million entries instead of some 8.

#include "solver/preparation.hpp"

#include <cstdint>

namespace solver::preparation {

/// Whether a, with sorted rows, is the real form of a complex matrix that has imaginary parts. Stops at the first pair of rows
/// that is none.
template <class T>
bool is_real_form(const CsrView<T>& a);

/// The complex matrix of a real form, each number with the larger magnitude of both parts for it. Columns are sorted.
template <class T>
CsrMatrix<T> block_magnitudes(const CsrView<T>& a);

/// Whether rows and columns that were a pair stand side by side, at even places, and columns in their order.
bool keeps_pairs(const Preparation& preparation);

/// A preparation of block_magnitudes(a) as one of a: rows and columns in pairs, and rows of a pair exchanged where the
/// imaginary part of the block on the diagonal is the larger one.
template <class T>
Preparation in_pairs(const Preparation& of_blocks, const CsrView<T>& a);

}  // namespace solver::preparation
