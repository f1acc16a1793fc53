#pragma once

/// Complex numbers for tests, and what their sums of products should be.

#include "solver/complex.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/numeric/complex.hpp"
#include "support/adversarial.hpp"
#include "support/oracle.hpp"
#include "support/products.hpp"

#include <algorithm>
#include <bit>
#include <complex>
#include <cstdint>
#include <iterator>
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

/// A complex matrix in its real form, whose rows are packed in pairs, with so many different parts: any if 0, floats if -1.
/// Some parts are zero, in fewer than half of the entries. Columns follow each other from row to row where the number of rows
/// is divisible by 3.
template <class T>
CsrMatrix<T> random_pairs(Random& random, std::int64_t columns, const std::vector<std::int64_t>& lengths,
                          std::int64_t different = 0) {
    std::vector<T> parts(static_cast<std::size_t>(std::max<std::int64_t>(different, 0)));
    for (T& part : parts) part = random.number<T>(static_cast<int>(random.between(-9, 9)));
    const auto part = [&] {
        if (different > 0) return parts[static_cast<std::size_t>(random.between(0, different - 1))];
        const T any = random.number<T>(static_cast<int>(random.between(-9, 9)));
        return different < 0 ? static_cast<T>(static_cast<float>(any)) : any;
    };
    CsrMatrix<std::complex<T>> a{static_cast<std::int64_t>(lengths.size()), columns, {0}, {}, {}};
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const std::int64_t first = random.between(0, columns - 1);
        for (std::int64_t k = 0; k < lengths[row]; ++k) {
            const std::int64_t column = a.rows % 3 == 0 ? row + 40 * k : first + k * k;
            const std::int64_t zero = k % 3 == 1 ? random.between(0, 5) : -1;
            a.column_indices.push_back(static_cast<std::int32_t>(column % columns));
            a.values.emplace_back(zero == 0 ? T(0) : part(), zero == 1 ? T(0) : part());
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    return real_form(a.view());
}

/// Real rows whose sums cancel or nearly tie as one of the parts of complex rows, in the real form, and an x whose other part
/// is zero.
template <std::floating_point T>
MatrixAndVector<T> adversarial_pairs(Random& random) {
    auto rows = adversarial_rows<T>(random, 38, 60);
    std::erase_if(rows, [](const Terms<T>& terms) { return terms.size() > 64; });
    const auto made = matrix_of(rows, random);
    CsrMatrix<std::complex<T>> a{made.a.rows, made.a.columns, made.a.row_offsets, made.a.column_indices, {}};
    for (const T value : made.a.values) a.values.emplace_back(value, random.number<T>());
    std::vector<T> x;
    for (const T element : made.x) x.insert(x.end(), {element, T(0)});
    return {real_form(a.view()), x};
}

template <class T>
bool same_bits(std::complex<T> a, std::complex<T> b) {
    using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
    return std::bit_cast<Bits>(a.real()) == std::bit_cast<Bits>(b.real()) &&
           std::bit_cast<Bits>(a.imag()) == std::bit_cast<Bits>(b.imag());
}

template <class T>
bool same_expansion(const ComplexExpansion<T>& a, const ComplexExpansion<T>& b) {
    const auto same = [](const Expansion<T>& u, const Expansion<T>& v) {
        return u.size == v.size && u.is_exact == v.is_exact &&
               std::equal(std::begin(u.component), std::end(u.component), std::begin(v.component),
                          [](T first, T second) { return same_bits(first, second); });
    };
    return same(a.re, b.re) && same(a.im, b.im);
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
