#pragma once

/// Matrices as Eigen has them.

#include "solver/csr_matrix.hpp"

#include <Eigen/Dense>

#include <cstdint>

namespace solver::testing {

inline Eigen::MatrixXd dense_of(const CsrMatrix<double>& a) {
    Eigen::MatrixXd d = Eigen::MatrixXd::Zero(a.rows, a.columns);
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (auto k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) d(i, a.column_indices[k]) += a.values[k];
    return d;
}

}  // namespace solver::testing
