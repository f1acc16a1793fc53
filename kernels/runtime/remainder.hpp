#pragma once

/// Remainders of 31-bit integers by 8-bit moduli, without a division.

#include <cstdint>

namespace solver::cuda {

/// x mod p in 0..p-1 for |x| <= 2^30 and 129 <= p <= 256: a multiplication, a shift and a multiplication.
///
/// M = 2^38 / p rounded to nearest, so M p = 2^38 + e with |e| <= p / 2, and e = 0 for p = 256. Then
/// (x M + 2^29) / 2^38 = x / p + f with f = (x e / p + 2^29) / 2^38, and 0 <= x e / p + 2^29 <= 2^30, which is below 2^38 / p
/// for p < 256; for p = 256 it is 2^29. So 0 <= f < 1 / p: too little to lift x / p to the next integer, and the shift gives
/// floor(x / p) exactly, for negative x, too.
class Remainder {
public:
    Remainder() = default;
    constexpr explicit Remainder(std::int32_t p)
        : minus_p_(-p), reciprocal_(static_cast<std::int32_t>(((1ll << 38) + p / 2) / p)) {}

    constexpr std::uint32_t operator()(std::int32_t x) const {
        const std::int64_t product = static_cast<std::int64_t>(x) * reciprocal_ + (1ll << 29);
        return static_cast<std::uint32_t>(x + (static_cast<std::int32_t>(product >> 32) >> 6) * minus_p_);
    }

private:
    std::int32_t minus_p_;
    std::int32_t reciprocal_;  ///< M
};

}  // namespace solver::cuda
