// Products with packed matrices of SOLVER_NUMBER, exact or not as SOLVER_EXACT says. What includes it defines both: a file
// each, since all combinations of values, accumulators and targets take a compiler a minute. Re-included for every Highway
// target.

#include "cpu/packed_spmv.hpp"

#include "core/thread_pool.hpp"
#include "cpu/simd/slice_sum-inl.hpp"

#include <algorithm>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

using cpu::CsrRows;

/// Codes that stay in the nearest cache while every task passes over them.
inline constexpr std::int64_t codes_a_pass = 2048;

/// Slices first..last-1 for every task, in passes over so many slots.
template <class Acc, int components, class Values, class T>
void multiply_slices(const PackedMatrix<T>& packed, const Values& values, const CsrRows<T>& rows, std::int64_t first,
                     std::int64_t last, std::span<const RowTask<T>> tasks) {
    const PackedPattern& pattern = *packed.pattern;
    while (first < last) {
        std::int64_t end = tasks.size() == 1 ? last : first + 1;
        const std::int64_t enough = pattern.slices[first].first_step + codes_a_pass / (pattern.shape.height * components);
        while (end < last && pattern.slices[end].first_step < enough) ++end;
        for (const RowTask<T>& task : tasks) SliceProduct<Acc, components, T>(packed, rows, task).multiply(first, end, values);
        first = end;
    }
}

/// The slice before which a thread's share of all steps ends. A slice counts for two steps more, for what it costs without any.
inline std::int64_t slice_boundary(const PackedPattern& pattern, int t, int threads) {
    const auto count = static_cast<std::int64_t>(pattern.slices.size());
    const std::int64_t work = cpu::share_begin(pattern.steps() + 2 * count, t, threads);
    std::int64_t low = 0;
    std::int64_t high = count;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (pattern.slices[middle].first_step + 2 * middle < work)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/// Rounds the rows whose parts several shares have summed: `parts` has the sum of every share.
template <class Scalar, class T>
void join_shares(const PackedPattern& pattern, const CsrView<T>& a, std::vector<Scalar>& parts, const RowTask<T>& task) {
    for (std::size_t i = 0; i < pattern.shares.size(); i += static_cast<std::size_t>(pattern.shares[i].parts)) {
        const PackedShare& first = pattern.shares[i];
        if (first.parts == 1) continue;
        Scalar& sum = parts[i];
        for (std::size_t j = 1; j < static_cast<std::size_t>(first.parts); ++j) sum.merge(parts[i + j]);
        task.y[first.row] =
            round_row(sum, CsrRows<T>(a), a.row_offsets[first.row], 0, a.row_length(first.row), task, first.row);
    }
}

template <class Acc, int components, class Values, class T>
void multiply_packed(const PackedMatrix<T>& packed, const Values& values, const CsrView<T>& a, int threads,
                     std::span<const RowTask<T>> tasks) {
    const PackedPattern& pattern = *packed.pattern;
    using Scalar = typename Acc::Scalar;
    const CsrRows<T> rows(a);
    const auto shares = static_cast<std::int64_t>(pattern.shares.size());
    std::vector<std::vector<Scalar>> parts(tasks.size(), std::vector<Scalar>(pattern.shares.size()));
    cpu::parallel_for(threads, [&](int t) {
        multiply_slices<Acc, components>(packed, values, rows, slice_boundary(pattern, t, threads),
                                         slice_boundary(pattern, t + 1, threads), tasks);
        for (std::int64_t s = cpu::share_begin(shares, t, threads); s < cpu::share_begin(shares, t + 1, threads); ++s) {
            const PackedShare& share = pattern.shares[s];
            for (std::size_t i = 0; i < tasks.size(); ++i) {
                if (share.parts == 1)
                    tasks[i].y[share.row] = finish_row<Acc>(rows, share.row, tasks[i]);
                else
                    parts[i][s] = sum_entries<Acc>(rows, a.row_offsets[share.row], share.begin, share.end, tasks[i]);
            }
        }
    });
    for (std::size_t i = 0; i < tasks.size(); ++i) join_shares(pattern, a, parts[i], tasks[i]);
}

/// Calls work(values) with the reader of the encoding, for results in so many lanes. One reader does for all where processors
/// have no fused multiply-add, and sums take longer than a branch.
template <class T, class Work>
void with_values(const PackedValues<T>& values, [[maybe_unused]] std::size_t lanes, const Work& work) {
#if !HWY_NATIVE_FMA
    work(EncodedValues<T>{values});
#else
    if (values.encoding == ValueEncoding::dictionary8 && values.dictionary.size() <= lanes) {
        T dictionary[row_lanes] = {};
        std::copy(values.dictionary.begin(), values.dictionary.end(), dictionary);
        return work(VectorDictionaryValues<T>{values.index8.data(), dictionary});
    }
    switch (values.encoding) {
        case ValueEncoding::plain:
            return work(StoredValues<T>{values.plain.data()});
        case ValueEncoding::floats:
            return work(StoredValues<float>{values.floats.data()});
        case ValueEncoding::dictionary8:
            return work(DictionaryValues<std::uint8_t, T>{values.index8.data(), values.dictionary.data()});
        case ValueEncoding::dictionary16:
            return work(DictionaryValues<std::uint16_t, T>{values.index16.data(), values.dictionary.data()});
    }
#endif
}

static void multiply_packed_in(const PackedMatrix<SOLVER_NUMBER>& packed, const CsrView<SOLVER_NUMBER>& a, int threads,
                               std::span<const RowTask<SOLVER_NUMBER>> tasks, Accuracy accuracy) {
    with_accuracy(accuracy, [&](auto mode) {
        if constexpr ((mode.value == Accuracy::exact) == SOLVER_EXACT) {
            using Acc = typename LanesOf<typename AccumulatorOf<SOLVER_NUMBER, mode.value, SlicesOnCpu>::type, row_lanes>::type;
            if (packed.pattern->components == 2)
                return multiply_packed<Acc, 2>(packed, EncodedValues<SOLVER_NUMBER>{packed.values}, a, threads, tasks);
            with_values(packed.values, hn::Lanes(typename Acc::D()),
                        [&](const auto& values) { multiply_packed<Acc, 1>(packed, values, a, threads, tasks); });
        }
    });
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(multiply_packed_in);

namespace cpu {

template <class T, bool exact>
void multiply_packed(const PackedMatrix<T>& packed, const CsrView<T>& a, int threads, std::span<const RowTask<T>> tasks,
                     Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(multiply_packed_in)(packed, a, threads, tasks, accuracy);
}
template void multiply_packed<SOLVER_NUMBER, SOLVER_EXACT>(const PackedMatrix<SOLVER_NUMBER>&, const CsrView<SOLVER_NUMBER>&,
                                                           int, std::span<const RowTask<SOLVER_NUMBER>>, Accuracy);

}  // namespace cpu
}  // namespace solver
#endif  // HWY_ONCE
