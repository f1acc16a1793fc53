#pragma once

/// What tests of least squares work with.

#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/least_squares.hpp"
#include "solver/spmv.hpp"
#include "support/eigen.hpp"
#include "support/linear_systems.hpp"

#include <Eigen/Dense>

#include <cmath>
#include <cstddef>
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

using Matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;

template <class T>
struct Found {
    LeastSquaresResult result;
    std::vector<T> x;
};

inline LeastSquaresOptions with_factors(double tolerance = 1e-10) { return {with(Accuracy::exact, tolerance)}; }

template <class T>
Found<T> find(const CsrMatrix<T>& a, const std::vector<T>& b, const LeastSquaresOptions& options = with_factors(),
              int threads = 1, std::vector<T> x = {}) {
    const CsrMatrix<T> t = transpose(a.view());
    const SpmvPlan<T> plan(a, Device::cpu(threads)), transposed(t, Device::cpu(threads));
    Found<T> found{{}, x.empty() ? std::vector<T>(static_cast<std::size_t>(a.columns)) : x};
    found.result = least_squares<T>(plan, transposed, b, found.x, options);
    return found;
}

/// x_i - x_(i-1) for i = 0 to n, x_(-1) = x_n = 0, times 2^(spread j / n) in column j: the condition number is some n without
/// the spread, and LSMR takes n steps.
inline CsrMatrix<double> differences(std::int32_t n, double spread = 0) {
    std::vector<Entry<double>> entries;
    for (std::int32_t j = 0; j < n; ++j) {
        const double unit = std::exp2(spread * j / n);
        entries.push_back({j, j, unit});
        entries.push_back({j + 1, j, -unit});
    }
    return csr_from_entries<double>(n + 1, n, entries);
}

inline Matrix long_dense(const CsrMatrix<double>& a) { return dense_of(a).cast<long double>(); }
inline Vector long_vector(const std::vector<double>& x) { return eigen_vector(x).cast<long double>(); }

}  // namespace solver::testing
