#pragma once

/// Inputs that break summation algorithms, the same on every machine: integer random numbers, no libm but exact scaling.

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "support/oracle.hpp"

namespace solver::testing {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool coin() { return (next() & 1) != 0; }

    /// +-[1, 2) 2^exponent with a full random significand.
    template <std::floating_point T>
    T number(int exponent = 0) {
        constexpr int digits = std::numeric_limits<T>::digits;
        const std::uint64_t integer = (next() >> (64 - digits)) | std::uint64_t{1} << (digits - 1);
        const T x = std::ldexp(static_cast<T>(integer), exponent - digits + 1);
        return coin() ? x : -x;
    }

private:
    std::uint64_t state_;
};

/// The dot product sum a_i b_i; b_i = 1 where only a sum is meant.
template <std::floating_point T>
struct Terms {
    std::vector<T> a;
    std::vector<T> b;

    void add(T x, T y = T(1)) {
        a.push_back(x);
        b.push_back(y);
    }
    std::size_t size() const { return a.size(); }
};

/// Each class gives about n terms (n >= 8).
template <std::floating_point T>
struct AdversarialClass {
    const char* name;
    Terms<T> (*make)(Random& random, std::size_t n);
};

namespace adversarial {

template <class T>
constexpr int digits = std::numeric_limits<T>::digits;
template <class T>
constexpr int lowest = std::numeric_limits<T>::min_exponent - digits<T>;  // exponent of the smallest subnormal: -149, -1074

template <class T>
void shuffle(Terms<T>& terms, Random& random) {
    for (std::size_t i = terms.size(); i > 1; --i) {
        const auto j = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1));
        std::swap(terms.a[i - 1], terms.a[j]);
        std::swap(terms.b[i - 1], terms.b[j]);
    }
}

/// x y and -(x y), written as different products.
template <class T>
void add_cancelling_pair(Terms<T>& terms, Random& random, int range) {
    const T x = random.number<T>(static_cast<int>(random.between(-range, range)));
    const T y = random.number<T>(static_cast<int>(random.between(-range, range)));
    terms.add(x, y);
    terms.add(-y / 2, x * 2);
}

template <class T>
Terms<T> random_products(Random& random, std::size_t n) {
    Terms<T> terms;
    while (terms.size() < n)
        terms.add(random.number<T>(static_cast<int>(random.between(-9, 9))),
                  random.number<T>(static_cast<int>(random.between(-9, 9))));
    return terms;
}

template <class T>
Terms<T> random_numbers(Random& random, std::size_t n) {
    Terms<T> terms;
    while (terms.size() < n) terms.add(random.number<T>(static_cast<int>(random.between(-3, 3))));
    return terms;
}

template <class T>
Terms<T> same_sign(Random& random, std::size_t n) {
    Terms<T> terms;
    while (terms.size() < n) terms.add(std::abs(random.number<T>()), std::abs(random.number<T>()));
    return terms;
}

/// Condition number about 2^c for a random c (GenDot of Ogita, Rump, Oishi 2005, algorithm 6.1).
template <class T>
Terms<T> ill_conditioned(Random& random, std::size_t n) {
    const int largest = std::is_same_v<T, float> ? 100 : 960;  // up to 1e289
    const auto half_condition = static_cast<int>(random.between(digits<T>, largest) / 2);
    Terms<T> terms;
    Oracle sum(4 * largest + 300);
    const auto add = [&](T x, T y) {
        terms.add(x, y);
        sum.add_product(x, y);
    };
    add(random.number<T>(half_condition), random.number<T>(half_condition));
    while (terms.size() < n / 2) {
        const auto e = static_cast<int>(random.between(0, half_condition));
        add(random.number<T>(e), random.number<T>(e));
    }
    for (std::size_t left = n - terms.size(); left > 0; --left) {
        const auto e = static_cast<int>(half_condition * static_cast<std::int64_t>(left) / static_cast<std::int64_t>(n));
        const T x = random.number<T>(e);
        add(x, static_cast<T>((static_cast<double>(random.number<T>(e)) - sum.rounded<double>()) / static_cast<double>(x)));
    }
    shuffle(terms, random);
    return terms;
}

/// A number r, half the gap to its neighbour, and what cancels exactly: the sum is a tie.
template <class T>
Terms<T> ties(Random& random, std::size_t n) {
    Terms<T> terms;
    const T r = random.number<T>();
    const T half_gap = std::ldexp(T(1), -digits<T>);
    terms.add(r, T(4));
    terms.add(random.coin() ? half_gap : -half_gap, T(4));
    while (terms.size() + 2 <= n) add_cancelling_pair(terms, random, random.coin() ? 1 : 12);
    shuffle(terms, random);
    return terms;
}

/// A tie and one term far below it.
template <class T>
Terms<T> near_ties(Random& random, std::size_t n) {
    Terms<T> terms = ties<T>(random, n - 1);
    const auto far = static_cast<int>(random.between(1, std::is_same_v<T, float> ? 110 : 900));
    terms.add(random.number<T>(-digits<T> - far));
    shuffle(terms, random);
    return terms;
}

template <class T>
Terms<T> exact_zeros(Random& random, std::size_t n) {
    Terms<T> terms;
    const int range = random.coin() ? 2 : 25;
    while (terms.size() + 2 <= n) add_cancelling_pair(terms, random, range);
    terms.add(random.coin() ? T(0) : -T(0), random.number<T>());
    shuffle(terms, random);
    return terms;
}

/// Products around and far below the smallest subnormal, and subnormals themselves.
template <class T>
Terms<T> underflowing(Random& random, std::size_t n) {
    Terms<T> terms;
    while (terms.size() < n) {
        const auto e = static_cast<int>(random.between(lowest<T> - 2, lowest<T> + 2 * digits<T>));
        const auto part = static_cast<int>(random.between(-digits<T>, digits<T>));
        terms.add(random.number<T>(e / 2 + part), random.number<T>(e - e / 2 - part));
        if (random.between(0, 3) == 0)
            terms.add(static_cast<T>(random.between(-9, 9)) * std::numeric_limits<T>::denorm_min(), random.number<T>());
    }
    return terms;
}

/// Any finite numbers; the products cover the full range, most often without overflow.
template <class T>
Terms<T> extreme_exponents(Random& random, std::size_t n) {
    constexpr int most = std::numeric_limits<T>::max_exponent - 1;
    Terms<T> terms;
    while (terms.size() < n) {
        const auto e = static_cast<int>(random.between(lowest<T> + digits<T>, most - 4));
        const auto f = static_cast<int>(random.between(lowest<T> + digits<T>, most - 4));
        const bool may_overflow = random.between(0, 199) == 0;
        terms.add(random.number<T>(e), random.number<T>(e + f > most - 4 && !may_overflow ? -f : f));
    }
    return terms;
}

/// Partial sums, or products, overflow; the sum does not.
template <class T>
Terms<T> intermediate_overflow(Random& random, std::size_t n) {
    constexpr T huge = std::numeric_limits<T>::max();
    Terms<T> terms = random_products<T>(random, n / 2);
    const bool products_too = random.coin();
    while (terms.size() + 2 <= n) {
        const T factor = products_too ? T(4) : T(1);
        terms.add(huge, factor);
        terms.add(-huge, factor);
    }
    shuffle(terms, random);
    return terms;
}

template <class T>
Terms<T> few_bit_integers(Random& random, std::size_t n) {
    Terms<T> terms;
    while (terms.size() < n) terms.add(static_cast<T>(random.between(-8, 8)), static_cast<T>(random.between(-16, 16)) / 8);
    return terms;
}

/// In two-fold arithmetic of unit roundoff 2^-p (p the digits): c = 1, then m errors of exactly u, each lost, then an s that
/// puts a rounding boundary at 2^k u with m / 2 < 2^k < m. `depth` 2 does the same to the third term of a triple.
template <class T>
Terms<T> lost_errors(Random& random, std::size_t n, int depth) {
    const auto exponent = static_cast<int>(random.between(-9, 9));
    const T unit = random.coin() ? std::ldexp(T(1), exponent) : -std::ldexp(T(1), exponent);
    const T u = std::ldexp(unit, -digits<T>);
    const T first = std::ldexp(unit, digits<T> + 3);
    const T second = std::ldexp(unit, 2 * digits<T> + 9);
    const std::int64_t lost = static_cast<std::int64_t>(n > 14 ? n - 6 : 8);
    int k = 0;
    while ((std::int64_t{2} << k) < lost) ++k;
    if (k > 0 && random.coin()) --k;
    Terms<T> terms;
    if (depth == 2) terms.add(second);
    terms.add(first);
    terms.add(unit);
    for (std::int64_t i = 0; i < lost; ++i) terms.add(u);
    terms.add(-first);
    if (depth == 2) terms.add(-second);
    const auto j = random.between(0, std::int64_t{1} << (digits<T> - 2));
    const T s = std::ldexp(unit, k) + std::ldexp(u, k + 1) * static_cast<T>(j);
    terms.add(s);
    return terms;
}

template <class T>
Terms<T> lost_errors_of_a_pair(Random& random, std::size_t n) {
    return lost_errors<T>(random, n, 1);
}

template <class T>
Terms<T> lost_errors_of_a_triple(Random& random, std::size_t n) {
    return lost_errors<T>(random, n, 2);
}

/// Terms whose lost errors add up as far as the bound allows, for a sum that takes the two errors of a product one by one, each
/// losing up to u c: c = 2, s in [2, 4), and products in [1, 2) whose addition to s loses 2u and whose own error has the same
/// sign.
template <class T>
Terms<T> lost_halves(Random& random, std::size_t n) {
    int k = 6;
    while ((std::size_t{2} << k) < n) ++k;  // a boundary at 2^k of the lost 2u
    const auto lost = (std::int64_t{1} << k) - 16;
    const T first = std::ldexp(T(1), digits<T> + 4);
    Terms<T> terms;
    terms.add(first);
    terms.add(T(2));
    terms.add(-first);
    T s = T(2.5);
    terms.add(s);
    for (std::int64_t found = 0; found < lost;) {
        const T a = std::abs(random.number<T>());
        const T b = (s > T(3) ? -1 : 1) * std::abs(random.number<T>()) / 2;
        const T product = a * b;
        const T error = std::fma(a, b, -product);
        const T sum = s + product;
        const T kept = sum - s;
        if (sum >= 4 || sum < 2 || product - kept != std::ldexp(T(1), 1 - digits<T>) || error < std::ldexp(T(0.75), -digits<T>))
            continue;
        terms.add(a, b);
        s = sum;
        ++found;
    }
    terms.add(-s);
    const auto j = random.between(0, std::int64_t{1} << (digits<T> - 3));
    terms.add(std::ldexp(T(1), k + 1) + std::ldexp(static_cast<T>(j), k + 2 - digits<T>));
    return terms;
}

/// Terms whose lost errors add up as far as the bound allows, of floats summed in double: c = 1, errors of 2^-53, and s in
/// double (from three floats) that puts a boundary of float three quarters of the way.
template <class T>
Terms<T> lost_errors_in_double(Random& random, std::size_t n) {
    const auto lost = static_cast<std::int64_t>(n > 16 ? n - 6 : 10);
    const double delta = std::ldexp(static_cast<double>((lost * random.between(2, 4)) / 10 * 2), -53);
    const double boundary = 2 + std::ldexp(static_cast<double>(2 * random.between(0, 1 << 20) + 1), -23);
    double rest = boundary - 1 - delta;
    Terms<T> terms;
    const T unit = random.coin() ? T(1) : T(-1);
    terms.add(std::ldexp(unit, 56));
    terms.add(unit);
    for (std::int64_t i = 0; i < lost; ++i) terms.add(std::ldexp(unit, -53));
    terms.add(-std::ldexp(unit, 56));
    while (rest != 0) {
        const auto part = static_cast<float>(rest);
        terms.add(static_cast<T>(part) * unit);
        rest -= double{part};
    }
    return terms;
}

template <class T>
Terms<T> non_finite(Random& random, std::size_t n) {
    constexpr T inf = std::numeric_limits<T>::infinity();
    Terms<T> terms = random_products<T>(random, n);
    const auto place = [&] { return static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(terms.size()) - 1)); };
    switch (random.between(0, 4)) {
        case 0:
            terms.a[place()] = std::numeric_limits<T>::quiet_NaN();
            break;
        case 1:
            terms.a[place()] = inf;
            break;
        case 2:
            terms.b[place()] = -inf;
            break;
        case 3:
            terms.add(inf);
            terms.add(-inf);
            break;
        default:
            terms.add(T(0), inf);
    }
    return terms;
}

}  // namespace adversarial

/// Every class, the finite ones first and `non_finite` last.
template <std::floating_point T>
std::span<const AdversarialClass<T>> adversarial_classes() {
    using namespace adversarial;
    static constexpr std::array<AdversarialClass<T>, 17> classes{{
        {"random products", random_products<T>},
        {"random numbers", random_numbers<T>},
        {"same sign", same_sign<T>},
        {"ill conditioned", ill_conditioned<T>},
        {"ties", ties<T>},
        {"near ties", near_ties<T>},
        {"exact zeros", exact_zeros<T>},
        {"underflowing", underflowing<T>},
        {"extreme exponents", extreme_exponents<T>},
        {"intermediate overflow", intermediate_overflow<T>},
        {"few-bit integers", few_bit_integers<T>},
        {"lost errors of a pair", lost_errors_of_a_pair<T>},
        {"lost errors of a triple", lost_errors_of_a_triple<T>},
        {"lost halves", lost_halves<T>},
        {"lost errors in double", lost_errors_in_double<T>},
        {"near ties, long", [](Random& random, std::size_t n) { return near_ties<T>(random, 4 * n); }},
        {"non-finite", non_finite<T>},
    }};
    return classes;
}

/// All but `non_finite`.
template <std::floating_point T>
std::span<const AdversarialClass<T>> finite_adversarial_classes() {
    return adversarial_classes<T>().first(adversarial_classes<T>().size() - 1);
}

}  // namespace solver::testing
