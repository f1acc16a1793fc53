// Sums, dot products and norms in vector lanes: blocks, a tree of them, and the rounding of what they give. Re-included for
// every Highway target.

#if defined(SOLVER_CPU_REDUCE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SOLVER_CPU_REDUCE_INL_HPP
#undef SOLVER_CPU_REDUCE_INL_HPP
#else
#define SOLVER_CPU_REDUCE_INL_HPP
#endif

#include "core/thread_pool.hpp"
#include "cpu/simd/expansion_lanes-inl.hpp"
#include "cpu/simd/lanes-inl.hpp"
#include "cpu/terms.hpp"
#include "solver/numeric/large_superaccumulator.hpp"
#include "solver/numeric/tracked_sum.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

using cpu::Terms;

inline constexpr std::size_t all_lanes = 64;

template <class Acc, class T>
HWY_INLINE void add_lanes(Acc& acc, const Terms<T, false>& terms, std::int64_t i) {
    acc.add(load_widened(typename Acc::D(), terms.x + i));
}

template <class Acc, class T>
HWY_INLINE void add_lanes(Acc& acc, const Terms<T, true>& terms, std::int64_t i) {
    const typename Acc::D d;
    acc.add_product(load_widened(d, terms.x + i), load_widened(d, terms.y + i));
}

template <class Sum, class T>
HWY_INLINE void add_one(Sum& sum, const Terms<T, false>& terms, std::int64_t i) {
    sum.add(terms.x[i]);
}

template <class Sum, class T>
HWY_INLINE void add_one(Sum& sum, const Terms<T, true>& terms, std::int64_t i) {
    sum.add_product(terms.x[i], terms.y[i]);
}

/// One block: four lane accumulators in turn, which hides the latency of their chains, and the rest one by one. (Not an array
/// of them, which would stay in memory.)
template <AccumulatorLanes Acc, class T, bool products>
HWY_NOINLINE typename Acc::Scalar reduce_block(const Terms<T, products>& terms, std::int64_t first, std::int64_t last) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(typename Acc::D()));
    Acc a, b, c, d;
    std::int64_t i = first;
    for (; i + 4 * lanes <= last; i += 4 * lanes) {
        add_lanes(a, terms, i);
        add_lanes(b, terms, i + lanes);
        add_lanes(c, terms, i + 2 * lanes);
        add_lanes(d, terms, i + 3 * lanes);
    }
    for (; i + lanes <= last; i += lanes) add_lanes(a, terms, i);
    a.merge(b);
    c.merge(d);
    a.merge(c);
    typename Acc::Scalar sum = merge_lanes(a);
    for (; i < last; ++i) add_one(sum, terms, i);
    return sum;
}

template <Accumulator Scalar>
Scalar merge_tree(const std::vector<Scalar>& parts, std::size_t first, std::size_t last) {
    if (last - first == 1) return parts[first];
    const std::size_t middle = first + (last - first) / 2;
    Scalar sum = merge_tree(parts, first, middle);
    sum.merge(merge_tree(parts, middle, last));
    return sum;
}

/// Elements of a block, the leaves of the tree. A block of n elements is summed in 4 chains a lane, n / (4 lanes) <= 512
/// additions; with two for every merge of lanes and of at most 2^51 blocks, and the odd elements, that keeps h <= 1024.
template <AccumulatorLanes Acc>
inline constexpr std::int64_t block_length = max_lanes<typename Acc::D> == 1 ? 2048 : 4096;

template <AccumulatorLanes Acc, class T, bool products>
typename Acc::Scalar reduce_blocks(const Terms<T, products>& terms, int threads) {
    constexpr std::int64_t block_length = HWY_NAMESPACE::block_length<Acc>;
    const std::int64_t blocks = (terms.n + block_length - 1) / block_length;
    if (blocks <= 1) return reduce_block<Acc>(terms, 0, terms.n);
    std::vector<typename Acc::Scalar> parts(static_cast<std::size_t>(blocks));
    cpu::parallel_for(threads, [&](int t) {
        const std::int64_t last = cpu::share_begin(blocks, t + 1, threads);
        for (std::int64_t block = cpu::share_begin(blocks, t, threads); block < last; ++block)
            parts[block] = reduce_block<Acc>(terms, block * block_length, std::min((block + 1) * block_length, terms.n));
    });
    return merge_tree(parts, 0, parts.size());
}

/// value + error = the products of `count` terms from `begin` on. Returns whether that is so: all are finite, and no error was
/// lost to underflow.
template <class T>
HWY_INLINE bool split_products(const Terms<T, true>& terms, std::int64_t begin, std::int64_t count, double* value,
                               double* error) {
    using D = hn::CappedTag<double, all_lanes>;
    const D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    InexactProducts<D> inexact;
    auto finite = hn::FirstN(d, hn::Lanes(d));
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        const auto x = load_widened(d, terms.x + begin + i);
        const auto y = load_widened(d, terms.y + begin + i);
        const auto p = two_prod_lanes(x, y);
        hn::StoreU(p.value, d, value + i);
        hn::StoreU(p.error, d, error + i);
        inexact.add_product(x, y);
        finite = hn::And(finite, is_finite_lanes(p.value));
    }
    bool exact = hn::AllTrue(d, finite) && hn::AllFalse(d, inexact.any());
    for (; i < count; ++i) {
        const auto x = static_cast<double>(terms.x[begin + i]);
        const auto y = static_cast<double>(terms.y[begin + i]);
        const Split<double> p = two_prod(x, y);
        value[i] = p.value;
        error[i] = p.error;
        exact &= product_is_exact(x, y) && is_finite(p.value);
    }
    return exact;
}

/// The last resort for one share of the terms. Products become two exact terms each where their error is representable.
template <class T>
HWY_NOINLINE void add_exactly(LargeSuperaccumulator& sum, const Terms<T, true>& terms, std::int64_t first, std::int64_t last) {
    constexpr std::int64_t chunk = 512;
    double value[chunk];
    double error[chunk];
    for (std::int64_t begin = first; begin < last; begin += chunk) {
        const std::int64_t count = std::min(chunk, last - begin);
        if (split_products(terms, begin, count, value, error)) {
            sum.add(value, count);
            sum.add(error, count);
        } else {
            Superaccumulator& total = sum.total();
            for (std::int64_t i = begin; i < begin + count; ++i) total.add_product(terms.x[i], terms.y[i]);
        }
    }
}

HWY_INLINE void add_exactly(LargeSuperaccumulator& sum, const Terms<double, false>& terms, std::int64_t first,
                            std::int64_t last) {
    sum.add(terms.x + first, last - first);
}

HWY_INLINE void add_exactly(LargeSuperaccumulator& sum, const Terms<float, false>& terms, std::int64_t first,
                            std::int64_t last) {
    constexpr std::int64_t chunk = 512;
    double wide[chunk];
    for (std::int64_t begin = first; begin < last; begin += chunk) {
        const std::int64_t count = std::min(chunk, last - begin);
        std::copy(terms.x + begin, terms.x + begin + count, wide);
        sum.add(wide, count);
    }
}

template <class T, bool products>
Superaccumulator superaccumulate(const Terms<T, products>& terms, int threads) {
    constexpr std::int64_t worth_buckets = 1024;
    if (terms.n < worth_buckets) {
        Superaccumulator sum;
        for (std::int64_t i = 0; i < terms.n; ++i) add_one(sum, terms, i);
        return sum;
    }
    std::vector<Superaccumulator> parts(static_cast<std::size_t>(threads));
    cpu::parallel_for(threads, [&](int t) {
        LargeSuperaccumulator sum;
        add_exactly(sum, terms, cpu::share_begin(terms.n, t, threads), cpu::share_begin(terms.n, t + 1, threads));
        parts[t] = sum.total();
    });
    for (int t = 1; t < threads; ++t) parts[0].merge(parts[t]);
    return parts[0];
}

/// Whether product_is_exact holds for terms first..last-1; sums have no products.
HWY_INLINE bool products_are_exact(const Terms<double, false>&, std::int64_t, std::int64_t) { return true; }
HWY_INLINE bool products_are_exact(const Terms<double, true>& terms, std::int64_t first, std::int64_t last) {
    using D = hn::CappedTag<double, all_lanes>;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(D()));
    InexactProducts<D> inexact;
    std::int64_t i = first;
    for (; i + lanes <= last; i += lanes) inexact.add_product(hn::LoadU(D(), terms.x + i), hn::LoadU(D(), terms.y + i));
    bool exact = hn::AllFalse(D(), inexact.any());
    for (; i < last; ++i) exact &= product_is_exact(terms.x[i], terms.y[i]);
    return exact;
}

/// Whether all products have an exact two_prod, looked at in parallel.
inline bool products_are_exact(const Terms<double, true>& terms, int threads) {
    constexpr std::int64_t block_length = 4096;
    std::vector<char> exact(static_cast<std::size_t>(threads), 1);
    cpu::parallel_for(threads, [&](int t) {
        const std::int64_t last = cpu::share_begin(terms.n, t + 1, threads);
        for (std::int64_t begin = cpu::share_begin(terms.n, t, threads); begin < last && exact[t] != 0; begin += block_length)
            exact[t] = products_are_exact(terms, begin, std::min(begin + block_length, last));
    });
    return std::all_of(exact.begin(), exact.end(), [](char is_exact) { return is_exact != 0; });
}

/// One share of the terms. False as soon as six terms lose something, for then they seldom decide, or a product does not have
/// an exact error.
template <bool products>
HWY_NOINLINE bool add_in_six_terms(FilteredExpansion<double>& sum, const Terms<double, products>& terms, std::int64_t first,
                                   std::int64_t last) {
    using Acc = typename LanesOf<FilteredExpansion<double>, all_lanes>::type;
    constexpr std::int64_t block_length = 1024;  // of two vectors, in the nearest cache
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(typename Acc::D()));
    Acc acc;
    std::int64_t i = first;
    while (i + lanes <= last) {
        const std::int64_t end = std::min(i + block_length, last);
        if (!products_are_exact(terms, i, end)) return false;
        for (; i + lanes <= end; i += lanes) add_lanes(acc, terms, i);
        if (!acc.nothing_is_lost()) return false;
    }
    if (!products_are_exact(terms, i, last)) return false;
    HWY_ALIGN FilteredExpansion<double> of_lane[Acc::lanes];
    acc.store(of_lane);
    for (std::int64_t lane = 0; lane < lanes; ++lane) sum.merge(of_lane[lane]);
    for (; i < last; ++i) add_one(sum, terms, i);
    return true;
}

/// Sums that cancel by more than three terms hold, where six do: measured, in 0.6 of the time of superaccumulators.
template <bool products>
bool try_six_terms(const Terms<double, products>& terms, int threads, double& result) {
    std::vector<FilteredExpansion<double>> parts(static_cast<std::size_t>(threads));
    std::vector<char> complete(parts.size(), 0);
    cpu::parallel_for(threads, [&](int t) {
        complete[t] =
            add_in_six_terms(parts[t], terms, cpu::share_begin(terms.n, t, threads), cpu::share_begin(terms.n, t + 1, threads));
    });
    if (std::find(complete.begin(), complete.end(), 0) != complete.end()) return false;
    for (int t = 1; t < threads; ++t) parts[0].merge(parts[t]);
    return parts[0].try_result(result);
}

/// Products are looked at by themselves only where it would decide that all have exact errors.
template <Filter Scalar, class T, bool products>
T round_exact(const Scalar& sum, const Terms<T, products>& terms, int threads) {
    T result;
    if (TrackedSum<Scalar>{sum, products}.try_result(result, underflow_bound<T>(terms.n))) return result;
    if constexpr (products && Scalar::wants_exact_products)
        if (sum.try_result(result) && products_are_exact(terms, threads)) return result;
    if constexpr (std::is_same_v<T, double>)
        if (try_six_terms(terms, threads, result)) return result;
    return superaccumulate(terms, threads).template result<T>();
}

/// A norm whose squares would leave the range: of x times 2^-e, e the exponent of its largest element, which is exact but for
/// what is negligible.
template <AccumulatorLanes Acc, class T>
T scaled_norm(const Terms<T, true>& terms, int threads) {
    const T largest = cpu::largest_magnitude(terms.x, terms.n);
    if (largest == T(0) || !is_finite(largest)) return canonical(largest);
    const int exponent = std::ilogb(largest);
    std::vector<T> scaled(static_cast<std::size_t>(terms.n));
    for (std::int64_t i = 0; i < terms.n; ++i) scaled[i] = std::scalbn(terms.x[i], -exponent);
    const Terms<T, true> scaled_terms{terms.n, scaled.data(), scaled.data()};
    return std::scalbn(sqrt_rn(reduce_blocks<Acc>(scaled_terms, threads).result()), exponent);
}

template <AccumulatorLanes Acc, class T>
T norm(const Terms<T, true>& terms, int threads) {
    using Scalar = typename Acc::Scalar;
    const Scalar sum = reduce_blocks<Acc>(terms, threads);
    if constexpr (Filter<Scalar>) {
        T root;
        return sum.try_sqrt(root, underflow_bound<T>(terms.n)) ? root
                                                               : superaccumulate(terms, threads).template sqrt_result<T>();
    } else {
        const T square = sum.result();
        return is_safe_square<Scalar>(square) ? sqrt_rn(square) : scaled_norm<Acc>(terms, threads);
    }
}

template <AccumulatorLanes Acc, class T, bool products>
T sum_of(const Terms<T, products>& terms, int threads) {
    using Scalar = typename Acc::Scalar;
    const Scalar sum = reduce_blocks<Acc>(terms, threads);
    if constexpr (Filter<Scalar>)
        return round_exact(sum, terms, threads);
    else
        return sum.result();
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
