#include "cpu/spmv.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/spmv.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "core/thread_pool.hpp"
#include "cpu/simd/row_sum-inl.hpp"

#include <vector>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

using cpu::CsrRows;

/// Rounds the rows that several threads share: the last part of thread t - 1's work and the first parts of those after it.
template <Accumulator Scalar, class T>
void join_shared_rows(const CsrView<T>& a, std::span<const WorkBoundary> boundaries, std::vector<Scalar>& first_part,
                      std::vector<Scalar>& last_part, const RowTask<T>& task) {
    const std::size_t threads = boundaries.size() - 1;
    const auto is_shared = [&](std::size_t t) { return t < threads && boundaries[t].entry > a.row_offsets[boundaries[t].row]; };
    for (std::size_t t = 1; t < threads; ++t) {
        if (!is_shared(t)) continue;
        const std::int64_t row = boundaries[t].row;
        Scalar& sum = last_part[t - 1];
        sum.merge(first_part[t]);
        while (is_shared(t + 1) && boundaries[t + 1].row == row) sum.merge(first_part[++t]);
        task.y[row] = round_row(sum, CsrRows<T>(a), a.row_offsets[row], 0, a.row_length(row), task, row);
    }
}

/// Entries that stay in the nearest cache while every task passes over them.
inline constexpr std::int64_t entries_a_pass = 2048;

/// Rows first..last-1 for every task, in passes of whole groups of rows, so that the bits are those of one pass.
template <AccumulatorLanes Acc, class T>
void multiply_rows_for_all(const CsrView<T>& a, std::int64_t first, std::int64_t last, std::span<const RowTask<T>> tasks) {
    constexpr auto lanes = static_cast<std::int64_t>(max_lanes<typename Acc::D>);
    const CsrRows<T> rows(a);
    while (first < last) {
        std::int64_t end = tasks.size() == 1 ? last : first + lanes;
        while (end < last && a.row_offsets[end] - a.row_offsets[first] < entries_a_pass) end += lanes;
        end = std::min(end, last);
        for (const RowTask<T>& task : tasks) multiply_rows<Acc>(rows, first, end, task);
        first = end;
    }
}

template <AccumulatorLanes Acc, class T>
void multiply_between(const CsrView<T>& a, std::span<const WorkBoundary> boundaries, std::span<const RowTask<T>> tasks) {
    using Scalar = typename Acc::Scalar;
    const std::size_t threads = boundaries.size() - 1;
    const CsrRows<T> rows(a);
    std::vector<std::vector<Scalar>> first_part(tasks.size(), std::vector<Scalar>(threads));
    std::vector<std::vector<Scalar>> last_part(tasks.size(), std::vector<Scalar>(threads));
    cpu::parallel_for(static_cast<int>(threads), [&](int t) {
        const auto sum_part = [&](std::vector<std::vector<Scalar>>& parts, std::int64_t row, std::int64_t begin,
                                  std::int64_t end) {
            const std::int64_t start = a.row_offsets[row];
            for (std::size_t i = 0; i < tasks.size(); ++i)
                parts[i][t] = sum_entries<Acc>(rows, start, begin - start, end - start, tasks[i]);
        };
        auto [row, entry] = boundaries[t];
        const WorkBoundary end = boundaries[t + 1];
        if (row < a.rows && entry > a.row_offsets[row]) {
            sum_part(first_part, row, entry, std::min(end.entry, a.row_offsets[row + 1]));
            if (row++ == end.row) return;
        }
        multiply_rows_for_all<Acc>(a, row, end.row, tasks);
        if (end.row < a.rows && end.entry > a.row_offsets[end.row])
            sum_part(last_part, end.row, a.row_offsets[end.row], end.entry);
    });
    for (std::size_t i = 0; i < tasks.size(); ++i) join_shared_rows(a, boundaries, first_part[i], last_part[i], tasks[i]);
}

template <class T>
void multiply_csr_in(const CsrView<T>& a, std::span<const WorkBoundary> boundaries, std::span<const RowTask<T>> tasks,
                     Accuracy accuracy) {
    with_lanes<T, row_lanes, RowsOnCpu>(
        accuracy, [&](auto lanes) { multiply_between<typename decltype(lanes)::type>(a, boundaries, tasks); });
}

void csr_double(const CsrView<double>& a, std::span<const WorkBoundary> boundaries, std::span<const RowTask<double>> tasks,
                Accuracy accuracy) {
    multiply_csr_in(a, boundaries, tasks, accuracy);
}
void csr_float(const CsrView<float>& a, std::span<const WorkBoundary> boundaries, std::span<const RowTask<float>> tasks,
               Accuracy accuracy) {
    multiply_csr_in(a, boundaries, tasks, accuracy);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(csr_double);
HWY_EXPORT(csr_float);

namespace cpu {

void multiply(const CsrView<double>& a, std::span<const WorkBoundary> boundaries, std::span<const RowTask<double>> tasks,
              Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(csr_double)(a, boundaries, tasks, accuracy);
}
void multiply(const CsrView<float>& a, std::span<const WorkBoundary> boundaries, std::span<const RowTask<float>> tasks,
              Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(csr_float)(a, boundaries, tasks, accuracy);
}

}  // namespace cpu
}  // namespace solver
#endif  // HWY_ONCE
