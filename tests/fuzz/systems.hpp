#pragma once

/// Systems of a few unknowns made of a fuzzer's bytes: plain ones, and what is hard to solve or to prove.

#include "fuzz/bytes.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/numeric/complex.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace solver::fuzz {

/// Elements of one kind: any numbers, whole ones, those of many digits, or these in a wide range of sizes. Inf and NaN are few.
template <class S>
class Elements {
public:
    using T = RealOf<S>;

    explicit Elements(Bytes& bytes)
        : bytes_(bytes), numbers_(bytes), kind_(bytes.byte() % 8), keeps_special_(bytes.byte() % 16 == 15) {}

    bool are_any() const { return kind_ == 0; }

    S next() {
        if constexpr (is_complex<S>) {
            const int zero = bytes_.byte() % 4;
            const T re = zero == 0 ? T(0) : part();
            return {re, zero == 1 ? T(0) : part()};
        } else {
            return part();
        }
    }

private:
    T part() {
        switch (kind_) {
            case 0:
                return any();
            case 1:
            case 2:
                return whole(9);
            case 3:
                return whole(127);
            case 4:
            case 5:
                return digits();
            case 6:
                return std::ldexp(digits(), bytes_.bits<std::int8_t>() / 4);
            default:
                return std::ldexp(whole(9), bytes_.bits<std::int8_t>() / 2);
        }
    }

    T any() {
        const T number = numbers_.next();
        return keeps_special_ || std::isfinite(number) ? number : T(1);
    }
    T whole(int most) { return static_cast<T>(bytes_.bits<std::int8_t>() % (most + 1)); }
    T digits() { return static_cast<T>(std::ldexp(static_cast<double>(bytes_.bits<std::int64_t>()), -63)); }

    Bytes& bytes_;
    Numbers<T> numbers_;
    int kind_;
    bool keeps_special_;
};

/// A square matrix, by rows and dense.
template <class S>
struct Square {
    std::int64_t n;
    std::vector<S> elements = std::vector<S>(static_cast<std::size_t>(n * n));

    S& operator()(std::int64_t i, std::int64_t j) { return elements[static_cast<std::size_t>(i * n + j)]; }
};

enum Symmetry { symmetric, skew, hermitian };

template <class S>
void make_symmetric(Square<S>& a, Symmetry kind) {
    for (std::int64_t i = 0; i < a.n; ++i) {
        if (kind == skew) a(i, i) = 0;
        if (kind == hermitian) a(i, i) = std::real(a(i, i));
        for (std::int64_t j = 0; j < i; ++j)
            a(i, j) = kind == skew ? -a(j, i) : kind == hermitian ? conjugate(a(j, i)) : a(j, i);
    }
}

/// The diagonal is what its row has beside it, or hardly more, as a Laplacian's.
template <class S>
void make_dominant(Square<S>& a, Bytes& bytes) {
    const bool all_negative = bytes.coin();
    for (std::int64_t i = 0; i < a.n; ++i) {
        RealOf<S> sum = 0;
        for (std::int64_t j = 0; j < a.n; ++j) {
            if (i == j) continue;
            if (all_negative) a(i, j) = -std::abs(a(i, j));
            sum += std::abs(a(i, j));
        }
        a(i, i) = sum + (bytes.coin() ? std::ldexp(RealOf<S>(1), -(bytes.byte() % 60)) : RealOf<S>(0));
    }
}

/// The last row is a sum of multiples of two others, but for one element that may be off by a little.
template <class S>
void make_dependent(Square<S>& a, Bytes& bytes, S off) {
    if (a.n < 2) return;
    const auto one = static_cast<RealOf<S>>(bytes.bits<std::int8_t>() % 6),
               two = static_cast<RealOf<S>>(bytes.bits<std::int8_t>() % 6);
    for (std::int64_t j = 0; j < a.n; ++j) a(a.n - 1, j) = one * a(0, j) + (a.n > 2 ? two * a(1, j) : S(0));
    a(a.n - 1, bytes.byte() % a.n) += off;
}

/// Rows and columns times powers of two, each its own; all of them by one more.
template <class S>
void scale(Square<S>& a, Bytes& bytes) {
    constexpr int most = std::numeric_limits<RealOf<S>>::max_exponent / 16;
    std::vector<int> exponents(static_cast<std::size_t>(2 * a.n));
    for (int& e : exponents) e = bytes.bits<std::int8_t>() * most / 128;
    const int all = bytes.coin() ? 0 : bytes.bits<std::int8_t>() * most / 9;
    for (std::int64_t i = 0; i < a.n; ++i)
        for (std::int64_t j = 0; j < a.n; ++j)
            for (RealOf<S>& part : real_view(std::span(&a(i, j), 1)))
                part = std::ldexp(part, exponents[i] + exponents[a.n + j] + all);
}

template <class S>
Square<S> some_square(Bytes& bytes, Elements<S>& elements, std::int64_t n) {
    Square<S> a{n};
    const int zeros = bytes.byte() % 4, shape = bytes.byte() % 12;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            if (i == j || zeros == 0 || bytes.byte() % 4 >= zeros) a(i, j) = elements.next();
    if (shape < 3) make_symmetric(a, static_cast<Symmetry>(shape));
    if (shape == 3) make_dominant(a, bytes);
    if (shape == 4) make_dependent(a, bytes, S(0));
    if (shape == 5) make_dependent(a, bytes, S(std::ldexp(RealOf<S>(1), -bytes.byte())));
    if (shape == 6)
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = i + 1; j < n; ++j) a(i, j) = 0;
    if (shape == 7) a(bytes.byte() % n, bytes.byte() % n) = 0;
    if (bytes.byte() % 4 == 0) scale(a, bytes);
    return a;
}

/// Elements of 0 are left out, mostly; now and then an element is stored as two entries, and rows are in no order.
template <class S>
CsrMatrix<S> stored(Square<S>& a, Bytes& bytes) {
    CsrMatrix<S> made{a.n, a.n, {0}, {}, {}};
    const bool keeps_zeros = bytes.byte() % 8 == 7, is_split = bytes.byte() % 8 == 7, turns_rows = bytes.byte() % 8 == 7;
    const auto store = [&](std::int64_t j, S value) {
        made.column_indices.push_back(static_cast<std::int32_t>(j));
        made.values.push_back(value);
    };
    for (std::int64_t i = 0; i < a.n; ++i) {
        for (std::int64_t k = 0; k < a.n; ++k) {
            const std::int64_t j = turns_rows ? a.n - 1 - k : k;
            if (a(i, j) == S(0) && !keeps_zeros) continue;
            const S part = is_split && bytes.coin() ? S(static_cast<RealOf<S>>(bytes.bits<std::int8_t>())) : S(0);
            store(j, a(i, j) - part);
            if (part != S(0)) store(j, part);
        }
        made.row_offsets.push_back(made.nonzeros());
    }
    return made;
}

/// A of up to 8 unknowns, complex ones of up to 4 where numbers are of any size: rational arithmetic takes its time.
template <class S>
CsrMatrix<S> some_square_matrix(Bytes& bytes, Elements<S>& elements) {
    const std::int64_t n = 1 + bytes.byte() % (is_complex<S> && elements.are_any() ? 4 : 8);
    Square<S> a = some_square(bytes, elements, n);
    return stored(a, bytes);
}

/// Vectors of elements, of any numbers, or of a few numbers other than 0.
template <class S>
DenseMatrix<S> some_vectors(Bytes& bytes, Elements<S>& elements, std::int64_t n, std::int64_t columns) {
    DenseMatrix<S> b{n, columns, {}};
    Elements<S> others(bytes);
    const int kind = bytes.byte() % 4;
    for (std::int64_t k = 0; k < n * columns; ++k)
        b.values.push_back(kind == 0 ? others.next() : kind == 1 && bytes.coin() ? S(0) : elements.next());
    return b;
}

}  // namespace solver::fuzz
