#pragma once

/// Systems solved by the automatic choice, and what it reports.

#include "solver/csr_matrix.hpp"
#include "solver/reduce.hpp"
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

/// ||b - A x|| / ||b||, by the library's exact residual and norms.
template <class T>
double true_residual(const CsrMatrix<T>& a, const std::vector<T>& b, const std::vector<T>& x) {
    std::vector<T> r(b.size());
    SpmvPlan<T>(a, Device::cpu(1)).residual(b, x, {}, r, Accuracy::exact);
    return static_cast<double>(norm2(r, Accuracy::exact, Device::cpu(1))) /
           static_cast<double>(norm2(b, Accuracy::exact, Device::cpu(1)));
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

/// Seven points in three dimensions with a wind, side^3 unknowns.
inline CsrMatrix<double> three_dimensions(std::int32_t side, double wind) {
    std::vector<Entry<double>> entries;
    const std::int32_t n = side * side * side;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, 6});
        for (const std::int32_t step : {1, side, side * side}) {
            if (i / step % side > 0) entries.push_back({i, i - step, -1 - wind});
            if (i / step % side < side - 1) entries.push_back({i, i + step, -1 + wind});
        }
    }
    return csr_from_entries<double>(n, n, entries);
}

}  // namespace solver::testing
