#pragma once

/// What proves that a matrix has no inverse.

#include "solver/preparation.hpp"
#include "solver/spmv.hpp"

#include <string>

namespace solver::guarantee {

/// Why the square, finite A is singular, where its entries show it at the cost of a few products; else empty. Tried are
///  - its structural rank, which is below n where no permutation puts nonzeros on the whole diagonal;
///  - rows, or columns, of which one is a multiple of another;
///  - rows, or columns, that add up to exactly 0.
template <class T>
std::string why_singular(const SpmvPlan<T>& a);

/// Why the square, finite A is singular, where elimination finds a column that depends on those before it with whole numbers as
/// factors; else empty. The columns are eliminated in the order of the preparation while so many operations last. The
/// first column that leaves nearly nothing is nearly a combination of those before, by one vector alone; where a
/// small multiple of that has nearly whole numbers, up to 2^20, these are tried as v. A v is a sum of multiples of the smallest
/// subnormal, so that one which is rounded to 0 is 0.
std::string why_singular_by_elimination(const SpmvPlan<double>& a, const Preparation& preparation, double most_operations);

}  // namespace solver::guarantee
