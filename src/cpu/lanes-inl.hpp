// Accumulators in vector lanes: every lane is one accumulator of include/solver/numeric, with the same operations in the same order.
// Re-included for every Highway target; the text of the error-free transformations is repeated here because a function compiled
// for the baseline cannot handle a target's vectors.

#if defined(SOLVER_CPU_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SOLVER_CPU_LANES_INL_HPP
#undef SOLVER_CPU_LANES_INL_HPP
#else
#define SOLVER_CPU_LANES_INL_HPP
#endif

#include "solver/accuracy.hpp"
#include "solver/numeric/accumulators.hpp"
#include "solver/numeric/filtered.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct SplitLanes {
    V value;
    V error;
};

template <class V>
HWY_INLINE SplitLanes<V> two_sum_lanes(V a, V b) {
    const V sum = hn::Add(a, b);
    const V b_kept = hn::Sub(sum, a);
    const V a_kept = hn::Sub(sum, b_kept);
    return {sum, hn::Add(hn::Sub(a, a_kept), hn::Sub(b, b_kept))};
}

#if HWY_NATIVE_FMA

template <class V>
HWY_INLINE SplitLanes<V> two_prod_lanes(V a, V b) {
    const V product = hn::Mul(a, b);
    return {product, hn::MulSub(a, b, product)};
}

#else

/// a as high + low with at most half the digits each. Veltkamp; Dekker, Numer. Math. 18, 1971. Overflows for |a| near the range's end:
/// the error is a NaN then, which no filter certifies.
template <class V>
HWY_INLINE SplitLanes<V> halves_lanes(V a) {
    const hn::DFromV<V> d;
    using T = hn::TFromD<decltype(d)>;
    const V c = hn::Mul(hn::Set(d, sizeof(T) == 8 ? T(134217729) : T(4097)), a);
    const V high = hn::Sub(c, hn::Sub(c, a));
    return {high, hn::Sub(a, high)};
}

/// The same value and error without a fused multiply-add; exact from the same exact_product_threshold on.
template <class V>
HWY_INLINE SplitLanes<V> two_prod_lanes(V a, V b) {
    const V product = hn::Mul(a, b);
    const SplitLanes<V> x = halves_lanes(a);
    const SplitLanes<V> y = halves_lanes(b);
    V error = hn::Sub(hn::Mul(x.value, y.value), product);
    error = hn::Add(error, hn::Mul(x.value, y.error));
    error = hn::Add(error, hn::Mul(x.error, y.value));
    return {product, hn::Add(error, hn::Mul(x.error, y.error))};
}

#endif

/// +0 for either zero, the canonical NaN for any NaN.
template <class V>
HWY_INLINE V canonical_lanes(V a) {
    const hn::DFromV<V> d;
    return hn::IfThenElse(hn::IsNaN(a), hn::Set(d, canonical_nan<hn::TFromD<decltype(d)>>), hn::Add(a, hn::Zero(d)));
}

template <class V>
HWY_INLINE auto is_finite_lanes(V a) {
    const hn::DFromV<V> d;
    return hn::Eq(hn::Sub(a, a), hn::Zero(d));
}

/// The vector of at(0), at(1), ...: scalar loads packed two by two, several times faster than a hardware gather where that is
/// microcoded (measured on Zen 4).
template <class D, class At>
HWY_INLINE hn::Vec<D> pack(D d, At at) {
    constexpr std::size_t lanes = HWY_MAX_LANES_D(D);
#if HWY_HAVE_SCALABLE
    alignas(64) hn::TFromD<D> values[lanes];
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) values[i] = at(i);
    return hn::Load(d, values);
#else
    if constexpr (lanes == 1) {
        return hn::Set(d, at(0));
    } else if constexpr (lanes == 2) {
        return hn::InterleaveLower(d, hn::Set(d, at(0)), hn::Set(d, at(1)));
    } else {
        const hn::Half<D> half;
        return hn::Combine(d, pack(half, [&](std::size_t i) HWY_ATTR { return at(i + lanes / 2); }), pack(half, at));
    }
#endif
}

/// Values of type T widened to the lanes of D: as they are, or floats in double lanes.
template <class T, class D>
using StoredAs = hn::Rebind<T, D>;

template <class D, class V>
HWY_INLINE hn::Vec<D> widen(D d, V v) {
    if constexpr (std::is_same_v<hn::Vec<D>, V>)
        return v;
    else
        return hn::PromoteTo(d, v);
}

template <class D, class T>
HWY_INLINE hn::Vec<D> load_widened(D d, const T* from) {
    return widen(d, hn::LoadU(StoredAs<T, D>(), from));
}

template <class D, class At>
HWY_INLINE hn::Vec<D> pack_widened(D d, At at) {
    using T = std::remove_cvref_t<decltype(at(0))>;
    return widen(d, pack(StoredAs<T, D>(), at));
}

/// What a lane accumulator finds: the results, and in which lanes they are proven (all, unless it is a filter).
template <class D>
struct Results {
    hn::Vec<D> value;
    hn::Mask<D> proven;
};

template <class D>
HWY_INLINE Results<D> all_proven(D d, hn::Vec<D> value) {
    return {canonical_lanes(value), hn::FirstN(d, hn::Lanes(d))};
}

/// Lanes of Plain<T>, and of FloatInDouble in double lanes.
template <class ScalarAccumulator, class Lane>
class PlainLanes {
public:
    using Scalar = ScalarAccumulator;
    using D = hn::ScalableTag<Lane>;
    using V = hn::Vec<D>;

    HWY_INLINE void add(V x) { sum_ = hn::Add(sum_, x); }
    HWY_INLINE void add_product(V a, V b) { sum_ = hn::MulAdd(a, b, sum_); }
    HWY_INLINE void merge(const PlainLanes& other) { sum_ = hn::Add(sum_, other.sum_); }
    HWY_INLINE void negate() { sum_ = hn::Neg(sum_); }
    HWY_INLINE Results<D> results(Lane) const { return all_proven(D(), sum_); }

    /// Writes lane i to to[i].
    HWY_INLINE void store(Scalar* to) const {
        HWY_ALIGN Lane s[HWY_MAX_LANES_D(D)];
        hn::Store(sum_, D(), s);
        for (std::size_t i = 0; i < hn::Lanes(D()); ++i) to[i] = Scalar(s[i]);
    }

private:
    V sum_ = hn::Zero(D());
};

/// Lanes of Dot2<double>.
class Dot2Lanes {
public:
    using Scalar = Dot2<double>;
    using D = hn::ScalableTag<double>;
    using V = hn::Vec<D>;

    HWY_INLINE void add(V x) { add_with_tail(x, hn::Zero(D())); }
    HWY_INLINE void add_product(V a, V b) {
        const SplitLanes<V> p = two_prod_lanes(a, b);
        add_with_tail(p.value, p.error);
    }
    HWY_INLINE void merge(const Dot2Lanes& other) { add_with_tail(other.sum_, other.tail_); }
    HWY_INLINE void negate() {
        sum_ = hn::Neg(sum_);
        tail_ = hn::Neg(tail_);
    }
    HWY_INLINE Results<D> results(double) const {
        return all_proven(D(), hn::IfThenElse(is_finite_lanes(tail_), hn::Add(sum_, tail_), sum_));
    }

    HWY_INLINE void store(Scalar* to) const {
        HWY_ALIGN double s[HWY_MAX_LANES_D(D)];
        HWY_ALIGN double c[HWY_MAX_LANES_D(D)];
        hn::Store(sum_, D(), s);
        hn::Store(tail_, D(), c);
        for (std::size_t i = 0; i < hn::Lanes(D()); ++i) to[i] = Scalar(s[i], c[i]);
    }

private:
    HWY_INLINE void add_with_tail(V x, V x_tail) {
        const SplitLanes<V> s = two_sum_lanes(sum_, x);
        sum_ = s.value;
        tail_ = hn::Add(tail_, hn::Add(s.error, x_tail));
    }

    V sum_ = hn::Zero(D());
    V tail_ = hn::Zero(D());
};

/// RN(a -+ (2u|a| + eta)), as below and above.
template <class V>
HWY_INLINE V step_lanes(V a) {
    const hn::DFromV<V> d;
    const V relative = hn::Mul(hn::Set(d, 2 * unit_roundoff<double>), hn::Abs(a));
    return hn::Add(relative, hn::Set(d, 2 * smallest_subnormal<double>));  // 2 eta: the product may round down to 0
}

/// Lanes of FilteredTriple<double>; the proofs are there. results() leaves the case beside a tie to the scalar.
class FilteredTripleLanes {
public:
    using Scalar = FilteredTriple<double>;
    using D = hn::ScalableTag<double>;
    using V = hn::Vec<D>;

    HWY_INLINE void add(V x) {
        const SplitLanes<V> s = two_sum_lanes(s_, x);
        const SplitLanes<V> c = two_sum_lanes(c_, s.error);
        s_ = s.value;
        c_ = c.value;
        add_lost(c.error);
        ++path_.additions;
    }
    HWY_INLINE void add_product(V a, V b) {
        const SplitLanes<V> p = two_prod_lanes(a, b);
        const SplitLanes<V> s = two_sum_lanes(s_, p.value);
        const SplitLanes<V> g = two_sum_lanes(s.error, p.error);
        const SplitLanes<V> c = two_sum_lanes(c_, g.value);
        s_ = s.value;
        c_ = c.value;
        add_lost(hn::Add(g.error, c.error));
        ++path_.additions;
    }
    HWY_INLINE void merge(const FilteredTripleLanes& other) {
        const SplitLanes<V> s = two_sum_lanes(s_, other.s_);
        const SplitLanes<V> c1 = two_sum_lanes(c_, other.c_);
        const SplitLanes<V> c2 = two_sum_lanes(c1.value, s.error);
        s_ = s.value;
        c_ = c2.value;
        d_ = hn::Add(d_, other.d_);
        m_ = hn::Add(m_, other.m_);
        add_lost(hn::Add(c1.error, c2.error));
        path_.merge(other.path_);
    }
    HWY_INLINE void negate() {
        s_ = hn::Neg(s_);
        c_ = hn::Neg(c_);
        d_ = hn::Neg(d_);
    }

    HWY_INLINE Results<D> results(double underflow) const {
        const D d;
        const double factor = path_.factor<double>();
        if (factor < 0) return {hn::Zero(d), hn::FirstN(d, 0)};
        const V bound = hn::Add(hn::Mul(hn::Set(d, factor), m_), hn::Set(d, underflow));
        const SplitLanes<V> t = two_sum_lanes(c_, d_);
        const SplitLanes<V> r = two_sum_lanes(s_, t.value);
        const V w_low = hn::Sub(t.error, bound);
        const V w_high = hn::Add(t.error, bound);
        const V v_low = hn::Add(r.error, hn::Sub(w_low, step_lanes(w_low)));
        const V v_high = hn::Add(r.error, hn::Add(w_high, step_lanes(w_high)));
        const V low = hn::Add(r.value, hn::Sub(v_low, step_lanes(v_low)));
        const V high = hn::Add(r.value, hn::Add(v_high, step_lanes(v_high)));
        return {canonical_lanes(low), hn::And(hn::Eq(low, high), is_finite_lanes(hn::Add(r.value, m_)))};
    }

    HWY_INLINE void store(Scalar* to) const {
        HWY_ALIGN double s[HWY_MAX_LANES_D(D)];
        HWY_ALIGN double c[HWY_MAX_LANES_D(D)];
        HWY_ALIGN double d[HWY_MAX_LANES_D(D)];
        HWY_ALIGN double m[HWY_MAX_LANES_D(D)];
        hn::Store(s_, D(), s);
        hn::Store(c_, D(), c);
        hn::Store(d_, D(), d);
        hn::Store(m_, D(), m);
        for (std::size_t i = 0; i < hn::Lanes(D()); ++i) to[i] = Scalar(s[i], c[i], d[i], m[i], path_);
    }

private:
    HWY_INLINE void add_lost(V f) {
        d_ = hn::Add(d_, f);
        m_ = hn::Add(m_, hn::Abs(f));
    }

    V s_ = hn::Zero(D());
    V c_ = hn::Zero(D());
    V d_ = hn::Zero(D());
    V m_ = hn::Zero(D());
    ErrorPath path_;
};

/// Lanes of FilteredFloat, terms widened to double. results() proves through a slightly wider interval than the scalar: fl(s + (c -+ bound))
/// moved outwards by a step is on its side of the sum, and rounding to float is monotone.
class FilteredFloatLanes {
public:
    using Scalar = FilteredFloat;
    using D = hn::ScalableTag<double>;
    using V = hn::Vec<D>;

    HWY_INLINE void add(V x) {
        const SplitLanes<V> s = two_sum_lanes(s_, x);
        s_ = s.value;
        add_error(s.error);
        ++path_.additions;
    }
    HWY_INLINE void add_product(V a, V b) { add(hn::Mul(a, b)); }
    HWY_INLINE void merge(const FilteredFloatLanes& other) {
        const SplitLanes<V> s = two_sum_lanes(s_, other.s_);
        s_ = s.value;
        c_ = hn::Add(c_, other.c_);
        m_ = hn::Add(m_, other.m_);
        add_error(s.error);
        path_.merge(other.path_);
    }
    HWY_INLINE void negate() {
        s_ = hn::Neg(s_);
        c_ = hn::Neg(c_);
    }

    HWY_INLINE Results<D> results(double) const {
        const D d;
        const StoredAs<float, D> df;
        const double factor = path_.factor<double>();
        if (factor < 0) return {hn::Zero(d), hn::FirstN(d, 0)};
        const V bound = hn::Mul(hn::Set(d, factor), m_);
        const V low = hn::Add(s_, hn::Sub(c_, bound));
        const V high = hn::Add(s_, hn::Add(c_, bound));
        const V low_rounded = hn::PromoteTo(d, hn::DemoteTo(df, hn::Sub(low, step_lanes(low))));
        const V high_rounded = hn::PromoteTo(d, hn::DemoteTo(df, hn::Add(high, step_lanes(high))));
        return {canonical_lanes(low_rounded), hn::And(hn::Eq(low_rounded, high_rounded), is_finite_lanes(hn::Add(s_, m_)))};
    }

    HWY_INLINE void store(Scalar* to) const {
        HWY_ALIGN double s[HWY_MAX_LANES_D(D)];
        HWY_ALIGN double c[HWY_MAX_LANES_D(D)];
        HWY_ALIGN double m[HWY_MAX_LANES_D(D)];
        hn::Store(s_, D(), s);
        hn::Store(c_, D(), c);
        hn::Store(m_, D(), m);
        for (std::size_t i = 0; i < hn::Lanes(D()); ++i) to[i] = Scalar(s[i], c[i], m[i], path_);
    }

private:
    HWY_INLINE void add_error(V e) {
        c_ = hn::Add(c_, e);
        m_ = hn::Add(m_, hn::Abs(e));
    }

    V s_ = hn::Zero(D());
    V c_ = hn::Zero(D());
    V m_ = hn::Zero(D());
    ErrorPath path_;
};

/// The lane accumulator that keeps the promise of a mode for values of type T.
template <class T, Accuracy accuracy>
struct LanesOf;
template <class T>
struct LanesOf<T, Accuracy::fast> : std::type_identity<PlainLanes<Plain<T>, T>> {};
template <>
struct LanesOf<double, Accuracy::compensated> : std::type_identity<Dot2Lanes> {};
template <>
struct LanesOf<float, Accuracy::compensated> : std::type_identity<PlainLanes<FloatInDouble, double>> {};
template <>
struct LanesOf<double, Accuracy::exact> : std::type_identity<FilteredTripleLanes> {};
template <>
struct LanesOf<float, Accuracy::exact> : std::type_identity<FilteredFloatLanes> {};

/// All lanes merged into one, by a fixed tree.
template <class Acc>
HWY_INLINE typename Acc::Scalar merge_lanes(const Acc& acc) {
    typename Acc::Scalar lanes[HWY_MAX_LANES_D(typename Acc::D)];
    acc.store(lanes);
    for (std::size_t width = hn::Lanes(typename Acc::D()) / 2; width > 0; width /= 2)
        for (std::size_t i = 0; i < width; ++i) lanes[i].merge(lanes[i + width]);
    return lanes[0];
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
