#pragma once

/// Incomplete factors L U ~ A with the pattern of A.

#include "preconditioner/lu_factors.hpp"
#include "solver/accuracy.hpp"
#include "solver/error.hpp"

#include <cstdint>
#include <string>

namespace solver {

/// A row that ILU(0) has no factors of. Whoever numbers rows otherwise throws it anew.
class UnusableRow : public InvalidArgument {
public:
    /// `row` counts from 0; `seen` says what it has, as in "no diagonal entry"; the preconditioner is the one asked for.
    UnusableRow(std::int64_t row, const std::string& seen, const std::string& preconditioner = "ilu0");

    std::int64_t row() const { return row_; }
    const std::string& seen() const { return seen_; }
    const std::string& preconditioner() const { return preconditioner_; }

private:
    std::int64_t row_;
    std::string seen_;
    std::string preconditioner_;
};

/// ILU(0) in natural order (Meijerink, van der Vorst 1977; Saad, Iterative Methods for Sparse Linear Systems, 2nd ed.,
/// sec. 10.3.2). With S the pattern of A, row by row:
///     l_ij = RN(s_ij / u_jj) for j < i,  u_ij = s_ij for j >= i,
///     s_ij = a_ij - sum_{k < min(i, j), (i,k) and (k,j) in S} l_ik u_kj
/// where s_ij has the accuracy asked for, given the l and u already computed: exact RN of the real number; compensated as if in
/// twice the working precision; fast plain. Throws UnusableRow where make_preconditioner says that a row is refused.
template <class T>
IluFactors<T> factor_ilu0(const CsrView<T>& a, Accuracy accuracy);

}  // namespace solver
