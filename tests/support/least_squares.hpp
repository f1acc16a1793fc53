#pragma once

/// What tests of least squares work with.

#include "solver/csr_matrix.hpp"

#include <Eigen/Dense>

#include <cstdint>
#include <random>
#include <vector>

namespace solver::testing {

/// Random integers, of this rank at most.
inline CsrMatrix<double> matrix_of_rank(std::int64_t rank, std::int64_t rows, std::int64_t columns, unsigned seed) {
    std::mt19937_64 random(seed);
    const auto number = [&] { return static_cast<double>(static_cast<int>(random() % 9) - 4); };
    Eigen::MatrixXd left(rows, rank), right(rank, columns);
    for (double& x : left.reshaped()) x = number();
    for (double& x : right.reshaped()) x = number();
    const Eigen::MatrixXd product = left * right;
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < rows; ++i)
        for (std::int32_t j = 0; j < columns; ++j) entries.push_back({i, j, product(i, j)});
    return csr_from_entries<double>(rows, columns, entries);
}

inline Eigen::VectorXd eigen_vector(const std::vector<double>& x) {
    return Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size()));
}

struct ShapeAndRank {
    std::int64_t rows, columns, rank;
};

inline constexpr ShapeAndRank shapes_and_ranks[] = {{12, 5, 5}, {5, 12, 5}, {9, 9, 9}, {12, 8, 4},
                                                    {8, 12, 3}, {1, 6, 1},  {6, 1, 1}};

}  // namespace solver::testing
