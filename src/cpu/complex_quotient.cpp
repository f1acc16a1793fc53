#include "cpu/complex_quotient.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/complex_quotient.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "core/complex_quotient.hpp"
#include "cpu/simd/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// quotient::sum_of_products
template <class V>
struct EnclosedLanes {
    V value, error, lost;
};

template <class V>
HWY_INLINE EnclosedLanes<V> sum_of_products_lanes(V x, V p, V y, V q) {
    const hn::DFromV<V> d;
    const SplitLanes<V> a = two_prod_lanes(x, p), b = two_prod_lanes(y, q);
    const SplitLanes<V> s = two_sum_lanes(a.value, b.value);
    const V error = hn::Add(s.error, hn::Add(a.error, b.error));
    const V errors = hn::Add(hn::Abs(error), hn::Add(hn::Abs(a.error), hn::Abs(b.error)));
    return {s.value, error, hn::Mul(hn::Set(d, 8 * unit_roundoff<double>), errors)};
}

template <class V>
HWY_INLINE auto is_usual_lanes(V x) {
    const hn::DFromV<V> d;
    const V size = hn::Abs(x);
    const auto in_range = hn::And(hn::Ge(size, hn::Set(d, 0x1p-240)), hn::Le(size, hn::Set(d, 0x1p240)));
    return hn::Or(in_range, hn::Eq(x, hn::Zero(d)));
}

/// quotient_of_sums and quotient::enclose: stores quotients, or returns false where one of them is not proven. What the
/// correction and the bound lose when they are added up is in 4 u of the correction.
template <class V>
HWY_INLINE bool try_quotients(V x, V y, V p, V q, double* quotients) {
    const hn::DFromV<V> d;
    constexpr double u = unit_roundoff<double>;
    const EnclosedLanes<V> n = sum_of_products_lanes(x, p, y, q), divisor = sum_of_products_lanes(p, p, q, q);
    const V k = hn::Div(n.value, divisor.value);
    const SplitLanes<V> product = two_prod_lanes(k, divisor.value);
    const V remainder = hn::Sub(hn::Sub(n.value, product.value), product.error);  // exact, as each of the differences is
    const V rest = hn::Sub(hn::Add(remainder, n.error), hn::Mul(k, divisor.error));
    const V correction = hn::Div(rest, divisor.value);
    const V of_k = hn::Mul(hn::Set(d, 32 * u * u), hn::Abs(k)), of_correction = hn::Mul(hn::Set(d, 4 * u), hn::Abs(correction));
    const V bound = hn::Add(hn::Add(of_k, hn::Div(n.lost, divisor.value)), of_correction);
    const V low = hn::Add(k, hn::Sub(correction, bound)), high = hn::Add(k, hn::Add(correction, bound));
    const auto usual = hn::And(hn::And(is_usual_lanes(x), is_usual_lanes(y)), hn::And(is_usual_lanes(p), is_usual_lanes(q)));
    const auto enclosed = hn::And(hn::Eq(low, high), hn::Ge(hn::Abs(k), hn::Set(d, 0x1p-480)));
    const auto by_real = hn::Eq(q, hn::Zero(d)), by_imaginary = hn::Eq(p, hn::Zero(d));
    const auto is_real = hn::Or(by_real, by_imaginary);
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Or(is_real, hn::And(usual, enclosed))))) return false;
    const V real = hn::IfThenElse(by_real, hn::Div(x, p), hn::Div(y, q));
    hn::StoreU(hn::IfThenElse(is_real, real, low), d, quotients);
    return true;
}

/// Real quotients are enclosed like others, but the sign of a zero is not known.
template <class V>
HWY_INLINE bool try_quotients(V x, V y, V p, V q, float* quotients) {
    const hn::DFromV<V> d;
    const hn::Rebind<float, decltype(d)> floats;
    const V n = hn::Add(hn::Mul(x, p), hn::Mul(y, q));
    const V k = hn::Div(n, hn::Add(hn::Mul(p, p), hn::Mul(q, q)));
    const V bound = hn::Mul(hn::Set(d, 8 * unit_roundoff<double>), hn::Abs(k));
    const auto low = round_to_floats(floats, hn::Sub(k, bound)), high = round_to_floats(floats, hn::Add(k, bound));
    const auto proven = hn::And(hn::Eq(low, high), hn::Ne(low, hn::Zero(floats)));
    if (HWY_UNLIKELY(!hn::AllTrue(floats, hn::And(proven, is_finite_lanes(low))))) return false;
    hn::StoreU(low, floats, quotients);
    return true;
}

/// As many quotients from the first on as fill whole vectors; how many.
template <class T>
HWY_INLINE std::int64_t divide_in_lanes(std::int64_t n, const T* a, const T* b, T* quotients) {
    const hn::ScalableTag<double> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    if (lanes % 2 != 0) return 0;
    HWY_ALIGN static constexpr double signs[] = {1, -1};
    const auto sign = hn::LoadDup128(d, signs);
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        const auto x = load_widened(d, a + i), z = load_widened(d, b + i);
        const auto p = hn::DupEven(z), q = hn::Mul(hn::DupOdd(z), sign);  // Im a / b is of y p + x (-q)
        if (!try_quotients(x, hn::Reverse2(d, x), p, q, quotients + i))
            for (std::int64_t j = i; j < i + lanes; ++j) quotients[j] = quotient_part(a, b, j);
    }
    return i;
}

#endif

template <class T>
void divide_complex(std::int64_t n, const T* a, const T* b, T* quotients) {
    std::int64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
    done = divide_in_lanes(n, a, b, quotients);
#endif
    for (std::int64_t i = done; i < n; ++i) quotients[i] = quotient_part(a, b, i);
}

void divide_complex_double(std::int64_t n, const double* a, const double* b, double* quotients) {
    divide_complex(n, a, b, quotients);
}
void divide_complex_float(std::int64_t n, const float* a, const float* b, float* quotients) {
    divide_complex(n, a, b, quotients);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(divide_complex_double);
HWY_EXPORT(divide_complex_float);

namespace cpu {

void divide_complex(std::int64_t n, const double* a, const double* b, double* quotients) {
    HWY_DYNAMIC_DISPATCH(divide_complex_double)(n, a, b, quotients);
}
void divide_complex(std::int64_t n, const float* a, const float* b, float* quotients) {
    HWY_DYNAMIC_DISPATCH(divide_complex_float)(n, a, b, quotients);
}

}  // namespace cpu
}  // namespace solver
#endif  // HWY_ONCE
