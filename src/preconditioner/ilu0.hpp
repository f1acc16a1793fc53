#pragma once

/// Incomplete factors L U ~ A with the pattern of A.

#include "preconditioner/check.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/preconditioner.hpp"
#include "solver/triangular_solve.hpp"

namespace solver {

template <class T>
struct IluFactors {
    CsrMatrix<T> lower;  ///< strictly lower; its diagonal of ones is not stored
    CsrMatrix<T> upper;  ///< with the diagonal; columns are sorted in both
};

/// ILU(0) in natural order (Meijerink, van der Vorst 1977; Saad, Iterative Methods for Sparse Linear Systems, 2nd ed.,
/// sec. 10.3.2). With S the pattern of A, row by row:
///     l_ij = RN(s_ij / u_jj) for j < i,  u_ij = s_ij for j >= i,
///     s_ij = a_ij - sum_{k < min(i, j), (i,k) and (k,j) in S} l_ik u_kj
/// where s_ij has the accuracy asked for, given the l and u already computed: exact RN of the real number; compensated as if in
/// twice the working precision; fast plain. Throws as make_preconditioner says.
template <class T>
IluFactors<T> factor_ilu0(const CsrView<T>& a, Accuracy accuracy);

template <class T>
class Ilu0 final : public Preconditioner<T> {
public:
    Ilu0(const CsrView<T>& a, Accuracy accuracy, const Device& device)
        : factors_(factor_ilu0(a, accuracy)),
          lower_(factors_.lower, Triangle::lower, Diagonal::unit, device),
          upper_(factors_.upper, Triangle::upper, Diagonal::stored, device) {}

    Ilu0(const Ilu0&) = delete;  // the plans look at the factors
    Ilu0& operator=(const Ilu0&) = delete;

    void apply(std::span<const T> r, std::span<T> z, Accuracy accuracy) const override {
        check_lengths("ilu0", static_cast<std::size_t>(factors_.upper.rows), r.size(), z.size());
        lower_.solve(r, z, accuracy);
        upper_.solve(z, z, accuracy);
    }

private:
    IluFactors<T> factors_;
    TriangularSolvePlan<T> lower_;
    TriangularSolvePlan<T> upper_;
};

}  // namespace solver
