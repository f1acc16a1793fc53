#include "cpu/reduce.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/reduce.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "cpu/simd/reduce-inl.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

using cpu::Reduction;

template <class T>
T reduce_in(Reduction reduction, std::int64_t n, const T* x, const T* y, Accuracy accuracy, int threads) {
    T result = 0;
    with_lanes<T, all_lanes, TermsOnCpu>(accuracy, [&](auto lanes) {
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
using ExactLanes = typename LanesOf<typename PartialSum<T>::Filter, all_lanes>::type;

template <class T>
PartialSum<T> partial_sum(std::int64_t n, const T* x, int threads) {
    return {reduce_blocks<ExactLanes<T>>(Terms<T, false>{n, x, nullptr}, threads), 0};
}

/// N is looked into only where it can be felt: a small sum, or one that is zero.
template <class T>
PartialSum<T> with_underflow(const typename PartialSum<T>::Filter& sum, const Terms<T, true>& terms, int threads) {
    TrackedSum<typename PartialSum<T>::Filter> tracked{sum, true};
    const T bound = underflow_bound<T>(terms.n);
    T ignored;
    if constexpr (PartialSum<T>::Filter::wants_exact_products)
        if (!tracked.try_result(ignored, bound)) tracked.inexact = !products_are_exact(terms, threads);
    return {sum, tracked.lost(bound)};
}

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
        dots.push_back(with_underflow<T>(merge_tree(parts[j], 0, parts[j].size()), Terms<T, true>{n, x, ys[j]}, threads));
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

/// Below this many elements a thread is not worth waking.
constexpr std::int64_t least_elements_per_thread = 16384;

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
