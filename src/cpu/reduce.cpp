#include "cpu/reduce.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/reduce.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "cpu/simd/lanes-inl.hpp"
#include "cpu/thread_pool.hpp"
#include "solver/numeric/large_superaccumulator.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#ifndef SOLVER_CPU_REDUCE_ONCE
#define SOLVER_CPU_REDUCE_ONCE
namespace solver::cpu {

/// Below this many elements a thread is not worth waking.
inline constexpr std::int64_t least_elements_per_thread = 16384;

/// The terms of a reduction: elements of x, or products of x and y.
template <class T, bool products>
struct Terms {
    std::int64_t n;
    const T* x;
    const T* y;
};

/// max |x_i|, NaN if there is one.
template <class T>
T largest_magnitude(const T* x, std::int64_t n) {
    T largest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        if (x[i] != x[i]) return x[i];
        largest = std::max(largest, magnitude(x[i]));
    }
    return largest;
}

}  // namespace solver::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

using cpu::Reduction;
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

template <class Scalar, class T>
HWY_INLINE void add_one(Scalar& acc, const Terms<T, false>& terms, std::int64_t i) {
    acc.add(terms.x[i]);
}

template <class Scalar, class T>
HWY_INLINE void add_one(Scalar& acc, const Terms<T, true>& terms, std::int64_t i) {
    acc.add_product(terms.x[i], terms.y[i]);
}

/// One block: four lane accumulators in turn, which hides the latency of their chains, and the rest one by one.
template <class Acc, class T, bool products>
HWY_NOINLINE typename Acc::Scalar reduce_block(const Terms<T, products>& terms, std::int64_t first, std::int64_t last) {
    constexpr std::int64_t ways = 4;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(typename Acc::D()));
    Acc acc[ways];
    std::int64_t i = first;
    for (; i + ways * lanes <= last; i += ways * lanes)
        for (std::int64_t way = 0; way < ways; ++way) add_lanes(acc[way], terms, i + way * lanes);
    for (; i + lanes <= last; i += lanes) add_lanes(acc[0], terms, i);
    acc[0].merge(acc[1]);
    acc[2].merge(acc[3]);
    acc[0].merge(acc[2]);
    typename Acc::Scalar sum = merge_lanes(acc[0]);
    for (; i < last; ++i) add_one(sum, terms, i);
    return sum;
}

template <class Scalar>
Scalar merge_tree(const std::vector<Scalar>& parts, std::size_t first, std::size_t last) {
    if (last - first == 1) return parts[first];
    const std::size_t middle = first + (last - first) / 2;
    Scalar sum = merge_tree(parts, first, middle);
    sum.merge(merge_tree(parts, middle, last));
    return sum;
}

/// Elements of a block, the leaves of the tree. A block of n elements is summed in 4 chains a lane, n / (4 lanes) <= 512
/// additions; with two for every merge of lanes and of at most 2^51 blocks, and the odd elements, that keeps h <= 1024.
template <class Acc>
inline constexpr std::int64_t block_length = max_lanes<typename Acc::D> == 1 ? 2048 : 4096;

template <class Acc, class T, bool products>
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

/// product_is_exact without branches, for loops over many.
template <class T>
HWY_INLINE bool has_exact_error(T x, T y, T product) {
    return (magnitude(product) >= exact_product_threshold<T>) | (x == T(0)) | (y == T(0));
}

/// The last resort for one share of the terms. Products become two exact terms each where their error is representable.
template <class T>
HWY_NOINLINE void add_exactly(LargeSuperaccumulator& sum, const Terms<T, true>& terms, std::int64_t first, std::int64_t last) {
    constexpr std::int64_t chunk = 512;
    double value[chunk];
    double error[chunk];
    for (std::int64_t begin = first; begin < last; begin += chunk) {
        const std::int64_t count = std::min(chunk, last - begin);
        bool exact = true;
        for (std::int64_t i = 0; i < count; ++i) {
            const auto x = static_cast<double>(terms.x[begin + i]);
            const auto y = static_cast<double>(terms.y[begin + i]);
            const Split<double> p = two_prod(x, y);
            value[i] = p.value;
            error[i] = p.error;
            exact &= has_exact_error(x, y, p.value) & is_finite(p.value);
        }
        if (exact) {
            sum.add(value, count);
            sum.add(error, count);
        } else {
            for (std::int64_t i = begin; i < begin + count; ++i) sum.total().add_product(terms.x[i], terms.y[i]);
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

/// Whether two_prod is exact for every product, N = 0; sums have no products, floats' are exact in double.
template <class T, bool products>
bool terms_are_exact(const Terms<T, products>& terms, int threads) {
    if constexpr (!products || std::is_same_v<T, float>) return true;
    constexpr std::int64_t block_length = 4096;
    std::vector<char> exact(static_cast<std::size_t>(threads), 1);
    cpu::parallel_for(threads, [&](int t) {
        const std::int64_t last = cpu::share_begin(terms.n, t + 1, threads);
        for (std::int64_t begin = cpu::share_begin(terms.n, t, threads); begin < last && exact[t]; begin += block_length) {
            const std::int64_t end = std::min(begin + block_length, last);
            bool block_is_exact = true;
            for (std::int64_t i = begin; i < end; ++i)
                block_is_exact &= has_exact_error(terms.x[i], terms.y[i], mul_rn(terms.x[i], terms.y[i]));
            exact[t] = block_is_exact;
        }
    });
    return std::all_of(exact.begin(), exact.end(), [](char is_exact) { return is_exact != 0; });
}

template <bool products>
double round_exact(const FilteredTriple<double>& sum, const Terms<double, products>& terms, int threads) {
    double result;
    if (sum.try_result(result, products ? underflow_bound<double>(terms.n) : 0)) return result;
    if (products && terms_are_exact(terms, threads) && sum.try_result(result)) return result;
    return superaccumulate(terms, threads).template result<double>();
}

template <bool products>
float round_exact(const FilteredFloat& sum, const Terms<float, products>& terms, int threads) {
    float result;
    return sum.try_result(result) ? result : superaccumulate(terms, threads).template result<float>();
}

inline bool try_sqrt(const FilteredTriple<double>& sum, std::int64_t n, double& root) {
    return sum.try_sqrt(root, underflow_bound<double>(n));
}
inline bool try_sqrt(const FilteredFloat& sum, std::int64_t, float& root) { return sum.try_sqrt(root); }

/// sqrt(sum) where the sum of squares is far from overflow and from where underflow could be felt: within 2^-900..2^1000
/// (double) or 2^-100..2^120 (float); false elsewhere.
template <class T>
bool sqrt_in_range(T sum, T& root) {
    constexpr T low = std::is_same_v<T, float> ? T(0x1p-100) : T(0x1p-900);
    constexpr T high = std::is_same_v<T, float> ? T(0x1p+120) : T(0x1p+1000);
    root = sqrt_rn(sum);
    return sum >= low && sum <= high;
}

/// The same at the edges of the range: x times 2^-e, e the exponent of its largest element, which is exact but for what is
/// negligible.
template <class Acc, class T>
T scaled_norm(const Terms<T, true>& terms, int threads) {
    const T largest = cpu::largest_magnitude(terms.x, terms.n);
    if (largest == T(0) || !is_finite(largest)) return canonical(largest);
    const int exponent = std::ilogb(largest);
    std::vector<T> scaled(static_cast<std::size_t>(terms.n));
    for (std::int64_t i = 0; i < terms.n; ++i) scaled[i] = std::scalbn(terms.x[i], -exponent);
    const Terms<T, true> scaled_terms{terms.n, scaled.data(), scaled.data()};
    return std::scalbn(sqrt_rn(reduce_blocks<Acc>(scaled_terms, threads).result()), exponent);
}

template <class Acc, class T>
T norm(const Terms<T, true>& terms, int threads) {
    using Scalar = typename Acc::Scalar;
    const Scalar sum = reduce_blocks<Acc>(terms, threads);
    T root;
    if constexpr (is_filter<Scalar>)
        return try_sqrt(sum, terms.n, root) ? root : superaccumulate(terms, threads).template sqrt_result<T>();
    else
        return sqrt_in_range(sum.result(), root) ? root : scaled_norm<Acc>(terms, threads);
}

template <class Acc, class T, bool products>
T sum_of(const Terms<T, products>& terms, int threads) {
    using Scalar = typename Acc::Scalar;
    const Scalar sum = reduce_blocks<Acc>(terms, threads);
    if constexpr (is_filter<Scalar>)
        return round_exact(sum, terms, threads);
    else
        return sum.result();
}

template <class T>
T reduce_in(Reduction reduction, std::int64_t n, const T* x, const T* y, Accuracy accuracy, int threads) {
    T result = 0;
    with_lanes<T, all_lanes>(accuracy, [&](auto lanes) {
        using Acc = typename decltype(lanes)::type;
        switch (reduction) {
            case Reduction::sum:
                result = sum_of<Acc>(Terms<T, false>{n, x, nullptr}, threads);
                break;
            case Reduction::dot:
                result = sum_of<Acc>(Terms<T, true>{n, x, y}, threads);
                break;
            case Reduction::norm2:
                result = norm<Acc>(Terms<T, true>{n, x, x}, threads);
                break;
        }
    });
    return result;
}

template <class T>
Superaccumulator superaccumulate(bool products, std::int64_t n, const T* x, const T* y, int threads) {
    return products ? superaccumulate(Terms<T, true>{n, x, y}, threads)
                    : superaccumulate(Terms<T, false>{n, x, nullptr}, threads);
}

template <class T>
Expansion<T> expand(bool products, std::int64_t n, const T* x, const T* y, int threads) {
    return superaccumulate(products, n, x, y, threads).template take_expansion<T>();
}

template <class T>
using ExactLanes = typename LanesOf<T, Accuracy::exact, all_lanes>::type;

template <class T>
PartialSum<T> partial_sum(std::int64_t n, const T* x, int threads) {
    return {reduce_blocks<ExactLanes<T>>(Terms<T, false>{n, x, nullptr}, threads), 0};
}

/// N is looked into only where it can be felt: a small sum, or one that is zero.
inline PartialSum<double> with_underflow(const FilteredTriple<double>& sum, const Terms<double, true>& terms, int threads) {
    const auto bound = underflow_bound<double>(terms.n);
    double ignored;
    const bool exact = !sum.try_result(ignored, bound) && terms_are_exact(terms, threads);
    return {sum, exact ? 0 : bound};
}
inline PartialSum<float> with_underflow(const FilteredFloat& sum, const Terms<float, true>&, int) { return {sum, 0}; }

/// Block by block for all y, so that the block of x stays in the nearest cache.
template <class T>
std::vector<PartialSum<T>> partial_dots(std::int64_t n, const T* x, std::span<const T* const> ys, int threads) {
    using Acc = ExactLanes<T>;
    constexpr std::int64_t length = block_length<Acc>;
    const std::int64_t blocks = std::max<std::int64_t>((n + length - 1) / length, 1);
    std::vector<std::vector<typename Acc::Scalar>> parts(ys.size(), std::vector<typename Acc::Scalar>(blocks));
    cpu::parallel_for(threads, [&](int t) {
        const std::int64_t last = cpu::share_begin(blocks, t + 1, threads);
        for (std::int64_t block = cpu::share_begin(blocks, t, threads); block < last; ++block)
            for (std::size_t j = 0; j < ys.size(); ++j)
                parts[j][block] =
                    reduce_block<Acc>(Terms<T, true>{n, x, ys[j]}, block * length, std::min((block + 1) * length, n));
    });
    std::vector<PartialSum<T>> dots;
    for (std::size_t j = 0; j < ys.size(); ++j)
        dots.push_back(with_underflow(merge_tree(parts[j], 0, parts[j].size()), Terms<T, true>{n, x, ys[j]}, threads));
    return dots;
}

double reduce_double(Reduction reduction, std::int64_t n, const double* x, const double* y, Accuracy accuracy, int threads) {
    return reduce_in(reduction, n, x, y, accuracy, threads);
}
float reduce_float(Reduction reduction, std::int64_t n, const float* x, const float* y, Accuracy accuracy, int threads) {
    return reduce_in(reduction, n, x, y, accuracy, threads);
}

Expansion<double> expand_double(bool products, std::int64_t n, const double* x, const double* y, int threads) {
    return expand(products, n, x, y, threads);
}
Expansion<float> expand_float(bool products, std::int64_t n, const float* x, const float* y, int threads) {
    return expand(products, n, x, y, threads);
}

Superaccumulator superaccumulate_double(bool products, std::int64_t n, const double* x, const double* y, int threads) {
    return superaccumulate(products, n, x, y, threads);
}
Superaccumulator superaccumulate_float(bool products, std::int64_t n, const float* x, const float* y, int threads) {
    return superaccumulate(products, n, x, y, threads);
}

PartialSum<double> partial_sum_double(std::int64_t n, const double* x, int threads) { return partial_sum(n, x, threads); }
PartialSum<float> partial_sum_float(std::int64_t n, const float* x, int threads) { return partial_sum(n, x, threads); }

std::vector<PartialSum<double>> partial_dots_double(std::int64_t n, const double* x, std::span<const double* const> ys,
                                                    int threads) {
    return partial_dots(n, x, ys, threads);
}
std::vector<PartialSum<float>> partial_dots_float(std::int64_t n, const float* x, std::span<const float* const> ys,
                                                  int threads) {
    return partial_dots(n, x, ys, threads);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(reduce_double);
HWY_EXPORT(reduce_float);
HWY_EXPORT(expand_double);
HWY_EXPORT(expand_float);
HWY_EXPORT(superaccumulate_double);
HWY_EXPORT(superaccumulate_float);
HWY_EXPORT(partial_sum_double);
HWY_EXPORT(partial_sum_float);
HWY_EXPORT(partial_dots_double);
HWY_EXPORT(partial_dots_float);

namespace cpu {
namespace {

int worthwhile_threads(std::int64_t n, int threads) {
    return static_cast<int>(std::clamp<std::int64_t>(n / least_elements_per_thread, 1, threads));
}

}  // namespace

double reduce(Reduction reduction, std::int64_t n, const double* x, const double* y, Accuracy accuracy, int threads) {
    return HWY_DYNAMIC_DISPATCH(reduce_double)(reduction, n, x, y, accuracy, worthwhile_threads(n, threads));
}
float reduce(Reduction reduction, std::int64_t n, const float* x, const float* y, Accuracy accuracy, int threads) {
    return HWY_DYNAMIC_DISPATCH(reduce_float)(reduction, n, x, y, accuracy, worthwhile_threads(n, threads));
}

Expansion<double> expansion(bool products, std::int64_t n, const double* x, const double* y, int threads) {
    return HWY_DYNAMIC_DISPATCH(expand_double)(products, n, x, y, worthwhile_threads(n, threads));
}
Expansion<float> expansion(bool products, std::int64_t n, const float* x, const float* y, int threads) {
    return HWY_DYNAMIC_DISPATCH(expand_float)(products, n, x, y, worthwhile_threads(n, threads));
}

Superaccumulator superaccumulator(bool products, std::int64_t n, const double* x, const double* y, int threads) {
    return HWY_DYNAMIC_DISPATCH(superaccumulate_double)(products, n, x, y, worthwhile_threads(n, threads));
}
Superaccumulator superaccumulator(bool products, std::int64_t n, const float* x, const float* y, int threads) {
    return HWY_DYNAMIC_DISPATCH(superaccumulate_float)(products, n, x, y, worthwhile_threads(n, threads));
}

PartialSum<double> partial_sum(std::int64_t n, const double* x, int threads) {
    return HWY_DYNAMIC_DISPATCH(partial_sum_double)(n, x, worthwhile_threads(n, threads));
}
PartialSum<float> partial_sum(std::int64_t n, const float* x, int threads) {
    return HWY_DYNAMIC_DISPATCH(partial_sum_float)(n, x, worthwhile_threads(n, threads));
}

std::vector<PartialSum<double>> partial_dots(std::int64_t n, const double* x, std::span<const double* const> ys, int threads) {
    return HWY_DYNAMIC_DISPATCH(partial_dots_double)(n, x, ys, worthwhile_threads(n, threads));
}
std::vector<PartialSum<float>> partial_dots(std::int64_t n, const float* x, std::span<const float* const> ys, int threads) {
    return HWY_DYNAMIC_DISPATCH(partial_dots_float)(n, x, ys, worthwhile_threads(n, threads));
}

}  // namespace cpu
}  // namespace solver
#endif  // HWY_ONCE
