#pragma once

#include <cstdint>
#include <vector>

namespace solver::matrices {

/// Two vectors whose dot product is hard to compute.
struct IllConditionedDot {
    std::vector<double> x, y;
    double exact = 0;      ///< x'y, rounded once
    double condition = 0;  ///< 2 |x|'|y| / |x'y|
};

/// Vectors of n >= 6 elements whose dot product has a condition number of the order of `condition`, in [1, 1e100]: Algorithm
/// 6.1 (GenDot) of Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26(6), 2005. The second half of the elements cancels what came before
/// step by step. Throws InvalidArgument outside these ranges.
IllConditionedDot ill_conditioned_dot(std::int64_t n, double condition, std::uint64_t seed = 1);

}  // namespace solver::matrices
