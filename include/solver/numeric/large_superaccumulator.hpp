#pragma once

/// Exact sums of very many numbers, faster than one superaccumulator can take them.

#include "solver/numeric/superaccumulator.hpp"

namespace solver {

/// Holds sum x_i as an exact number: one bucket of 64 bits for every sign and exponent, into which significands are added as
/// integers (the large superaccumulator of Neal, arXiv 1505.05571), emptied into a Superaccumulator every 2048 terms. Three
/// instructions a term, but 33 KB of state: worth it from some thousand terms on.
///
/// About 1 ns a term where the Superaccumulator takes 2.4 (one core at 3.6 GHz, -O2); terms whose exponents scatter over
/// hundreds of values go there directly.
/// For products: both halves of two_prod, where product_is_exact holds, else `total().add_product`.
class LargeSuperaccumulator {
public:
    /// The sum of x[0..n).
    void add(const double* x, std::int64_t n) noexcept {
        while (n > 0 && !scattered_) {
            if (pending_ == endurance) empty_buckets();
            const std::int64_t block = n < endurance - pending_ ? n : endurance - pending_;
            add_block(x, block);
            x += block;
            n -= block;
        }
        for (std::int64_t i = 0; i < n; ++i) total_.add(x[i]);
    }

    /// The sum so far, for the result, for merging, or to add what is not in an array.
    Superaccumulator& total() noexcept {
        empty_buckets();
        return total_;
    }

private:
    static constexpr int fraction_bits = 52;
    static constexpr int buckets = 4096;  // sign and exponent
    static constexpr int group = 64;      // buckets that share a mark
    static constexpr int negative = 2048;
    static constexpr int non_finite = 2047;
    static constexpr int eta_exponent = 1074;
    static constexpr std::int64_t endurance = 2048;  // 2^11 (2^53 - 1) < 2^64

    void add_block(const double* x, std::int64_t n) noexcept {
        constexpr std::uint64_t implicit = std::uint64_t{1} << fraction_bits;
        for (std::int64_t i = 0; i < n; ++i) {
            const auto bits = std::bit_cast<std::uint64_t>(x[i]);
            bucket_[bits >> fraction_bits] += (bits & (implicit - 1)) | implicit;
            touched_[bits >> fraction_bits >> 6] = 1;
        }
        pending_ += n;
        if ((bucket_[0] | bucket_[negative] | bucket_[non_finite] | bucket_[negative + non_finite]) != 0) add_unusual(x, n);
    }

    /// Zeros, subnormals, Inf and NaN have no implicit bit: what the block put into their buckets is done again, one by one.
    void add_unusual(const double* x, std::int64_t n) noexcept {
        bucket_[0] = bucket_[negative] = bucket_[non_finite] = bucket_[negative + non_finite] = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            const bool normal = magnitude(x[i]) >= std::numeric_limits<double>::min() && is_finite(x[i]);
            if (!normal && x[i] != 0) total_.add(x[i]);
        }
    }

    void empty_buckets() noexcept {
        std::int64_t emptied = 0;
        for (int first = 0; first < buckets; first += group) {
            if (touched_[first / group] == 0) continue;
            touched_[first / group] = 0;
            for (int k = first; k < first + group; ++k) {
                if (bucket_[k] == 0) continue;
                total_.add_integer(bucket_[k], k >= negative, k % negative - 1 - eta_exponent);
                bucket_[k] = 0;
                ++emptied;
            }
        }
        scattered_ = pending_ == endurance && emptied > endurance / 4;
        pending_ = 0;
    }

    std::uint64_t bucket_[buckets] = {};
    std::uint8_t touched_[buckets / group] = {};
    std::int64_t pending_ = 0;
    bool scattered_ = false;  ///< exponents so far apart that emptying costs more than it saves
    Superaccumulator total_;
};

}  // namespace solver
