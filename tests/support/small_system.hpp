#pragma once

/// Small systems whose solutions are known by rational arithmetic.

#include "solver/csr_matrix.hpp"
#include "support/rational_system.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace solver::testing {

/// A small dense system, stored sparsely.
template <class T>
struct SmallSystem {
    std::vector<double> dense;
    CsrMatrix<T> a;
    std::vector<T> b;

    SmallSystem(std::vector<double> elements, std::vector<double> rhs) : dense(std::move(elements)) {
        const std::size_t n = rhs.size();
        std::vector<Entry<T>> entries;
        for (std::size_t k = 0; k < n * n; ++k) {
            dense[k] = static_cast<T>(dense[k]);
            if (dense[k] != 0)
                entries.push_back(
                    {static_cast<std::int32_t>(k / n), static_cast<std::int32_t>(k % n), static_cast<T>(dense[k])});
        }
        const auto size = static_cast<std::int64_t>(n);
        a = csr_from_entries<T>(size, size, entries);
        b.assign(rhs.begin(), rhs.end());
    }

    std::vector<Rational> solution() const { return solve_in_rationals(dense, std::vector<double>(b.begin(), b.end())); }
};

/// Random numbers of few or many digits and wide exponents; every third system is made nearly or exactly singular, every fourth
/// has right-hand sides with zeros.
template <class T>
SmallSystem<T> random_system(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](int n) { return static_cast<int>(random() % static_cast<std::uint64_t>(n)); };
    const int n = 1 + below(9);
    const bool few_digits = below(2) == 0, wide = below(3) == 0;
    const auto number = [&] {
        const double digits = few_digits ? below(7) - 3 : std::uniform_real_distribution<double>(-1, 1)(random);
        return wide ? std::ldexp(digits, below(40) - 20) : digits;
    };
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> a(size * size), b(size);
    for (double& value : a) value = below(10) < 6 ? number() : 0;
    for (double& value : b) value = seed % 4 == 0 && below(2) == 0 ? 0 : number();
    if (n > 1 && seed % 3 == 0)
        for (std::size_t j = 0; j < size; ++j) a[j] = a[size + j] + (seed % 2 == 0 ? 0 : std::ldexp(number(), -30 - below(30)));
    return {std::move(a), std::move(b)};
}

inline std::vector<double> random_rhs(std::int64_t n) {
    std::mt19937_64 random(3);
    std::vector<double> b(static_cast<std::size_t>(n));
    for (double& value : b) value = std::uniform_real_distribution<double>(-1, 1)(random);
    return b;
}

}  // namespace solver::testing
