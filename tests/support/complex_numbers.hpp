#pragma once

/// Complex numbers for tests, and what their sums of products should be.

#include "solver/csr_matrix.hpp"
#include "solver/numeric/complex.hpp"
#include "support/adversarial.hpp"
#include "support/oracle.hpp"

#include <bit>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace solver::testing {

/// Parts between 2^-exponents and 2^(exponents + 1) in magnitude, now and then one that is zero.
template <class T>
std::complex<T> complex_number(Random& random, int exponents) {
    const auto part = [&] {
        return random.between(0, 7) == 0 ? T(0) : random.number<T>(static_cast<int>(random.between(-exponents, exponents)));
    };
    const T re = part();
    return {re, part()};
}

template <class T>
std::vector<std::complex<T>> complex_vector(Random& random, std::int64_t n, int exponents = 4) {
    std::vector<std::complex<T>> x;
    for (std::int64_t i = 0; i < n; ++i) x.push_back(complex_number<T>(random, exponents));
    return x;
}

/// A matrix with about so many entries a row.
template <class T>
CsrMatrix<std::complex<T>> complex_matrix(Random& random, std::int64_t rows, std::int64_t columns, std::int64_t length,
                                          int exponents = 4) {
    std::vector<Entry<std::complex<T>>> entries;
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t k = random.between(0, 2 * length); k > 0; --k)
            entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(random.between(0, columns - 1)),
                               complex_number<T>(random, exponents)});
    return csr_from_entries<std::complex<T>>(rows, columns, entries);
}

template <class T>
bool same_bits(std::complex<T> a, std::complex<T> b) {
    using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
    return std::bit_cast<Bits>(a.real()) == std::bit_cast<Bits>(b.real()) &&
           std::bit_cast<Bits>(a.imag()) == std::bit_cast<Bits>(b.imag());
}

/// A sum of complex products as two exact real numbers.
class ComplexOracle {
public:
    template <class T>
    void add_product(std::complex<T> a, std::complex<T> b) {
        re_.add_product(a.real(), b.real());
        re_.add_product(-a.imag(), b.imag());
        im_.add_product(a.real(), b.imag());
        im_.add_product(a.imag(), b.real());
    }

    /// alpha times this sum.
    template <class T>
    ComplexOracle scaled(std::complex<T> alpha) const {
        ComplexOracle result;
        result.re_.add_scaled(re_, alpha.real());
        result.re_.add_scaled(im_, -alpha.imag());
        result.im_.add_scaled(im_, alpha.real());
        result.im_.add_scaled(re_, alpha.imag());
        return result;
    }

    template <class T>
    std::complex<T> rounded() const {
        return {re_.template rounded<T>(), im_.template rounded<T>()};
    }

private:
    Oracle re_, im_;
};

}  // namespace solver::testing
