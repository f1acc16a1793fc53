#pragma once

/// Complete factors of a matrix that is nearly full, where sparse ones would take many times as long.

#include "preconditioner/lu_factors.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"

#include <cstdint>
#include <vector>

namespace solver {

/// Whether an eighth of the elements or more are stored, and there are so many that sparse factors would take long.
constexpr bool is_nearly_full(std::int64_t rows, std::int64_t columns, std::int64_t entries) {
    constexpr std::int64_t least_rows = 256;
    return rows >= least_rows && entries >= rows * (columns / 8);
}

template <class T>
bool is_nearly_full(const CsrView<T>& a) {
    return is_nearly_full(a.rows, a.columns, a.nonzeros());
}

struct FullFactors {
    IluFactors<double> factors;
    std::vector<std::int32_t> row_order;  ///< which row became the k-th
    std::int64_t pivots = 0;              ///< how many were found: below n, nothing but zeros is left in that column
};

/// L U = P B by Gaussian elimination with partial pivoting, of equal candidates the first (Higham 2002, section 9.1), block by
/// block of columns. Elements are changed by one rounded product after another in the order of the pivots, so that their bits
/// do not depend on blocks, threads, device or machine. No factors where a column has no pivot. Takes at most 20 bytes for each
/// element, a full B that was given away included, and on a CUDA device 8. Throws ResourceLimit where a device has not enough
/// memory.
FullFactors factor_full(CsrMatrix<double> b, const Device& device);

}  // namespace solver
