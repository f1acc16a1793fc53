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

/// Vectors of n elements whose dot product has a condition number of the order of `condition`, in [1, 1e100]: Algorithm 6.1
/// (GenDot) of Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26(6), 2005. The second half of the elements cancels what came before
/// step by step, 53 bits at most each: n >= 6 and n >= 2 (log2(condition) / 53 + 2). Throws InvalidArgument outside these
/// ranges.
IllConditionedDot ill_conditioned_dot(std::int64_t n, double condition, std::uint64_t seed = 1);

}  // namespace solver::matrices
