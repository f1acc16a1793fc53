#pragma once

/// From the transversal's duals to powers of two.

#include "solver/preparation.hpp"

namespace solver::preparation {

/// Sets row_exponents and column_exponents as Preparation describes. a has sorted rows.
template <class T>
void set_exponents(Preparation& preparation, const CsrView<T>& a, const Transversal& transversal);

/// x 2^exponent, rounded once where it is not exact.
template <class T>
T scale(T x, std::int32_t exponent);

}  // namespace solver::preparation
