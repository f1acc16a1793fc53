#pragma once

/// From the transversal's duals to powers of two.

#include "solver/preparation.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace solver::preparation {

/// Sets row_exponents and column_exponents as Preparation describes. a has sorted rows.
template <class T>
void set_exponents(Preparation& preparation, const CsrView<T>& a, const Transversal& transversal);

/// 2^-max_exponent and 2^max_exponent are normal numbers.
template <class T>
inline constexpr std::int32_t max_exponent = 1 - std::numeric_limits<T>::min_exponent;

/// x 2^exponent, rounded once where it is not exact.
template <class T>
T scale(T x, std::int32_t exponent) {
    if (exponent < -max_exponent<T> || exponent > max_exponent<T>) return std::ldexp(x, exponent);
    return x * static_cast<T>(std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52));
}

}  // namespace solver::preparation
