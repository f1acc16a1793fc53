#pragma once

/// Systems solved by the automatic choice, and what it reports.

#include "solver/csr_matrix.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <vector>

namespace solver::testing {

template <class T>
struct Solved {
    SolveReport report;
    std::vector<T> x;
};

template <class T>
std::vector<T> image_of_ones(const CsrMatrix<T>& a) {
    std::vector<T> b(static_cast<std::size_t>(a.rows));
    spmv(T(1), a, std::vector<T>(b.size(), T(1)), T(0), b, Accuracy::exact, Device::cpu(1));
    return b;
}

template <class T>
Solved<T> solve_by(const CsrMatrix<T>& a, const std::vector<T>& b, const SolveOptions& options,
                   const Device& device = Device::cpu(1)) {
    Solved<T> solved{{}, std::vector<T>(b.size())};
    const SpmvPlan<T> plan(a, device);
    solved.report = solve<T>(plan, b, solved.x, {}, options);
    return solved;
}

inline CsrMatrix<double> tridiagonal(std::int32_t n, double diagonal) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        if (diagonal != 0) entries.push_back({i, i, diagonal});
        if (i > 0) entries.push_back({i, i - 1, 1});
        if (i < n - 1) entries.push_back({i, i + 1, 2});
    }
    return csr_from_entries<double>(n, n, entries);
}

}  // namespace solver::testing
