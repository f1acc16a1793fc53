#include "preparation/log2.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "preparation/log2.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;

/// preparation::log2_magnitude of normal numbers above zero, given their bits.
template <class V>
HWY_INLINE V log2_of_bits(V bits) {
    const hn::DFromV<V> d;
    const hn::Repartition<std::uint32_t, decltype(d)> halves;
    const V zero = hn::Zero(d), one = hn::Set(d, std::uint64_t{1});
    V mantissa = hn::ShiftRight<32>(hn::Or(hn::ShiftLeft<11>(bits), hn::ShiftLeft<63>(one)));
    V fraction = zero;
    for (int bit = 0; bit < log2_fraction_bits; ++bit) {
        const auto factor = hn::BitCast(halves, mantissa);  // below 2^32
        mantissa = hn::ShiftRight<31>(hn::MulEven(factor, factor));
        const V carry = hn::ShiftRight<32>(mantissa);
        mantissa = hn::IfThenElse(hn::Eq(carry, zero), mantissa, hn::ShiftRight<1>(mantissa));
        fraction = hn::Or(hn::ShiftLeft<1>(fraction), carry);
    }
    const V exponent = hn::Sub(hn::ShiftRight<52>(bits), hn::Set(d, std::uint64_t{1023}));
    return hn::Add(hn::ShiftLeft<log2_fraction_bits>(exponent), fraction);
}

HWY_INLINE auto load_doubles(hn::ScalableTag<double> d, const double* x) { return hn::LoadU(d, x); }
HWY_INLINE auto load_doubles(hn::ScalableTag<double> d, const float* x) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, decltype(d)>(), x));
}

/// Of as many numbers as fill vectors, from the first on; how many these were. Vectors with a number that is not normal are
/// left to the caller one by one.
template <class T>
HWY_INLINE std::size_t log2_by_vectors(const T* x, std::size_t count, std::int32_t* logarithms) {
    const hn::ScalableTag<double> d;
    const hn::RebindToUnsigned<decltype(d)> words;
    const hn::Rebind<std::uint32_t, decltype(words)> narrow;
    const hn::RebindToSigned<decltype(narrow)> integers;
    const auto smallest = hn::Set(d, 0x1p-1022);
    std::size_t i = 0;
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
        const auto sizes = hn::Abs(load_doubles(d, x + i));
        if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Ge(sizes, smallest)))) {
            for (std::size_t k = i; k < i + hn::Lanes(d); ++k) logarithms[k] = preparation::log2_magnitude(x[k]);
            continue;
        }
        const auto found = hn::TruncateTo(narrow, log2_of_bits(hn::BitCast(words, sizes)));
        hn::StoreU(hn::BitCast(integers, found), integers, logarithms + i);
    }
    return i;
}
#else
template <class T>
std::size_t log2_by_vectors(const T*, std::size_t, std::int32_t*) {
    return 0;
}
#endif

template <class T>
HWY_INLINE void log2_of_all(const T* x, std::size_t count, std::int32_t* logarithms) {
    for (std::size_t i = log2_by_vectors(x, count, logarithms); i < count; ++i)
        logarithms[i] = preparation::log2_magnitude(x[i]);
}

void log2_of_doubles(const double* x, std::size_t count, std::int32_t* logarithms) { log2_of_all(x, count, logarithms); }
void log2_of_floats(const float* x, std::size_t count, std::int32_t* logarithms) { log2_of_all(x, count, logarithms); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(log2_of_doubles);
HWY_EXPORT(log2_of_floats);

namespace preparation {

void log2_magnitudes(std::span<const double> x, std::int32_t* logarithms) {
    HWY_DYNAMIC_DISPATCH(log2_of_doubles)(x.data(), x.size(), logarithms);
}

void log2_magnitudes(std::span<const float> x, std::int32_t* logarithms) {
    HWY_DYNAMIC_DISPATCH(log2_of_floats)(x.data(), x.size(), logarithms);
}

}  // namespace preparation
}  // namespace solver
#endif  // HWY_ONCE
