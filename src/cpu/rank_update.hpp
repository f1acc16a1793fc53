#pragma once

/// What elimination by blocks subtracts, in vector lanes.

#include <cstdint>

namespace solver::cpu {

/// C -= L U, every element by one product after another: c_ij = RN(c_ij - RN(l_ik u_kj)) for k = 0, ..., depth - 1. C is
/// rows x columns, its rows and L's `stride` apart, U's rows u_stride; U does not overlap C.
void subtract_products(std::int64_t rows, std::int64_t columns, std::int64_t depth, const double* l, const double* u,
                       std::int64_t u_stride, double* c, std::int64_t stride);

/// A row in pairs: high_j + low_j + sum_k l_k u_kj for j < columns, k < depth, as if computed in twice the precision, added up
/// in the order of k; two sums may be apart by some units of high_j (Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26, 2005: Dot2,
/// the last addition left out). The rows of U are u_stride apart.
void add_products_in_pairs(std::int64_t columns, std::int64_t depth, const double* l, const double* u, std::int64_t u_stride,
                           double* high, double* low);

}  // namespace solver::cpu
