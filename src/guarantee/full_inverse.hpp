#pragma once

/// A certificate of a full matrix, from an approximate inverse by dense products.

#include "solver/accuracy.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/device.hpp"
#include "solver/guarantee.hpp"
#include "solver/preparation.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <span>

namespace solver::guarantee {

/// Bytes at the peak for n rows.
double bytes_of_full_inverse(std::int64_t n);

/// X ~ B^-1, B = P_r D_r A D_c P_c as prepared, by products in `fast` on a device: the inverse of one half, that of its Schur
/// complement, and so on, down to small blocks, which are eliminated with partial pivoting. No rows are exchanged between
/// blocks, for B has its largest entries on the diagonal; what that loses is given back by X + X (I - B X) (Schulz 1933), as
/// long as this helps.
class FullInverse {
public:
    FullInverse(const CsrView<double>& a, const Preparation& preparation, const Device& device);

    /// Where alpha = max_j ||(I - B X) e_j||_1 < 1 is B^-1 = X (I - G)^-1, G = I - B X, and so, with A^-1 = D_c P_c B^-1 P_r
    /// D_r, |A^-1 r|_i <= 2^k_i max_j |x_lj| ||D_r r||_1 / (1 - alpha), k_i the exponent of column i of A, which stands in
    /// place l (Rump 1980). The rounding errors of G are counted. Unproven where alpha is 1 or more.
    Certificate certificate() const;

    /// d = D_c P_c X P_r D_r r.
    void apply(std::span<const double> r, std::span<double> d) const;

private:
    void find_rest(Accuracy accuracy);
    double bound_of_rest(Accuracy accuracy) const;

    Preparation preparation_;
    Device device_;
    DenseMatrix<double> b_;
    DenseMatrix<double> x_;
    DenseMatrix<double> rest_;        ///< I - B X, computed
    double rounding_of_entries_ = 0;  ///< relative, of B's: places of A that are stored several times were summed
    double alpha_ = 0;                ///< at least max_j ||(I - B X) e_j||_1, B without roundings
};

}  // namespace solver::guarantee
