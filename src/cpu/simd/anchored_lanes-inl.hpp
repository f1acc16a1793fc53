// Lanes of AnchoredPair; re-included for every Highway target.

#if defined(SOLVER_CPU_ANCHORED_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SOLVER_CPU_ANCHORED_LANES_INL_HPP
#undef SOLVER_CPU_ANCHORED_LANES_INL_HPP
#else
#define SOLVER_CPU_ANCHORED_LANES_INL_HPP
#endif

#include "cpu/simd/lanes-inl.hpp"
#include "solver/numeric/anchored_pair.hpp"

#include <bit>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

#if HWY_NATIVE_FMA

/// Lanes of AnchoredPair, every lane with an anchor of its own; the proofs are there.
template <std::size_t limit>
class AnchoredPairLanes {
public:
    using D = hn::CappedTag<double, limit>;
    using V = hn::Vec<D>;

    HWY_INLINE AnchoredPairLanes() : AnchoredPairLanes(hn::Zero(D()), AnchoredPair::room_for(1)) {}

    /// `largest`: magnitudes of the largest products known. One that is a NaN may give any anchor: its sum decides nothing.
    HWY_INLINE AnchoredPairLanes(V largest, int room) : d_(hn::Zero(D())), seen_(d_) {
        const D d;
        const V most = hn::Set(d, std::bit_cast<double>(static_cast<std::uint64_t>(2040 - room) << 52));
        const V least = hn::Set(d, std::bit_cast<double>(std::uint64_t{200} << 52));
        const V clamped = hn::Min(hn::Max(largest, least), most);
        const auto half = hn::Set(Bits(), std::int64_t{1} << 51);
        sigma_ = hn::BitCast(d, hn::Or(hn::BitCast(Bits(), scaled(clamped, room)), half));
        s_ = sigma_;
    }

    HWY_INLINE void add_product(V a, V b) {
        const V t = hn::MulAdd(a, b, s_);
        d_ = hn::Add(d_, hn::MulSub(a, b, hn::Sub(t, s_)));
        seen_ = hn::Or(seen_, hn::Xor(t, sigma_));
        s_ = t;
    }
    HWY_INLINE void negate() {
        s_ = hn::Sub(sigma_, hn::Sub(s_, sigma_));
        d_ = hn::Neg(d_);
    }

    /// Of n products.
    HWY_INLINE Results<D> results(std::int32_t n) const {
        const D d;
        const V bound = scaled(sigma_, 2 * digits_of(n + 3) - 107);
        const V b = hn::MulAdd(hn::Set(d, 4 * unit_roundoff<double>), hn::Abs(d_), bound);
        const V high_part = hn::Sub(s_, sigma_);
        const V low = hn::Add(high_part, hn::Sub(d_, b));
        const V high = hn::Add(high_part, hn::Add(d_, b));
        return {low, hn::And(hn::Eq(low, high), stayed())};
    }

    /// What results() has `proven`, and more where all products are multiples of q = 2^-52 `grid`: in every lane a power of 2,
    /// or Inf where all are 0.
    HWY_INLINE Results<D> results_on_grid(hn::Mask<D> proven, V grid, std::int32_t n) const {
        const D d;
        const V most_rests = scaled(sigma_, digits_of(n) - 53);  // n g/2 at most
        const auto lossless =
            hn::And(hn::Le(most_rests, hn::Add(grid, grid)), hn::Ge(grid, hn::Set(d, std::numeric_limits<double>::min())));
        return {hn::Add(hn::Sub(s_, sigma_), d_), hn::Or(hn::And(lossless, stayed()), proven)};
    }

private:
    using Bits = hn::RebindToSigned<D>;

    HWY_INLINE static int digits_of(std::int32_t n) { return static_cast<int>(std::bit_width(static_cast<std::uint32_t>(n))); }
    /// The power of 2 that leads a, times 2^by.
    HWY_INLINE static V scaled(V a, int by) {
        const auto exponent = hn::And(hn::BitCast(Bits(), a), hn::Set(Bits(), std::int64_t{0x7FF} << 52));
        return hn::BitCast(D(), hn::Add(exponent, hn::Set(Bits(), std::int64_t{by} * (std::int64_t{1} << 52))));
    }
    HWY_INLINE hn::Mask<D> stayed() const {
        const auto exponent_and_sign = hn::Set(Bits(), std::int64_t{-1} * (std::int64_t{1} << 52));
        const auto changed = hn::And(hn::BitCast(Bits(), seen_), exponent_and_sign);
        return hn::RebindMask(D(), hn::Eq(changed, hn::Zero(Bits())));
    }

    V s_;
    V d_;
    V seen_;  ///< bits in which an s differed from the anchor
    V sigma_;
};

template <std::size_t limit>
struct LanesOf<AnchoredPair, limit> : std::type_identity<AnchoredPairLanes<limit>> {};

#endif

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
