#pragma once

/// What elimination by blocks subtracts, in vector lanes.

#include <cstdint>

namespace solver::cpu {

/// C -= L U, every element by one product after another: c_ij = RN(c_ij - RN(l_ik u_kj)) for k = 0, ..., depth - 1. C is
/// rows x columns, its rows and L's `stride` apart, U's rows u_stride; U does not overlap C.
void subtract_products(std::int64_t rows, std::int64_t columns, std::int64_t depth, const double* l, const double* u,
                       std::int64_t u_stride, double* c, std::int64_t stride);

}  // namespace solver::cpu
