// Lanes of FilteredExpansion, for the few sums that three terms leave open; re-included for every Highway target.

#if defined(SOLVER_CPU_EXPANSION_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SOLVER_CPU_EXPANSION_LANES_INL_HPP
#undef SOLVER_CPU_EXPANSION_LANES_INL_HPP
#else
#define SOLVER_CPU_EXPANSION_LANES_INL_HPP
#endif

#include "cpu/simd/lanes-inl.hpp"
#include "solver/numeric/filtered_expansion.hpp"

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

/// Summed in lanes, judged one by one.
template <std::size_t limit>
class FilteredExpansionLanes {
public:
    using Scalar = FilteredExpansion<double>;
    using D = hn::CappedTag<double, limit>;
    using V = hn::Vec<D>;
    static constexpr std::size_t lanes = max_lanes<D>;

    HWY_INLINE FilteredExpansionLanes() : lost_(hn::Zero(D())) {
        for (V& t : t_) t = lost_;
    }

    HWY_INLINE void add(V x) { add_from(0, x); }
    HWY_INLINE void add_product(V a, V b) {
        const SplitLanes<V> p = two_prod_lanes(a, b);
        add_from(0, p.value);
        add_from(1, p.error);
    }
    HWY_INLINE void negate() {
        for (V& t : t_) t = hn::Neg(t);
    }
    /// Whether the terms are the sum itself so far.
    HWY_INLINE bool nothing_is_lost() const { return hn::AllTrue(D(), hn::Eq(lost_, hn::Zero(D()))); }

    HWY_INLINE void store(Scalar (&sums)[lanes]) const {
        HWY_ALIGN double parts[Scalar::terms + 1][lanes];
        for (int i = 0; i < Scalar::terms; ++i) hn::Store(t_[i], D(), parts[i]);
        hn::Store(lost_, D(), parts[Scalar::terms]);
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            double t[Scalar::terms];
            for (int i = 0; i < Scalar::terms; ++i) t[i] = parts[i][lane];
            sums[lane] = Scalar(t, parts[Scalar::terms][lane]);
        }
    }

private:
    HWY_INLINE void add_from(int first, V x) {
        for (int i = first; i < Scalar::terms; ++i) {
            const SplitLanes<V> s = two_sum_lanes(t_[i], x);
            t_[i] = s.value;
            x = s.error;
        }
        lost_ = hn::Add(lost_, hn::Abs(x));
    }

    V t_[Scalar::terms];
    V lost_;
};

template <std::size_t limit>
struct LanesOf<FilteredExpansion<double>, limit> : std::type_identity<FilteredExpansionLanes<limit>> {};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
