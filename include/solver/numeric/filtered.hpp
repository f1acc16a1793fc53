#pragma once

/// Correct rounding by filter: accumulate in two- or three-fold precision together with a rigorous bound of what is lost, and
/// answer only where the bound proves the rounding. A correctly rounded result is unique, so which accumulator, order or tree
/// found it cannot be seen in its bits. What a filter does not decide goes to the Superaccumulator.
///
/// The idea: Shewchuk, Discrete Comput. Geom. 18, 1997 (adaptive predicates); Ziv, ACM TOMS 17(3), 1991 (rounding test).
///
/// What the filters have in common. Every term's rounding errors g are collected in c by plain additions, and m collects |g| by
/// the same tree, so that |c_k| <= m_k at every node (rounding is monotone). Forming g loses at most u|g|, every addition on c
/// at most u|c_k| <= u m_k. Along one path a g passes at most h such additions, and the m_k computed there exceed the exact
/// sums of |g| by factors (1 + u), at most (1 + u)^L between leaves and root over the L merges that are not a chain. Hence
///     |exact - (s + c)| <= (h + 2) (1 + u)^L u m + N,
/// N = n eta covering the n products whose error two_prod cannot represent; N = 0 for sums, for floats in double, and where
/// product_is_exact holds for every product. The tests use (h + 4) u m: the two spare units pay for (1 + u)^L, given
/// (2 L + 3)(h + 4) u <= 1 (checked), and for the rounding of the bound itself and of c -+ bound. Where u m underflows, all
/// these additions are exact. N is twice what it need be, which pays for its own rounding.

#include "solver/numeric/concepts.hpp"
#include "solver/numeric/error_free.hpp"

namespace solver {

/// How many additions an error passes on its way to the root, and how many of them belong to merges.
struct ErrorPath {
    std::int32_t additions = 0;  ///< h: 1 for a term of a chain, 2 for a merge
    std::int32_t merges = 0;     ///< L

    SOLVER_HD void merge(const ErrorPath& other) noexcept {
        additions = (additions > other.additions ? additions : other.additions) + 2;
        merges = (merges > other.merges ? merges : other.merges) + 1;
    }

    /// The bound's factor (h + 4) u, or -1 where the path is too long for the proof.
    template <Real T>
    SOLVER_HD T factor() const noexcept {
        const T factor = static_cast<T>(additions + 4) * unit_roundoff<T>;
        return mul_rn(static_cast<T>(2 * merges + 3), factor) <= T(1) ? factor : T(-1);
    }
};

/// N for n products of which nothing is known: n eta.
template <Real T>
SOLVER_HD T underflow_bound(std::int64_t products) noexcept {
    return mul_rn(static_cast<T>(products), smallest_subnormal<T>);
}

/// RN(sqrt(r + w)) of a renormalized pair r and an unknown w, |w| <= lost: given and true, or false.
///
/// With r = (r, v), |v| <= u r. For root = RN(sqrt(r)) the remainder e = r - root^2 is exact and |e| <= 2.1 u r. With
/// E = e + v + w, sqrt(r + v + w) = root + E / (2 root) - E^2 / (8 root^3) + ...; delta = RN(RN(e + v) / (2 root)) loses at
/// most 2 u^2 root in each of its two roundings, the series' rest at most 2 u^2 root, and w contributes at most lost / (2
/// root). The bound used is about twice that, which pays for its own rounding.
template <Real T>
SOLVER_HD bool try_sqrt_of(const Split<T>& r, T lost, T& result) noexcept {
    if (!(r.value >= exact_product_threshold<T>) || !is_finite(r.value)) return false;
    const T root = sqrt_rn(r.value);
    const T remainder = fma_rn(-root, root, r.value);
    const T delta = div_rn(add_rn(remainder, r.error), 2 * root);
    const T bound = fma_rn(16 * unit_roundoff<T> * unit_roundoff<T>, root, div_rn(lost, root));
    const T low = add_rn(root, below(add_rn(delta, -bound)));
    const T high = add_rn(root, above(add_rn(delta, bound)));
    if (!(low == high)) return false;
    result = low;
    return true;
}

/// The pair (s, c) with its bound. 13 operations a product. Certifies what is not within the bound of a rounding boundary, so
/// neither ties nor exact zeros unless every addition was exact.
template <Real T>
class FilteredPair {
public:
    using value_type = T;
    using Term = Split<T>;
    static constexpr bool is_filter = true;
    static constexpr bool wants_exact_products = true;

    SOLVER_HD void add(T x) noexcept { add_term({x, T(0)}); }
    SOLVER_HD void add_product(T a, T b) noexcept { add_term(product(a, b)); }
    SOLVER_HD static Term product(T a, T b) noexcept { return two_prod(a, b); }
    SOLVER_HD void add_term(Term x) noexcept {
        const Split<T> s = two_sum(s_, x.value);
        const T g = add_rn(s.error, x.error);
        s_ = s.value;
        c_ = add_rn(c_, g);
        m_ = add_rn(m_, magnitude(g));
        ++path_.additions;
    }

    SOLVER_HD void merge(const FilteredPair& other) noexcept {
        const Split<T> s = two_sum(s_, other.s_);
        s_ = s.value;
        c_ = add_rn(add_rn(c_, other.c_), s.error);
        m_ = add_rn(add_rn(m_, other.m_), magnitude(s.error));
        path_.merge(other.path_);
    }

    /// alpha times this sum: exactly for -1, else two products, and |alpha| m for what was lost so far: |alpha| (h + 2) u m of
    /// the old bound and the new errors' own additions stay below (h + 5) u of the new m. N as for FilteredTriple::scaled.
    SOLVER_HD FilteredPair scaled(T alpha) const noexcept {
        FilteredPair result;
        result.path_ = path_;
        if (alpha == T(-1)) {
            result.s_ = -s_;
            result.c_ = -c_;
            result.m_ = m_;
            return result;
        }
        result.add_product(alpha, s_);
        result.add_product(alpha, c_);
        if (m_ != T(0)) result.m_ = above(add_rn(result.m_, above(mul_rn(magnitude(alpha), m_))));
        ++result.path_.additions;
        return result;
    }

    /// Gives RN of the exact sum and returns true, or returns false. `underflow` is N.
    SOLVER_HD bool try_result(T& result, T underflow = T(0)) const noexcept {
        const T factor = path_.template factor<T>();
        if (factor < T(0) || !is_finite(s_) || !is_finite(m_)) return false;
        const T bound = add_rn(mul_rn(factor, m_), underflow);
        const T low = add_rn(s_, add_rn(c_, -bound));
        const T high = add_rn(s_, add_rn(c_, bound));
        if (!(low == high)) return false;
        result = canonical(low);
        return true;
    }

    /// Gives RN(sqrt(exact sum)) and returns true, or returns false. `underflow` is N.
    SOLVER_HD bool try_sqrt(T& result, T underflow = T(0)) const noexcept {
        const T factor = path_.template factor<T>();
        if (factor < T(0) || !is_finite(m_)) return false;
        return try_sqrt_of(two_sum(s_, c_), add_rn(mul_rn(factor, m_), underflow), result);
    }

protected:
    T s_{0};
    T c_{0};
    T m_{0};
    ErrorPath path_;
};

/// The pair, and whether anything was lost on c at all. Where nothing was, s + c is the sum, ties and zeros included: often so
/// for few terms of like size, or small integers. What decides that stands beside the chain of dependent operations, which
/// stays as short as the pair's. 21 operations a product.
///
/// For |a| >= |b|, RN(RN(a + b) - a) loses nothing (Dekker, Numer. Math. 18, 1971), so it is b if and only if a + b lost
/// nothing; the same with a and b exchanged. Asked of both, the answer is right for the larger one.
template <Real T>
class FilteredWatchedPair : public FilteredPair<T> {
public:
    using Term = Split<T>;

    SOLVER_HD void add(T x) noexcept { add_term({x, T(0)}); }
    SOLVER_HD void add_product(T a, T b) noexcept { add_term(this->product(a, b)); }
    SOLVER_HD void add_term(Term x) noexcept {
        const Split<T> s = two_sum(this->s_, x.value);
        const T g = watched_sum(s.error, x.error);
        this->s_ = s.value;
        this->c_ = watched_sum(this->c_, g);
        this->m_ = add_rn(this->m_, magnitude(g));
        ++this->path_.additions;
    }

    SOLVER_HD void merge(const FilteredWatchedPair& other) noexcept {
        const Split<T> s = two_sum(this->s_, other.s_);
        this->s_ = s.value;
        this->c_ = watched_sum(watched_sum(this->c_, other.c_), s.error);
        this->m_ = add_rn(add_rn(this->m_, other.m_), magnitude(s.error));
        this->path_.merge(other.path_);
        lost_ |= other.lost_;
    }

    /// Gives RN of the exact sum and returns true, or returns false. `underflow` is N.
    SOLVER_HD bool try_result(T& result, T underflow = T(0)) const noexcept {
        if (lost_ != 0 || underflow != T(0) || !is_finite(this->s_)) return FilteredPair<T>::try_result(result, underflow);
        result = canonical(add_rn(this->s_, this->c_));
        return true;
    }

private:
    SOLVER_HD T watched_sum(T a, T b) noexcept {
        const T sum = add_rn(a, b);
        if (!(add_rn(sum, -a) == b) || !(add_rn(sum, -b) == a)) lost_ = 1;
        return sum;
    }

    std::int32_t lost_ = 0;
};

/// Three terms (s, c, d): c is kept error-free as well, the bound covers only what is lost on d. Certifies exact zeros, ties
/// and most cancellations. 25 operations a product.
///
/// The test. exact = s + c + d + w0 with |w0| <= b = (h + 4) u m + N. Two more TwoSums give s + c + d = r + v + w exactly with
/// r = RN(s + t), t = RN(c + d); w - b and w + b, widened by below and above, enclose w + w0 in [w_low, w_high], and
/// r + below(v + w_low), r + above(v + w_high) enclose the exact sum. Both round to one number: that is the result.
/// The enclosure has a positive width, so it never certifies a tie. If v is exactly half the gap between r and its neighbour
/// r + 2v, and the rest lies within |v|/4 and has one strict sign, the sum lies strictly on one side of the midpoint r + v.
template <Real T>
class FilteredTriple {
public:
    using value_type = T;
    using Term = Split<T>;
    static constexpr bool is_filter = true;
    static constexpr bool wants_exact_products = true;

    FilteredTriple() = default;

    /// From parts that were accumulated elsewhere by the same rules, in vector lanes for instance.
    SOLVER_HD FilteredTriple(T s, T c, T d, T m, ErrorPath path) noexcept : s_(s), c_(c), d_(d), m_(m), path_(path) {}

    SOLVER_HD void add(T x) noexcept {
        const Split<T> s = two_sum(s_, x);
        const Split<T> c = two_sum(c_, s.error);
        s_ = s.value;
        c_ = c.value;
        add_lost(c.error);
    }
    SOLVER_HD void add_product(T a, T b) noexcept { add_term(product(a, b)); }
    SOLVER_HD static Term product(T a, T b) noexcept { return two_prod(a, b); }
    SOLVER_HD void add_term(Term x) noexcept {
        const Split<T> s = two_sum(s_, x.value);
        const Split<T> g = two_sum(s.error, x.error);
        const Split<T> c = two_sum(c_, g.value);
        s_ = s.value;
        c_ = c.value;
        add_lost(add_rn(g.error, c.error));
    }

    SOLVER_HD void merge(const FilteredTriple& other) noexcept {
        const Split<T> s = two_sum(s_, other.s_);
        const Split<T> c1 = two_sum(c_, other.c_);
        const Split<T> c2 = two_sum(c1.value, s.error);
        const T f = add_rn(c1.error, c2.error);
        s_ = s.value;
        c_ = c2.value;
        d_ = add_rn(add_rn(d_, other.d_), f);
        m_ = add_rn(add_rn(m_, other.m_), magnitude(f));
        path_.merge(other.path_);
    }

    /// alpha times this sum: exactly for -1, else three products, and |alpha| m for what was lost so far. N must cover |alpha|
    /// times the old N and the three products.
    SOLVER_HD FilteredTriple scaled(T alpha) const noexcept {
        if (alpha == T(-1)) return {-s_, -c_, -d_, m_, path_};
        FilteredTriple result;
        result.path_ = path_;
        result.add_product(alpha, s_);
        result.add_product(alpha, c_);
        result.add_product(alpha, d_);
        if (m_ != T(0)) result.m_ = above(add_rn(result.m_, above(mul_rn(magnitude(alpha), m_))));
        return result;
    }

    /// Gives RN of the exact sum and returns true, or returns false. `underflow` is N.
    SOLVER_HD bool try_result(T& result, T underflow = T(0)) const noexcept {
        const T factor = path_.template factor<T>();
        if (factor < T(0) || !is_finite(s_) || !is_finite(c_) || !is_finite(m_)) return false;
        if (m_ == T(0) && underflow == T(0)) {
            result = canonical(add_rn(s_, c_));
            return true;
        }
        const T bound = add_rn(mul_rn(factor, m_), underflow);
        const Split<T> t = two_sum(c_, d_);
        const Split<T> r = two_sum(s_, t.value);
        const T w_low = below(add_rn(t.error, -bound));
        const T w_high = above(add_rn(t.error, bound));
        const T low = add_rn(r.value, below(add_rn(r.error, w_low)));
        const T high = add_rn(r.value, above(add_rn(r.error, w_high)));
        if (low == high && is_finite(r.value)) {
            result = canonical(low);
            return true;
        }
        return try_beside_tie(r, w_low, w_high, result);
    }

    /// A cheaper test, for sums that are exact or neither near a rounding boundary nor much smaller than s.
    ///
    /// exact = s + c + d + w0 with |w0| <= (h + 4) u m + N, and b is at least that and 2^-51 |t| more, which covers what t, t
    /// -+ b and b itself lose: at most u (|t| + |t| + b) and some u b. So t - b and t + b enclose c + d + w0, and rounding of
    /// s + (t -+ b) is monotone.
    SOLVER_HD bool try_quickly(T& result, T underflow = T(0)) const noexcept {
        const T factor = path_.template factor<T>();
        if (m_ == T(0) && underflow == T(0) && factor >= T(0)) {
            result = canonical(add_rn(s_, c_));
            return is_finite(result);
        }
        const T t = add_rn(c_, d_);
        T b = fma_rn(T(1.25) * factor, m_, T(1.25) * underflow);
        b = fma_rn(8 * unit_roundoff<T>, magnitude(t), b);
        const T low = add_rn(s_, add_rn(t, -b));
        const T high = add_rn(s_, add_rn(t, b));
        if (!(low == high) || !is_finite(low) || factor < T(0)) return false;
        result = canonical(low);
        return true;
    }

    /// Gives the sum rounded to float, or returns false: the ends of the enclosure are rounded to odd first (add_to_odd), which
    /// cannot be seen.
    SOLVER_HD bool try_result(float& result, T underflow = T(0)) const noexcept requires std::is_same_v<T, double> {
        const T factor = path_.template factor<T>();
        if (factor < T(0) || !is_finite(s_) || !is_finite(c_) || !is_finite(m_)) return false;
        if (m_ == T(0) && underflow == T(0)) {
            result = canonical(static_cast<float>(add_to_odd(s_, c_)));
            return true;
        }
        const T bound = add_rn(mul_rn(factor, m_), underflow);
        const Split<T> t = two_sum(c_, d_);
        const Split<T> r = two_sum(s_, t.value);
        const T v_low = below(add_rn(r.error, below(add_rn(t.error, -bound))));
        const T v_high = above(add_rn(r.error, above(add_rn(t.error, bound))));
        const auto low = static_cast<float>(add_to_odd(r.value, v_low));
        const auto high = static_cast<float>(add_to_odd(r.value, v_high));
        if (!(low == high)) return false;
        result = canonical(low);
        return true;
    }

    /// Gives RN(sqrt(exact sum)) and returns true, or returns false; `underflow` is N. With r, v and w as above,
    /// exact = r + v + w + w0, |w0| <= b.
    SOLVER_HD bool try_sqrt(T& result, T underflow = T(0)) const noexcept {
        const T factor = path_.template factor<T>();
        if (factor < T(0) || !is_finite(m_)) return false;
        const Split<T> t = two_sum(c_, d_);
        const Split<T> r = two_sum(s_, t.value);
        if (r.value == T(0) && m_ == T(0) && underflow == T(0)) {
            result = T(0);
            return true;
        }
        const T lost = add_rn(magnitude(t.error), add_rn(mul_rn(factor, m_), underflow));
        return try_sqrt_of(r, lost, result);
    }

    SOLVER_HD T s() const noexcept { return s_; }
    SOLVER_HD T c() const noexcept { return c_; }
    SOLVER_HD T d() const noexcept { return d_; }

private:
    SOLVER_HD void add_lost(T f) noexcept {
        d_ = add_rn(d_, f);
        m_ = add_rn(m_, magnitude(f));
        ++path_.additions;
    }

    SOLVER_HD static bool try_beside_tie(Split<T> r, T w_low, T w_high, T& result) noexcept {
        const T v = r.error;
        const Split<T> beyond = two_sum(r.value, 2 * v);  // exact for half the gap, not for a little less
        const T neighbour = beyond.value;
        const bool half_gap = v != T(0) && beyond.error == T(0) && add_rn(r.value, mul_rn(T(0.75), v)) == r.value &&
                              add_rn(r.value, mul_rn(T(1.25), v)) == neighbour;
        const T quarter = magnitude(v) / 4;
        if (!half_gap || !(w_low >= -quarter && w_high <= quarter) || !(w_low > T(0) || w_high < T(0))) return false;
        result = canonical((w_low > T(0)) == (v > T(0)) ? neighbour : r.value);
        return is_finite(result);
    }

    T s_{0};
    T c_{0};
    T d_{0};
    T m_{0};
    ErrorPath path_;
};

/// Sums of floats and of products of floats (exact in double): the pair in double, rounded to float. A cast of RN(s + c) would
/// round twice; rounding s + (c -+ bound) to odd first does not (add_to_odd). 9 operations a product, no underflow.
class FilteredFloat {
public:
    using value_type = float;
    using Term = double;
    static constexpr bool is_filter = true;
    static constexpr bool wants_exact_products = false;  // those of floats are exact in double

    FilteredFloat() = default;
    SOLVER_HD FilteredFloat(double s, double c, double m, ErrorPath path) noexcept : s_(s), c_(c), m_(m), path_(path) {}

    SOLVER_HD void add(float x) noexcept { add_term(double{x}); }
    SOLVER_HD void add_product(float a, float b) noexcept { add_term(product(a, b)); }
    SOLVER_HD static Term product(float a, float b) noexcept { return mul_rn(double{a}, double{b}); }  ///< exact
    SOLVER_HD void add_term(Term x) noexcept {
        const Split<double> s = two_sum(s_, x);
        s_ = s.value;
        c_ = add_rn(c_, s.error);
        m_ = add_rn(m_, magnitude(s.error));
        ++path_.additions;
    }

    SOLVER_HD void merge(const FilteredFloat& other) noexcept {
        const Split<double> s = two_sum(s_, other.s_);
        s_ = s.value;
        c_ = add_rn(add_rn(c_, other.c_), s.error);
        m_ = add_rn(add_rn(m_, other.m_), magnitude(s.error));
        path_.merge(other.path_);
    }

    /// alpha times this sum: exactly for -1, else by two products in double. The second one loses u|alpha c| <= u |alpha| m,
    /// one more addition's worth of the bound.
    SOLVER_HD FilteredFloat scaled(float alpha) const noexcept {
        if (alpha == -1.0F) return {-s_, -c_, m_, path_};
        const Split<double> p = two_prod(double{alpha}, s_);
        FilteredFloat result(p.value, 0, above(mul_rn(magnitude(double{alpha}), m_)), path_);
        result.add_term(p.error);
        result.add_term(mul_rn(double{alpha}, c_));
        ++result.path_.additions;
        return result;
    }

    /// Gives RN of the exact sum to float and returns true, or returns false. N is 0.
    SOLVER_HD bool try_result(float& result, float = 0) const noexcept {
        const double factor = path_.factor<double>();
        if (factor < 0 || !is_finite(s_) || !is_finite(m_)) return false;
        const double bound = mul_rn(factor, m_);
        const auto low = static_cast<float>(add_to_odd(s_, add_rn(c_, -bound)));
        const auto high = static_cast<float>(add_to_odd(s_, add_rn(c_, bound)));
        if (!(low == high)) return false;
        result = canonical(low);
        return true;
    }

    /// Gives RN(sqrt(exact sum)) to float and returns true, or returns false. The root of s + (c -+ bound) is RN(sqrt(.)) of a
    /// double within one rounding of it, so that two steps outwards enclose the exact root.
    SOLVER_HD bool try_sqrt(float& result, float = 0) const noexcept {
        const double factor = path_.factor<double>();
        if (factor < 0 || !is_finite(s_) || !is_finite(m_)) return false;
        const double bound = mul_rn(factor, m_);
        const double low = sqrt_rn(below(add_rn(s_, add_rn(c_, -bound))));
        const double high = sqrt_rn(above(add_rn(s_, add_rn(c_, bound))));
        const auto low_rounded = static_cast<float>(below(low));
        if (!(low_rounded == static_cast<float>(above(high)))) return false;
        result = canonical(low_rounded);
        return true;
    }

private:
    double s_{0};
    double c_{0};
    double m_{0};
    ErrorPath path_;
};

}  // namespace solver
