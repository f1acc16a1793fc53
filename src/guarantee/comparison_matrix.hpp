#pragma once

/// H-matrices: what proves that A is one, and the bound of A^-1 that comes with it.

#include "solver/csr_matrix.hpp"
#include "solver/guarantee.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver::guarantee {

/// <A> of a square A: |a_ii| on the diagonal, -|a_ij| elsewhere. Where a place is stored several times, the matrix is at most
/// <A>: the magnitudes of the parts are subtracted, and on the diagonal what their sum is at least. That serves, too: from C <=
/// <A>, v > 0 and C v > 0 follows <A> v > 0.
template <class T>
CsrMatrix<double> comparison_matrix(const CsrView<T>& a);

/// At most |a_ii|, and that to the bit where it is stored once; 0 where it is not stored.
template <class T>
double diagonal_below(const CsrView<T>& a, std::int64_t i);

/// Whether <A> is A itself: a positive diagonal, stored once, and nothing positive beside it.
template <class T>
bool is_its_comparison_matrix(const CsrView<T>& a);

/// |a_ii|^(1/2), rounded: the right-hand side of <A> v = s with which bounds are sharp where coefficients jump.
template <class T>
std::vector<double> roots_of_diagonal(const CsrView<T>& a);

/// A certificate from v and w = RN(<A> v), where all of both are positive, finite, and not subnormal; else one that is
/// unproven. The certificate goes on in their memory: they are left empty where it proves something.
///
/// Rounding is monotone and RN(0) = 0, so w_i > 0 proves (<A> v)_i > 0, and (<A> v)_i >= (1 - u) w_i. Let rho = max |r_i| /
/// (<A> v)_i. <A> is an M-matrix, |A^-1| <= <A>^-1 (Ostrowski), and <A>^-1 >= 0, so |A^-1 r| <= <A>^-1 |r| <= rho <A>^-1 <A> v
/// = rho v.
Certificate certificate_of(std::vector<double>& v, std::vector<double>& w);

}  // namespace solver::guarantee
