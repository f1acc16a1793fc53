#pragma once

/// Complex triangular factors as real ones.

#include "preconditioner/lu_factors.hpp"
#include "solver/csr_matrix.hpp"

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace solver {

struct PairedFactors {
    IluFactors<double> factors;
    std::vector<std::int32_t> first_row;  ///< of each pair of rows, which one comes first: 0 or 1
};

/// Real triangular factors L' U' = P K of the real form K (complex.hpp) of L U; P exchanges rows within pairs.
///
/// L is strictly lower, its diagonal of ones not stored, U upper with a diagonal p_k + i q_k that is not 0, both by sorted
/// rows. Of the rows of a pair of U's real form the one with the larger number of |p_k| and |q_k| comes first, and takes the
/// other one's first number away, by a factor of at most 1 in magnitude, which stands in L'. Each number of the result is a
/// part of one of L or U, or comes from two of them by two roundings; zeros are not stored.
PairedFactors real_factors(const CsrMatrix<std::complex<double>>& lower, const CsrMatrix<std::complex<double>>& upper);

/// An order of pairs as one of single rows; the first of each pair is the one given, or the even one.
std::vector<std::int32_t> in_pairs(std::span<const std::int32_t> order, std::span<const std::int32_t> first = {});

}  // namespace solver
