#include "cpu/spmv.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/dense_spmv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "core/thread_pool.hpp"
#include "cpu/simd/row_sum-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

using cpu::DenseRows;

template <AccumulatorLanes Acc, class T>
void multiply_dense(const DenseView<T>& a, int threads, const RowTask<T>& task) {
    cpu::parallel_for(threads, [&](int t) {
        const std::int64_t first = cpu::share_begin(a.rows, t, threads);
        const std::int64_t last = cpu::share_begin(a.rows, t + 1, threads);
        multiply_rows<Acc>(DenseRows<T>(a), first, last, task);
    });
}

template <class T>
void multiply_dense_in(const DenseView<T>& a, int threads, const RowTask<T>& task, Accuracy accuracy) {
    with_lanes<T, row_lanes, RowsOnCpu>(accuracy,
                                        [&](auto lanes) { multiply_dense<typename decltype(lanes)::type>(a, threads, task); });
}

void dense_double(const DenseView<double>& a, int threads, const RowTask<double>& task, Accuracy accuracy) {
    multiply_dense_in(a, threads, task, accuracy);
}
void dense_float(const DenseView<float>& a, int threads, const RowTask<float>& task, Accuracy accuracy) {
    multiply_dense_in(a, threads, task, accuracy);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(dense_double);
HWY_EXPORT(dense_float);

namespace cpu {

void multiply(const DenseView<double>& a, int threads, const RowTask<double>& task, Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(dense_double)(a, threads, task, accuracy);
}
void multiply(const DenseView<float>& a, int threads, const RowTask<float>& task, Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(dense_float)(a, threads, task, accuracy);
}

}  // namespace cpu
}  // namespace solver
#endif  // HWY_ONCE
