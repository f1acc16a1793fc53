#pragma once

/// Matrices for the parts of multigrid.

#include "core/csr_assembly.hpp"
#include "preconditioner/amg/strength.hpp"
#include "solver/csr_matrix.hpp"

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace solver::amg::testing {

using Dense = std::vector<std::vector<long double>>;

template <class T>
Dense dense(const CsrMatrix<T>& a) {
    Dense d(static_cast<std::size_t>(a.rows), std::vector<long double>(static_cast<std::size_t>(a.columns)));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) d[i][a.column_indices[k]] += a.values[k];
    return d;
}

/// Symmetric, negative off the diagonal, `excess` more on the diagonal than the rest of the row.
inline CsrMatrix<double> random_laplacian(std::mt19937_64& random, std::int32_t n, double edges_a_row, double excess) {
    std::vector<Entry<double>> entries;
    std::vector<double> degree(static_cast<std::size_t>(n), excess);
    for (int e = 0; e < static_cast<int>(edges_a_row * n / 2); ++e) {
        const auto i = static_cast<std::int32_t>(random() % n), j = static_cast<std::int32_t>(random() % n);
        if (i == j) continue;
        const double weight = static_cast<double>(1 + random() % 1000);
        entries.push_back({i, j, -weight});
        entries.push_back({j, i, -weight});
        degree[i] += weight;
        degree[j] += weight;
    }
    for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, i, degree[i] + (degree[i] == 0)});
    return csr_from_entries<double>(n, n, entries);
}

inline CsrMatrix<double> random_matrix(std::mt19937_64& random, std::int32_t rows, std::int32_t columns, double density) {
    std::vector<Entry<double>> entries;
    std::uniform_real_distribution<> uniform(-1, 1);
    for (std::int32_t i = 0; i < rows; ++i)
        for (std::int32_t j = 0; j < columns; ++j)
            if (i == j || std::abs(uniform(random)) < density) entries.push_back({i, j, uniform(random)});
    return csr_from_entries<double>(rows, columns, entries);
}

/// Two problems that have nothing to do with each other but their nodes.
inline CsrMatrix<double> interleaved(const CsrMatrix<double>& a, const CsrMatrix<double>& b) {
    std::vector<Entry<double>> entries;
    for (std::int32_t which = 0; which < 2; ++which) {
        const CsrMatrix<double>& one = which == 0 ? a : b;
        for (std::int32_t i = 0; i < one.rows; ++i)
            for (std::int64_t k = one.row_offsets[i]; k < one.row_offsets[i + 1]; ++k)
                entries.push_back({2 * i + which, 2 * one.column_indices[k] + which, one.values[k]});
    }
    return csr_from_entries<double>(2 * a.rows, 2 * a.rows, entries);
}

inline Graph graph_of(const CsrMatrix<double>& a, int threads = 1) {
    return strong_connections(a.view(), 0.25, Device::cpu(threads));
}

}  // namespace solver::amg::testing
