#pragma once

/// Quotients of complex numbers in vector lanes.

#include <cstdint>

namespace solver::cpu {

/// quotients_i = quotient_part(a, b, i) for 0 <= i < n (core/complex_quotient.hpp); n is even, and no number of b is zero.
void divide_complex(std::int64_t n, const double* a, const double* b, double* quotients);
void divide_complex(std::int64_t n, const float* a, const float* b, float* quotients);

}  // namespace solver::cpu
