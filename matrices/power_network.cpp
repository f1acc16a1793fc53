#include "matrices/power_network.hpp"

#include "matrices/random.hpp"

#include <algorithm>
#include <vector>

namespace solver::matrices {

CsrMatrix<std::complex<double>> power_network(std::int64_t n) {
    using Complex = std::complex<double>;
    Random random(1);
    std::vector<Entry<Complex>> entries;
    std::vector<Complex> diagonal(static_cast<std::size_t>(n), Complex(0, 0x1p-10));
    diagonal[0] += 100;
    const auto connect = [&](std::int64_t a, std::int64_t b) {
        const auto i = static_cast<std::int32_t>(a), j = static_cast<std::int32_t>(b);
        const auto units = 64 + random.below(448);  // of 2^-10
        const double conductance = static_cast<double>(units) * 0x1p-10;
        const double susceptance = static_cast<double>(units * (2048 + random.below(8192))) * 0x1p-20;
        const Complex admittance(conductance, -susceptance);
        entries.push_back({i, j, -admittance});
        entries.push_back({j, i, -admittance});
        diagonal[static_cast<std::size_t>(a)] += admittance;
        diagonal[static_cast<std::size_t>(b)] += admittance;
    };
    for (std::int64_t bus = 1; bus < n; ++bus) {
        connect(bus, bus - 1);
        if (bus > 2 && random.below(5) < 2) connect(bus, bus - 2 - random.below(std::min<std::int64_t>(bus - 1, 100)));
    }
    for (std::int64_t bus = 0; bus < n; ++bus) {
        const auto i = static_cast<std::int32_t>(bus);
        entries.push_back({i, i, diagonal[static_cast<std::size_t>(bus)]});
    }
    return csr_from_entries<Complex>(n, n, entries);
}

}  // namespace solver::matrices
