#pragma once

/// Hard inputs made from integers: no decimals, no libm but scaling by powers of two.

#include "matrices/random.hpp"
#include "solver/csr_matrix.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace solver::frozen {

using matrices::Random;

/// The numbers x_i, or the products x_i y_i.
template <class T>
struct Terms {
    std::vector<T> x;
    std::vector<T> y;

    void add(T a, T b) {
        x.push_back(a);
        y.push_back(b);
    }
    std::int64_t size() const { return static_cast<std::int64_t>(x.size()); }
};

/// +-[1, 2) 2^exponent with all bits drawn.
template <class T>
T number(Random& random, std::int64_t exponent) {
    constexpr int digits = std::numeric_limits<T>::digits;
    const std::uint64_t integer = random.bits() >> (64 - digits) | std::uint64_t{1} << (digits - 1);
    const T x = std::ldexp(static_cast<T>(integer), static_cast<int>(exponent) - digits + 1);
    return random.coin() ? x : -x;
}

inline std::int64_t between(Random& random, std::int64_t low, std::int64_t high) { return low + random.below(high - low + 1); }

/// Makes terms of one kind. `factors`: products; else every y is 1, or a power of two that a sum does not need.
template <class T>
class Maker {
public:
    Maker(std::uint64_t seed, bool factors) : random_(seed), factors_(factors) {}

    Terms<T> ordinary(std::int64_t n) {
        Terms<T> terms;
        while (terms.size() < n) {
            const T y = factors_ ? any(9) : T(1);  // drawn one by one: compilers order arguments as they like
            terms.add(any(9), y);
        }
        return terms;
    }

    /// Pairs that cancel, and one small term.
    Terms<T> cancelling(std::int64_t n) {
        Terms<T> terms = zeros(n - 1);
        terms.add(number<T>(random_, -40), T(1));
        return shuffled(terms);
    }

    /// Half way between two numbers.
    Terms<T> ties(std::int64_t n) {
        Terms<T> terms = zeros(n - 2);
        const T r = number<T>(random_, 0);
        const T half_gap = std::ldexp(T(1), -std::numeric_limits<T>::digits);
        terms.add(r, T(1));
        terms.add(random_.coin() ? half_gap : -half_gap, T(1));
        return shuffled(terms);
    }

    /// A tie but for one term far below.
    Terms<T> near_ties(std::int64_t n) {
        Terms<T> terms = ties(n - 1);
        terms.add(number<T>(random_, -std::numeric_limits<T>::digits - between(random_, 1, sizeof(T) == 4 ? 90 : 900)), T(1));
        return shuffled(terms);
    }

    Terms<T> zeros(std::int64_t n) {
        Terms<T> terms;
        while (terms.size() + 2 <= n) {
            const T x = any(20);
            const T y = factors_ ? any(20) : T(1);
            terms.add(x, y);
            terms.add(factors_ ? -x / 2 : -x, factors_ ? 2 * y : T(1));
        }
        return shuffled(terms);
    }

    /// Products around and below the smallest subnormal, or subnormal numbers.
    Terms<T> subnormal(std::int64_t n) {
        constexpr int digits = std::numeric_limits<T>::digits;
        constexpr int lowest = std::numeric_limits<T>::min_exponent - digits;
        Terms<T> terms;
        while (terms.size() < n) {
            const std::int64_t e = between(random_, lowest - 2, lowest + 2 * digits);
            const std::int64_t part = between(random_, -digits, digits);
            const T y = factors_ ? number<T>(random_, e - e / 2 - part) : T(1);
            terms.add(factors_ ? number<T>(random_, e / 2 + part)
                               : static_cast<T>(between(random_, -9999, 9999)) * std::numeric_limits<T>::denorm_min(),
                      y);
        }
        return terms;
    }

    /// Partial sums and products overflow, the sum does not.
    Terms<T> huge(std::int64_t n) {
        Terms<T> terms = ordinary(n / 2);
        while (terms.size() + 2 <= n) {
            terms.add(largest, factors_ ? T(4) : T(1));
            terms.add(-largest, factors_ ? T(4) : T(1));
        }
        return shuffled(terms);
    }

    /// The largest number and half a gap: the tie goes to Inf, and anything below it back.
    Terms<T> overflow(std::int64_t n) {
        Terms<T> terms = zeros(n - 3);
        const T sign = random_.coin() ? T(1) : T(-1);
        const T half_gap = std::ldexp(T(1), std::numeric_limits<T>::max_exponent - std::numeric_limits<T>::digits - 1);
        terms.add(sign * largest, T(1));
        terms.add(sign * half_gap, T(1));
        terms.add(random_.coin() ? T(0) : -sign, T(1));
        return shuffled(terms);
    }

    /// Inf, Inf - Inf, 0 Inf, or NaN.
    Terms<T> special(std::int64_t n) {
        constexpr T infinity = std::numeric_limits<T>::infinity();
        Terms<T> terms = ordinary(n - 2);
        const std::int64_t kind = random_.below(4);
        terms.add(kind == 3 ? std::numeric_limits<T>::quiet_NaN() : infinity, kind == 2 && factors_ ? T(0) : T(1));
        terms.add(kind == 1 ? -infinity : infinity, T(1));
        return shuffled(terms);
    }

private:
    static constexpr T largest = std::numeric_limits<T>::max();

    T any(int range) { return number<T>(random_, between(random_, -range, range)); }

    Terms<T> shuffled(Terms<T> terms) {
        for (std::int64_t i = terms.size(); i > 1; --i) {
            const std::int64_t j = random_.below(i);
            std::swap(terms.x[i - 1], terms.x[j]);
            std::swap(terms.y[i - 1], terms.y[j]);
        }
        return terms;
    }

    Random random_;
    bool factors_;
};

/// Each gives n terms (one less where they come in pairs; n >= 4).
template <class T>
struct Family {
    const char* name;
    Terms<T> (Maker<T>::*make)(std::int64_t n);
};

template <class T>
inline constexpr Family<T> families[] = {
    {"ordinary", &Maker<T>::ordinary},   {"cancelling", &Maker<T>::cancelling}, {"ties", &Maker<T>::ties},
    {"near_ties", &Maker<T>::near_ties}, {"zeros", &Maker<T>::zeros},           {"subnormal", &Maker<T>::subnormal},
    {"huge", &Maker<T>::huge},           {"overflow", &Maker<T>::overflow},     {"special", &Maker<T>::special}};

/// A matrix with a sum of every family in each of `rounds` groups of rows, lengths drawn, and the vector of the right factors.
template <class T>
struct HardSystem {
    CsrMatrix<T> a;
    std::vector<T> x;
};

template <class T>
HardSystem<T> hard_system(std::uint64_t seed, int rounds, std::int64_t longest) {
    Random random(seed);
    HardSystem<T> made;
    for (int round = 0; round < rounds; ++round)
        for (const Family<T>& family : families<T>) {
            const std::int64_t n = round == 0 ? longest : between(random, 4, 60);
            const Terms<T> terms = (Maker<T>(random.bits(), true).*family.make)(n);
            for (std::int64_t k = 0; k < terms.size(); ++k) {
                made.a.column_indices.push_back(static_cast<std::int32_t>(made.x.size()));
                made.a.values.push_back(terms.x[k]);
                made.x.push_back(terms.y[k]);
            }
            made.a.row_offsets.push_back(made.a.nonzeros());
        }
    made.a.rows = static_cast<std::int64_t>(made.a.row_offsets.size()) - 1;
    made.a.columns = static_cast<std::int64_t>(made.x.size());
    return made;
}

template <class T>
std::vector<T> numbers(std::uint64_t seed, std::int64_t n, std::int64_t low, std::int64_t high) {
    Random random(seed);
    std::vector<T> values(static_cast<std::size_t>(n));
    for (T& value : values) value = number<T>(random, between(random, low, high));
    return values;
}

}  // namespace solver::frozen
