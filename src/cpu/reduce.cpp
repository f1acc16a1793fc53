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
Expansion<T> expand(bool products, std::int64_t n, const T* x, const T* y, int threads) {
    return (products ? superaccumulate(Terms<T, true>{n, x, y}, threads)
                     : superaccumulate(Terms<T, false>{n, x, nullptr}, threads))
        .template take_expansion<T>();
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

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(reduce_double);
HWY_EXPORT(reduce_float);
HWY_EXPORT(expand_double);
HWY_EXPORT(expand_float);

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

}  // namespace cpu
}  // namespace solver
#endif  // HWY_ONCE
