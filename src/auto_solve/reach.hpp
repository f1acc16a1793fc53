#pragma once

/// How far the unknowns of a system lie apart.

#include "core/huge_pages.hpp"
#include "solver/csr_matrix.hpp"

#include <cstdint>
#include <vector>

namespace solver {

/// Whether some row lies farther than so many steps from row 0 in the graph of A, from each row to the columns of its entries.
/// In a Krylov method from x = 0 without preconditioner, or with Jacobi's, x is p(A) b after `steps` products, p a polynomial
/// of lower degree: that row's b then enters x_0 through the coefficients of p alone, which all rows share. By rings around row
/// 0; ends with the first that is too far.
template <class T>
bool has_rows_beyond(const CsrView<T>& a, std::int64_t steps) {
    if (a.rows == 0) return false;
    std::vector<std::uint8_t> seen = zeros<std::uint8_t>(a.rows);
    std::vector<std::int32_t> ring{0}, next;
    seen[0] = 1;
    for (std::int64_t distance = 0; !ring.empty(); ++distance) {
        if (distance > steps) return true;
        next.clear();
        for (const std::int32_t i : ring)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                const std::int32_t j = a.column_indices[k];
                if (seen[j] != 0) continue;
                seen[j] = 1;
                next.push_back(j);
            }
        ring.swap(next);
    }
    return false;
}

}  // namespace solver
