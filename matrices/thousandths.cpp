#include "matrices/thousandths.hpp"

#include <numeric>

namespace solver::matrices {

CsrMatrix<double> thousandths(std::int64_t n) {
    CsrMatrix<double> matrix;
    matrix.rows = 1;
    matrix.columns = n;
    matrix.row_offsets.push_back(n);
    matrix.column_indices.resize(static_cast<std::size_t>(n));
    std::iota(matrix.column_indices.begin(), matrix.column_indices.end(), 0);
    matrix.values.assign(static_cast<std::size_t>(n), 0.001);
    return matrix;
}

}  // namespace solver::matrices
