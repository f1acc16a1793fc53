#pragma once

/// The correctly rounded solution of A x = b, and bounds of what one correction makes of another x.

#include "solver/guarantee.hpp"
#include "solver/spmv.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace solver::guarantee {

/// Solves A (d + d_low) = r approximately, both zero on entry; d_low, where it is used, is a rounding error of d. Returns the
/// number of iterations; how good they are shows in their residual.
template <class T>
using Corrector = std::function<std::int64_t(std::span<const T> r, std::span<T> d, std::span<T> d_low)>;

/// How many of the components that are open SolutionProof names.
inline constexpr std::size_t most_named_components = 10;

/// x becomes RN(A^-1 b), component by component, as far as this can be decided (decision.hpp), from an x close to the solution.
///
/// The solution is held as x + l and corrected: r = RN(b - A (x + l)), A (d + e) ~ r, r' = RN(r - A (d + e)). Then |A^-1 b - (x
/// + l + d)|_i <= reach_i N(|r'| + u |r| + eta) + |e_i|, which decides or, with x + l + d rounded to two numbers, is made
/// smaller by another step. Where a step has not made fewer components open, or the bound half as large, rows sharpen it
/// (row_bounds.hpp), and where A falls apart each part has a bound of its own from then on, since what is open there depends on
/// nothing else; else the solution gets a third part, since small components see what two leave out of the largest. It ends
/// where nothing is open or where two steps have not gained all the same.
template <class T>
SolutionProof round_solution(const SpmvPlan<T>& a, const Certificate& certificate, const Corrector<T>& corrector,
                             std::span<const T> b, std::span<T> x);

/// Lowers bounds of |x_i + x_low_i - x*_i| to |d + e|_i and what bounds the rest, by one such correction d + e, which is sharp
/// where the certificate is not: by its condition the error of x is overestimated, that of a correction overestimated alike but
/// far smaller. x_low may be empty.
template <class T>
void lower_bounds(const SpmvPlan<T>& a, const Certificate& certificate, const Corrector<T>& corrector, std::span<const T> b,
                  std::span<const T> x, std::span<const T> x_low, std::span<double> bounds);

}  // namespace solver::guarantee
