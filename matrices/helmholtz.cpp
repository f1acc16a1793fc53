#include "matrices/helmholtz.hpp"

#include <vector>

namespace solver::matrices {

CsrMatrix<std::complex<double>> helmholtz(std::int64_t n) {
    constexpr double kh = 0.625;
    const std::complex<double> beyond_edge(1, kh);  // u beyond the edge by u at the edge
    std::vector<Entry<std::complex<double>>> entries;
    entries.reserve(static_cast<std::size_t>(5 * n * n));
    for (std::int64_t y = 0; y < n; ++y)
        for (std::int64_t x = 0; x < n; ++x) {
            const auto row = static_cast<std::int32_t>(y * n + x);
            std::complex<double> diagonal = 4 - kh * kh;
            const auto couple = [&](std::int64_t i, std::int64_t j) {
                if (i < 0 || j < 0 || i >= n || j >= n)
                    diagonal -= beyond_edge;
                else
                    entries.push_back({row, static_cast<std::int32_t>(j * n + i), -1});
            };
            couple(x, y - 1);
            couple(x - 1, y);
            couple(x + 1, y);
            couple(x, y + 1);
            entries.push_back({row, row, diagonal});
        }
    return csr_from_entries<std::complex<double>>(n * n, n * n, entries);
}

}  // namespace solver::matrices
