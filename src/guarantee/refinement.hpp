#pragma once

/// The correctly rounded solution of A x = b.

#include "solver/guarantee.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace solver::guarantee {

/// Solves A d = r approximately, d being zero on entry. Returns the number of iterations; how good d is shows in its residual.
template <class T>
using Corrector = std::function<std::int64_t(std::span<const T> r, std::span<T> d)>;

/// x becomes RN(A^-1 b), component by component, as far as this can be decided (decision.hpp), from an x close to the solution.
///
/// The solution is held as x + l and corrected: r = RN(b - A (x + l)), A d ~ r, r' = RN(r - A d). Then |A^-1 b - (x + l + d)|_i
/// <= reach_i (N(r') + N(u |r| + eta)), which decides or, with x + l + d rounded to two numbers, is made smaller by another
/// step. It ends where nothing is open or where two steps did not make fewer components open and bounds half as large.
template <class T>
SolutionProof round_solution(const SpmvPlan<T>& a, const Certificate& certificate, const Corrector<T>& corrector,
                             std::span<const T> b, std::span<T> x);

}  // namespace solver::guarantee
