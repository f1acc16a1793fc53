#pragma once

/// The inverse of a small matrix in pairs of doubles.

#include "core/pair.hpp"
#include "guarantee/inverse_columns.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/preparation.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver::guarantee {

/// A^-1 approximately, by Gauss and Jordan's elimination with partial pivoting of the prepared matrix, with relative errors of
/// some 2^-100 an operation: serves conditions to about 1e30. Not finite where a pivot vanishes.
class InverseInPairs {
public:
    InverseInPairs(const CsrView<double>& a, const Preparation& preparation);

    /// Column j of the inverse of diag(2^k) A, k the exponents of the rows.
    void column(std::int64_t j, std::span<double> y, std::span<double> y_low) const;

    /// z + z_low = A^-1 r, refined by exact residuals.
    void apply(std::span<const double> r, std::span<double> z, std::span<double> z_low) const;

private:
    std::size_t size() const { return preparation_.row_order.size(); }

    /// z + z_low += Y r, Y the inverse as it is.
    void add_product(std::span<const double> r, std::span<double> z, std::span<double> z_low) const;

    CsrMatrix<double> a_;
    Preparation preparation_;
    std::vector<Pair> inverse_;  ///< of the prepared matrix, by rows
};

}  // namespace solver::guarantee
