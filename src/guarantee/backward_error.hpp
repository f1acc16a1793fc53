#pragma once

/// The componentwise backward error, from a residual that is known.

#include "solver/views.hpp"

#include <span>

namespace solver::guarantee {

/// max_i |b - A (x + x_low)|_i / (|A| |x + x_low| + |b|)_i, rounded up, from r = RN(b - A (x + x_low)). 0 / 0 counts as 0.
/// x_low may be empty.
template <class T>
double backward_error_of(const CsrView<T>& a, std::span<const T> r, std::span<const T> b, std::span<const T> x,
                         std::span<const T> x_low);

}  // namespace solver::guarantee
