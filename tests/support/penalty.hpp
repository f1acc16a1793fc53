#pragma once

/// Boundary values held by a penalty, as finite elements have them.

#include "solver/csr_matrix.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace solver::testing {

struct Penalty {
    CsrMatrix<double> a;
    std::vector<double> b, known;  ///< b = A known, without rounding
};

/// The five-point Laplace operator on m x m points, the diagonal of the first line raised by `penalty`, a power of two, and
/// integers from -4 to 4.
inline Penalty penalty_problem(std::int32_t m, double penalty, unsigned seed = 1) {
    std::mt19937_64 random(seed);
    std::vector<Entry<double>> entries;
    std::vector<double> known(static_cast<std::size_t>(m) * static_cast<std::size_t>(m)), b(known.size());
    for (double& x : known) x = static_cast<double>(static_cast<int>(random() % 9) - 4);
    for (std::int32_t i = 0; i < m * m; ++i) {
        entries.push_back({i, i, 4 + (i < m ? penalty : 0)});
        if (i % m > 0) entries.push_back({i, i - 1, -1});
        if (i % m < m - 1) entries.push_back({i, i + 1, -1});
        if (i >= m) entries.push_back({i, i - m, -1});
        if (i < m * (m - 1)) entries.push_back({i, i + m, -1});
    }
    for (const Entry<double>& entry : entries) b[entry.row] += entry.value * known[entry.column];
    return {csr_from_entries<double>(m * m, m * m, entries), b, known};
}

}  // namespace solver::testing
