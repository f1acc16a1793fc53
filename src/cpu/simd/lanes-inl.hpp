// Accumulators in vector lanes: every lane is one accumulator of include/solver/numeric, with the same operations in the same
// order. Re-included for every Highway target; the text of the error-free transformations is repeated here because a function
// compiled for the baseline cannot handle a target's vectors.

#if defined(SOLVER_CPU_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SOLVER_CPU_LANES_INL_HPP
#undef SOLVER_CPU_LANES_INL_HPP
#else
#define SOLVER_CPU_LANES_INL_HPP
#endif

#include "solver/numeric/escalation.hpp"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Lanes in a vector of D; an upper limit on processors that choose at run time.
template <class D>
inline constexpr std::size_t max_lanes = hn::MaxLanes(D());

template <class V>
struct SplitLanes {
    V value;
    V error;
};

/// a - b with one rounding, as a fused 1 b: processors that add and multiply in different units (Zen) do half the work of a
/// TwoSum in each.
template <class V>
HWY_INLINE V sub_by_fma(V a, V b) {
#if HWY_NATIVE_FMA
    return hn::NegMulAdd(b, hn::Set(hn::DFromV<V>(), 1), a);
#else
    return hn::Sub(a, b);
#endif
}

/// The error of sum = RN(a + b).
template <class V>
HWY_INLINE V error_of_sum(V a, V b, V sum) {
    const V b_kept = sub_by_fma(sum, a);
    const V a_kept = sub_by_fma(sum, b_kept);
    return hn::Add(hn::Sub(a, a_kept), sub_by_fma(b, b_kept));
}

template <class V>
HWY_INLINE SplitLanes<V> two_sum_lanes(V a, V b) {
    const V sum = hn::Add(a, b);
    return {sum, error_of_sum(a, b, sum)};
}

#if HWY_NATIVE_FMA

template <class V>
HWY_INLINE SplitLanes<V> two_prod_lanes(V a, V b) {
    const V product = hn::Mul(a, b);
    return {product, hn::MulSub(a, b, product)};
}

#else

/// a as high + low with at most half the digits each. Veltkamp; Dekker, Numer. Math. 18, 1971. Overflows for |a| near the
/// range's end: the error is a NaN then.
template <class V>
HWY_INLINE SplitLanes<V> halves_lanes(V a) {
    const hn::DFromV<V> d;
    using T = hn::TFromD<decltype(d)>;
    const V c = hn::Mul(hn::Set(d, sizeof(T) == 8 ? T(134217729) : T(4097)), a);
    const V high = hn::Sub(c, hn::Sub(c, a));
    return {high, hn::Sub(a, high)};
}

/// Where Dekker's four products may underflow, and lose more than N allows for, or overflow: as the scalar does it.
template <class V>
HWY_NOINLINE V product_error_lane_by_lane(V a, V b, V product) {
    const hn::DFromV<V> d;
    using T = hn::TFromD<decltype(d)>;
    HWY_ALIGN T x[max_lanes<decltype(d)>];
    HWY_ALIGN T y[max_lanes<decltype(d)>];
    HWY_ALIGN T p[max_lanes<decltype(d)>];
    hn::Store(a, d, x);
    hn::Store(b, d, y);
    hn::Store(product, d, p);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) p[i] = fma_rn(x[i], y[i], -p[i]);
    return hn::Load(d, p);
}

/// Product and error in lanes without a fused multiply-add: the value and error of two_prod.
template <class V>
HWY_INLINE SplitLanes<V> two_prod_lanes(V a, V b) {
    const hn::DFromV<V> d;
    const V zero = hn::Zero(d);
    const V product = hn::Mul(a, b);
    const SplitLanes<V> x = halves_lanes(a);
    const SplitLanes<V> y = halves_lanes(b);
    V error = hn::Sub(hn::Mul(x.value, y.value), product);
    error = hn::Add(error, hn::Mul(x.value, y.error));
    error = hn::Add(error, hn::Mul(x.error, y.value));
    error = hn::Add(error, hn::Mul(x.error, y.error));
    const auto is_large = hn::Ge(hn::Abs(product), hn::Set(d, exact_product_threshold<hn::TFromD<decltype(d)>>));
    const auto is_safe = hn::Or(is_large, hn::Or(hn::Eq(a, zero), hn::Eq(b, zero)));
    if (HWY_LIKELY(hn::AllTrue(d, hn::And(is_safe, hn::Eq(hn::Sub(error, error), zero))))) return {product, error};
    return {product, product_error_lane_by_lane(a, b, product)};
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
    constexpr std::size_t lanes = max_lanes<D>;
#if HWY_TARGET == HWY_SCALAR
    static_assert(lanes == 1);
    return hn::Set(d, at(0));
#elif HWY_HAVE_SCALABLE
    HWY_ALIGN hn::TFromD<D> values[lanes];
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) values[i] = at(i);
    return hn::Load(d, values);
#else
    if constexpr (lanes == 1) {
        return hn::Set(d, at(0));
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
    } else if constexpr (std::is_same_v<D, hn::Full128<double>>) {
        return hn::Vec128<double>{_mm_set_pd(at(1), at(0))};  // two loads, the second of which packs
#endif
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
using StoredAs = hn::Rebind<T, std::remove_const_t<D>>;

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

/// The doubles rounded to floats, beyond the range to Inf, where Highway's portable targets stop at the largest float.
template <class DF, class V>
HWY_INLINE hn::Vec<DF> round_to_floats(DF df, V v) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
    const hn::DFromV<V> d;
    HWY_ALIGN double wide[max_lanes<decltype(d)>];
    HWY_ALIGN float rounded[max_lanes<DF>];
    hn::Store(v, d, wide);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) rounded[i] = static_cast<float>(wide[i]);
    return hn::Load(df, rounded);
#else
    return hn::DemoteTo(df, v);
#endif
}

/// Stores the canonical results, rounded to T where the lanes are wider.
template <class V, class T>
HWY_INLINE void store_rounded(V v, T* to) {
    const hn::DFromV<V> d;
    const StoredAs<T, decltype(d)> stored;
    if constexpr (std::is_same_v<hn::TFromD<decltype(d)>, T>)
        hn::StoreU(canonical_lanes(v), d, to);
    else
        hn::StoreU(canonical_lanes(round_to_floats(stored, v)), stored, to);
}

/// What a lane accumulator finds: the results, and in which lanes they are proven (all, unless it is a filter).
template <class D>
struct Results {
    hn::Vec<D> value;
    hn::Mask<D> proven;
};

template <class D>
HWY_INLINE Results<D> all_proven(D d, hn::Vec<D> value) {
    return {value, hn::FirstN(d, hn::Lanes(d))};
}

/// Lanes of Plain<T>, and of FloatInDouble in double lanes.
template <class ScalarAccumulator, class Lane, std::size_t limit>
class PlainLanes {
public:
    using Scalar = ScalarAccumulator;
    using D = hn::CappedTag<Lane, limit>;
    using V = hn::Vec<D>;

    HWY_INLINE PlainLanes() : sum_(hn::Zero(D())) {}

    HWY_INLINE void add(V x) { sum_ = hn::Add(sum_, x); }
    HWY_INLINE void add_product(V a, V b) { sum_ = hn::MulAdd(a, b, sum_); }
    HWY_INLINE void merge(const PlainLanes& other) { sum_ = hn::Add(sum_, other.sum_); }
    HWY_INLINE void negate() { sum_ = hn::Neg(sum_); }
    HWY_INLINE Results<D> results(Lane) const { return all_proven(D(), sum_); }

    /// Writes lane i to to[i].
    HWY_INLINE void store(Scalar* to) const {
        HWY_ALIGN Lane s[max_lanes<D>];
        hn::Store(sum_, D(), s);
        for (std::size_t i = 0; i < hn::Lanes(D()); ++i) to[i] = Scalar(s[i]);
    }

private:
    V sum_;
};

/// Lanes of Dot2<double>.
template <std::size_t limit>
class Dot2Lanes {
public:
    using Scalar = Dot2<double>;
    using D = hn::CappedTag<double, limit>;
    using V = hn::Vec<D>;

    HWY_INLINE Dot2Lanes() : sum_(hn::Zero(D())), tail_(sum_) {}

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
        HWY_ALIGN double s[max_lanes<D>];
        HWY_ALIGN double c[max_lanes<D>];
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

    V sum_;
    V tail_;
};

/// Lanes of FilteredPair<double>, a first and cheap try: what it does not prove is done again by FilteredTripleLanes.
template <std::size_t limit>
class FilteredPairLanes {
public:
    using D = hn::CappedTag<double, limit>;
    using V = hn::Vec<D>;

    HWY_INLINE FilteredPairLanes() : s_(hn::Zero(D())), c_(s_), m_(s_) {}

    HWY_INLINE void add_product(V a, V b) {
        const SplitLanes<V> p = two_prod_lanes(a, b);
        const SplitLanes<V> s = two_sum_lanes(s_, p.value);
        const V g = hn::Add(s.error, p.error);
        s_ = s.value;
        c_ = hn::Add(c_, g);
        m_ = hn::Add(m_, hn::Abs(g));
        ++path_.additions;
    }
    HWY_INLINE void negate() {
        s_ = hn::Neg(s_);
        c_ = hn::Neg(c_);
    }

    HWY_INLINE Results<D> results(double underflow) const {
        const D d;
        const double factor = path_.factor<double>();
        if (factor < 0) return {hn::Zero(d), hn::FirstN(d, 0)};
        const V bound = hn::MulAdd(hn::Set(d, factor), m_, hn::Set(d, underflow));
        const V low = hn::Add(s_, hn::Sub(c_, bound));
        const V high = hn::Add(s_, hn::Add(c_, bound));
        return {low, hn::And(hn::Eq(low, high), is_finite_lanes(hn::Add(s_, m_)))};
    }

    /// What results() has `proven`, and more where all products are multiples of 2^-52 `grid`: in every lane a power of 2, or
    /// Inf where all are 0. With q = 2^-52 grid >= eta, the errors of products and of sums are multiples of q, too, and
    /// multiples of q below 2^53 q are numbers. So if m ends below 2^53 q, it was summed without loss; it bounds every g and
    /// every c, which thus lost nothing: s + c is the sum, ties and zeros included.
    HWY_INLINE Results<D> results_on_grid(hn::Mask<D> proven, V grid) const {
        const D d;
        const auto lossless =
            hn::And(hn::Lt(m_, hn::Add(grid, grid)), hn::Ge(grid, hn::Set(d, std::numeric_limits<double>::min())));
        return {hn::Add(s_, c_), hn::Or(hn::And(lossless, is_finite_lanes(s_)), proven)};  // low = high is RN(s + c), too
    }

private:
    V s_;
    V c_;
    V m_;
    ErrorPath path_;
};

/// The grid of products of multiples of a power of 2, `unit`, with numbers of which no last digit is known.
template <std::size_t limit>
class ProductGridLanes {
public:
    using D = hn::CappedTag<double, limit>;
    using V = hn::Vec<D>;

    HWY_INLINE ProductGridLanes() : least_(hn::Set(D(), std::numeric_limits<double>::infinity())) {}

    HWY_INLINE void add_product(V, V x) {
        const V leading_digit = hn::And(x, hn::Set(D(), std::numeric_limits<double>::infinity()));  // 0 of a subnormal number
        least_ = hn::IfThenElse(hn::Eq(x, hn::Zero(D())), least_, hn::Min(least_, leading_digit));
    }
    HWY_INLINE void negate() {}

    /// All products are multiples of 2^-52 grid(unit), unless that is 0.
    HWY_INLINE V grid(double unit) const { return hn::Mul(hn::Set(D(), unit), least_); }

private:
    V least_;  ///< of the leading digits of all x but 0
};

/// 2u|a| + the least normal number, which takes a to a number beyond its neighbour, as below and above of numeric/rounding.hpp
/// do with eta: arithmetic on subnormals is slow on many processors. (Fused, so that 2u times that number is never stored.)
template <class V>
HWY_INLINE V step_lanes(V a) {
    const hn::DFromV<V> d;
    return hn::MulAdd(hn::Set(d, 2 * unit_roundoff<double>), hn::Abs(a), hn::Set(d, std::numeric_limits<double>::min()));
}

template <class V>
HWY_INLINE V below_lanes(V a) {
    return hn::Sub(a, step_lanes(a));
}

template <class V>
HWY_INLINE V above_lanes(V a) {
    return hn::Add(a, step_lanes(a));
}

/// Lanes of FilteredTriple<double>; the proofs are there.
template <std::size_t limit>
class FilteredTripleLanes {
public:
    using Scalar = FilteredTriple<double>;
    using D = hn::CappedTag<double, limit>;
    using V = hn::Vec<D>;

    HWY_INLINE FilteredTripleLanes() : s_(hn::Zero(D())), c_(s_), d_(s_), m_(s_) {}

    /// From parts that were accumulated elsewhere by the same rules.
    HWY_INLINE FilteredTripleLanes(V s, V c, V d, V m, ErrorPath path) : s_(s), c_(c), d_(d), m_(m), path_(path) {}

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
    /// A number of the order of what s loses: the error of a sum made elsewhere.
    HWY_INLINE void add_error(V x) {
        const SplitLanes<V> c = two_sum_lanes(c_, x);
        c_ = c.value;
        add_lost(c.error);
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

    /// alpha times this sum, for an alpha that is not -1; N as FilteredTriple::scaled says.
    HWY_INLINE FilteredTripleLanes scaled(V alpha) const {
        FilteredTripleLanes result;
        result.path_ = path_;
        result.add_product(alpha, s_);
        result.add_product(alpha, c_);
        result.add_product(alpha, d_);
        const V scaled_m = above_lanes(hn::Add(result.m_, above_lanes(hn::Mul(hn::Abs(alpha), m_))));
        result.m_ = hn::IfThenElse(hn::Eq(m_, hn::Zero(D())), result.m_, scaled_m);
        return result;
    }

    HWY_INLINE V s() const { return s_; }
    HWY_INLINE V c() const { return c_; }
    HWY_INLINE V d() const { return d_; }
    HWY_INLINE V m() const { return m_; }

    /// `underflow` is N, lane by lane.
    HWY_INLINE Results<D> results(V underflow) const {
        const D d;
        const double factor = path_.factor<double>();
        if (factor < 0) return {hn::Zero(d), hn::FirstN(d, 0)};
        const V bound = hn::MulAdd(hn::Set(d, factor), m_, underflow);
        const SplitLanes<V> t = two_sum_lanes(c_, d_);
        const SplitLanes<V> r = two_sum_lanes(s_, t.value);
        const V w_low = below_lanes(hn::Sub(t.error, bound));
        const V w_high = above_lanes(hn::Add(t.error, bound));
        const V low = hn::Add(r.value, below_lanes(hn::Add(r.error, w_low)));
        const V high = hn::Add(r.value, above_lanes(hn::Add(r.error, w_high)));
        Results<D> found = beside_tie(r, w_low, w_high);
        const auto enclosed = hn::Eq(low, high);
        found.value = hn::IfThenElse(enclosed, low, found.value);
        const auto nothing_lost = hn::Eq(hn::Add(m_, underflow), hn::Zero(d));
        found.value = hn::IfThenElse(nothing_lost, hn::Add(s_, c_), found.value);
        found.proven = hn::And(hn::Or(found.proven, hn::Or(enclosed, nothing_lost)), is_finite_lanes(hn::Add(r.value, m_)));
        return found;
    }

    HWY_INLINE void store(Scalar* to) const {
        HWY_ALIGN double s[max_lanes<D>];
        HWY_ALIGN double c[max_lanes<D>];
        HWY_ALIGN double d[max_lanes<D>];
        HWY_ALIGN double m[max_lanes<D>];
        hn::Store(s_, D(), s);
        hn::Store(c_, D(), c);
        hn::Store(d_, D(), d);
        hn::Store(m_, D(), m);
        for (std::size_t i = 0; i < hn::Lanes(D()); ++i) to[i] = Scalar(s[i], c[i], d[i], m[i], path_);
    }

private:
    HWY_INLINE static Results<D> beside_tie(const SplitLanes<V>& r, V w_low, V w_high) {
        const D d;
        const V v = r.error;
        const SplitLanes<V> beyond = two_sum_lanes(r.value, hn::Add(v, v));
        const V neighbour = beyond.value;
        const auto half_gap = hn::And(hn::Eq(beyond.error, hn::Zero(d)),
                                      hn::And(hn::Eq(hn::Add(r.value, hn::Mul(hn::Set(d, 0.75), v)), r.value),
                                              hn::Eq(hn::Add(r.value, hn::Mul(hn::Set(d, 1.25), v)), neighbour)));
        const V quarter = hn::Mul(hn::Set(d, 0.25), hn::Abs(v));
        const auto small = hn::And(hn::Ge(w_low, hn::Neg(quarter)), hn::Le(w_high, quarter));
        const auto positive = hn::Gt(w_low, hn::Zero(d));
        const auto negative = hn::Lt(w_high, hn::Zero(d));
        const auto v_positive = hn::Gt(v, hn::Zero(d));
        const auto away = hn::Or(hn::And(positive, v_positive), hn::AndNot(v_positive, negative));
        return {hn::IfThenElse(away, neighbour, r.value), hn::And(hn::And(half_gap, small), hn::Or(positive, negative))};
    }

    HWY_INLINE void add_lost(V f) {
        d_ = hn::Add(d_, f);
        m_ = hn::Add(m_, hn::Abs(f));
    }

    V s_;
    V c_;
    V d_;
    V m_;
    ErrorPath path_;
};

/// Lanes of FilteredFloat, terms widened to double. results() proves through a slightly wider interval than the scalar: fl(s +
/// (c -+ bound)) moved outwards by a step is on its side of the sum, and rounding to float is monotone.
template <std::size_t limit>
class FilteredFloatLanes {
public:
    using Scalar = FilteredFloat;
    using D = hn::CappedTag<double, limit>;
    using V = hn::Vec<D>;

    HWY_INLINE FilteredFloatLanes() : s_(hn::Zero(D())), c_(s_), m_(s_) {}

    /// From parts that were accumulated elsewhere by the same rules.
    HWY_INLINE FilteredFloatLanes(V s, V c, V m, ErrorPath path) : s_(s), c_(c), m_(m), path_(path) {}

    HWY_INLINE void add(V x) {
        const V s = hn::Add(s_, x);
        add_error(error_of_sum(s_, x, s));
        s_ = s;
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
        const V low_rounded = hn::PromoteTo(d, round_to_floats(df, below_lanes(low)));
        const V high_rounded = hn::PromoteTo(d, round_to_floats(df, above_lanes(high)));
        const auto nothing_lost = hn::Eq(m_, hn::Zero(d));  // s is the sum, ties included
        const V value = hn::IfThenElse(nothing_lost, hn::PromoteTo(d, round_to_floats(df, s_)), low_rounded);
        const auto decided = hn::Or(nothing_lost, hn::Eq(low_rounded, high_rounded));
        return {value, hn::And(decided, is_finite_lanes(hn::Add(s_, m_)))};
    }

    HWY_INLINE V s() const { return s_; }
    HWY_INLINE V c() const { return c_; }
    HWY_INLINE V m() const { return m_; }

    HWY_INLINE void store(Scalar* to) const {
        HWY_ALIGN double s[max_lanes<D>];
        HWY_ALIGN double c[max_lanes<D>];
        HWY_ALIGN double m[max_lanes<D>];
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

    V s_;
    V c_;
    V m_;
    ErrorPath path_;
};

/// Lanes of CountedBoundedFloat, terms widened to double; the proofs are there.
template <std::size_t limit>
class BoundedFloatLanes {
public:
    using D = hn::CappedTag<double, limit>;
    using V = hn::Vec<D>;

    HWY_INLINE BoundedFloatLanes() : s_(hn::Zero(D())), m_(s_) {}

    HWY_INLINE void add_product(V a, V b) {
        const V p = hn::Mul(a, b);
        s_ = hn::Add(s_, p);
        m_ = hn::Add(m_, hn::Abs(p));
        ++count_;
    }
    HWY_INLINE void negate() { s_ = hn::Neg(s_); }

    HWY_INLINE Results<D> results(double) const {
        const D d;
        if (count_ > CountedBoundedFloat::most_products) return {hn::Zero(d), hn::FirstN(d, 0)};
        const V bound = hn::Mul(hn::Set(d, static_cast<double>(count_ + 3) * unit_roundoff<double>), m_);
        const StoredAs<float, D> df;
        const V low = hn::PromoteTo(d, round_to_floats(df, hn::Sub(s_, bound)));
        const V high = hn::PromoteTo(d, round_to_floats(df, hn::Add(s_, bound)));
        return {low, hn::Eq(low, high)};
    }

private:
    V s_;
    V m_;
    std::int32_t count_ = 0;
};

/// Which lanes met a product whose two_prod is not exact.
template <class D>
class InexactProducts {
public:
    using V = hn::Vec<D>;

    HWY_INLINE InexactProducts() : any_(hn::FirstN(D(), 0)) {}

    HWY_INLINE void add_product(V a, V b) {
        const D d;
        const auto small = hn::Lt(hn::Abs(hn::Mul(a, b)), hn::Set(d, exact_product_threshold<double>));
        any_ = hn::Or(any_, hn::And(small, hn::And(hn::Ne(a, hn::Zero(d)), hn::Ne(b, hn::Zero(d)))));
    }
    HWY_INLINE hn::Mask<D> any() const { return any_; }

private:
    hn::Mask<D> any_;
};

/// The lanes, at most `limit` of them, of an accumulator.
template <class A, std::size_t limit>
struct LanesOf;
template <class T, std::size_t limit>
struct LanesOf<Plain<T>, limit> : std::type_identity<PlainLanes<Plain<T>, T, limit>> {};
template <std::size_t limit>
struct LanesOf<FloatInDouble, limit> : std::type_identity<PlainLanes<FloatInDouble, double, limit>> {};
template <std::size_t limit>
struct LanesOf<Dot2<double>, limit> : std::type_identity<Dot2Lanes<limit>> {};
template <std::size_t limit>
struct LanesOf<FilteredPair<double>, limit> : std::type_identity<FilteredPairLanes<limit>> {};
template <std::size_t limit>
struct LanesOf<FilteredTriple<double>, limit> : std::type_identity<FilteredTripleLanes<limit>> {};
template <std::size_t limit>
struct LanesOf<FilteredFloat, limit> : std::type_identity<FilteredFloatLanes<limit>> {};
template <std::size_t limit>
struct LanesOf<CountedBoundedFloat, limit> : std::type_identity<BoundedFloatLanes<limit>> {};

/// Calls work(LanesOf<accumulator of the mode for values of type T at a place, limit>()).
template <class T, std::size_t limit, class Place, class Work>
HWY_INLINE void with_lanes(Accuracy accuracy, const Work& work) {
    with_accuracy(accuracy, [&](auto mode) { work(LanesOf<typename AccumulatorOf<T, mode.value, Place>::type, limit>()); });
}

/// Sums of products side by side, which give a result in every lane.
template <class L>
concept ProductLanes = requires(L lanes, typename L::V x) {
    typename L::D;
    lanes.add_product(x, x);
    lanes.negate();
};

/// The lanes of an accumulator, which become accumulators again to be merged.
template <class L>
concept AccumulatorLanes = ProductLanes<L> && ScalableAccumulator<typename L::Scalar> &&
    requires(L lanes, const L sums, typename L::V x, typename L::Scalar* to) {
    lanes.add(x);
    lanes.merge(sums);
    sums.store(to);
};

/// The lanes of the filter to try first at a place; Acc itself where there is none.
template <AccumulatorLanes Acc, class Place, class First = FirstTry<typename Acc::Scalar, Place>>
using FirstLanes = typename std::conditional_t<std::is_same_v<First, typename Acc::Scalar>, std::type_identity<Acc>,
                                               LanesOf<First, max_lanes<typename Acc::D>>>::type;

/// Lanes of TrackedSum.
template <AccumulatorLanes Acc>
class TrackedLanes {
public:
    using D = typename Acc::D;
    using V = typename Acc::V;

    HWY_INLINE TrackedLanes() {}

    HWY_INLINE void add_product(V a, V b) {
        sum_.add_product(a, b);
        inexact_.add_product(a, b);
    }
    HWY_INLINE void negate() { sum_.negate(); }
    HWY_INLINE Results<D> results(double underflow) const {
        return sum_.results(hn::IfThenElseZero(inexact_.any(), hn::Set(D(), underflow)));
    }
    /// Lanes of which every product is the sum of two numbers, so that underflow takes nothing.
    HWY_INLINE hn::Mask<D> exact() const { return hn::Not(inexact_.any()); }

private:
    Acc sum_;
    InexactProducts<D> inexact_;
};

/// All lanes merged into one, by a fixed tree.
template <AccumulatorLanes Acc>
HWY_INLINE typename Acc::Scalar merge_lanes(const Acc& acc) {
    typename Acc::Scalar lanes[max_lanes<typename Acc::D>];
    acc.store(lanes);
    for (std::size_t width = hn::Lanes(typename Acc::D()) / 2; width > 0; width /= 2)
        for (std::size_t i = 0; i < width; ++i) lanes[i].merge(lanes[i + width]);
    return lanes[0];
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
