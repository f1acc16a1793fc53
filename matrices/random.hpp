#pragma once

/// Random numbers that are the same on every machine and with every standard library.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace solver::matrices {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): 64 bits of state, period 2^64, integer operations only.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    /// One of 0, ..., count - 1, for 0 < count <= 2^32; the bias, below count / 2^32, is of no matter here.
    std::int64_t below(std::int64_t count) {
        return static_cast<std::int64_t>(((bits() >> 32) * static_cast<std::uint64_t>(count)) >> 32);
    }

    /// A multiple of 2^-53 in [0, 1).
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

    /// A multiple of 2^-52 in [-1, 1).
    double signed_uniform() { return 2 * uniform() - 1; }

    /// That times 2^exponent.
    double signed_uniform(int exponent) { return signed_uniform() * power_of_two(exponent); }

    /// Spread over magnitudes as conductances are: an exponent from [low, high), evenly, and a significand of 11 bits.
    /// Sums of such numbers are exact in double as long as their exponents stay within 52 - 11 of each other.
    double magnitude(int low, int high) {
        const auto exponent = low + static_cast<int>(below(high - low));
        return static_cast<double>(1024 + below(1024)) * 0x1p-10 * power_of_two(exponent);
    }

    bool coin() { return (bits() >> 63) != 0; }

    /// Fisher and Yates.
    template <class T>
    void shuffle(std::vector<T>& items) {
        for (std::size_t i = items.size(); i > 1; --i)
            std::swap(items[i - 1], items[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    }

    /// 2^exponent by repeated exact multiplication, for exponents of normal numbers.
    static double power_of_two(int exponent) {
        double power = 1;
        for (; exponent > 0; --exponent) power *= 2;
        for (; exponent < 0; ++exponent) power *= 0.5;
        return power;
    }

private:
    std::uint64_t state_;
};

/// signed_uniform() n times, rounded to T.
template <class T>
std::vector<T> random_vector(Random& random, std::int64_t n) {
    std::vector<T> x(static_cast<std::size_t>(n));
    for (T& element : x) element = static_cast<T>(random.signed_uniform());
    return x;
}
template <class T>
std::vector<T> random_vector(std::int64_t n, std::uint64_t seed) {
    Random random(seed);
    return random_vector<T>(random, n);
}

}  // namespace solver::matrices
