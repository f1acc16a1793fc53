#include "cpu/triangular_solve.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/triangular_solve.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "core/complex_quotient.hpp"
#include "core/thread_pool.hpp"
#include "cpu/complex_quotient.hpp"
#include "cpu/simd/row_sum-inl.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <span>

#ifndef SOLVER_CPU_TRIANGULAR_SOLVE_ONCE
#define SOLVER_CPU_TRIANGULAR_SOLVE_ONCE
namespace solver::cpu {

/// Where the entries beside the diagonal of a row are: first <= k < last; and where the diagonal is.
struct TriangleRow {
    std::int64_t first;
    std::int64_t last;
    std::int64_t diagonal;
};

/// Sorted columns put the diagonal last in a lower triangle and first in an upper one.
template <class T>
TriangleRow triangle_row(const CsrRows<T>& rows, std::int64_t row, Triangle triangle, Diagonal diagonal) {
    const std::int64_t length = rows.length(row);
    if (diagonal == Diagonal::unit) return {0, length, 0};
    return triangle == Triangle::lower ? TriangleRow{0, length - 1, length - 1} : TriangleRow{1, length, 0};
}

template <class T>
TriangleRow triangle_row(const DenseRows<T>& rows, std::int64_t row, Triangle triangle, Diagonal) {
    return triangle == Triangle::lower ? TriangleRow{0, row, row} : TriangleRow{row + 1, rows.length(row), row};
}

/// Both parts of x_i from their numerators; `pivot` is p and q of p + q i.
template <class T>
void divide_pair(const T* pivot, T* x) {
    const T numerator[] = {x[0], x[1]};
    x[0] = canonical(quotient_part(numerator, pivot, 0));
    x[1] = canonical(quotient_part(numerator, pivot, 1));
}

/// The rows of a schedule, by their places.
template <class T>
class ScheduledRows : public CsrRows<T> {
public:
    explicit ScheduledRows(const LevelSchedule<T>& schedule)
        : CsrRows<T>(CsrView<T>{std::ssize(schedule.order), std::ssize(schedule.order), schedule.row_offsets,
                                schedule.column_indices, schedule.values}) {}

    /// Later rows meet elements of x that another thread may be writing.
    static constexpr bool may_overrun(std::int64_t, std::int64_t) { return false; }
};

}  // namespace solver::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

using cpu::CsrRows;
using cpu::DenseRows;
using cpu::LevelSchedule;
using cpu::ScheduledRows;

/// A short row is summed faster by one chain than in lanes that have to be merged. The elements solved last come last, so that
/// the others need not wait for them.
inline constexpr std::int64_t shortest_row_in_lanes = 32;

template <AccumulatorLanes Acc, class Rows, class T>
HWY_INLINE typename Acc::Scalar sum_solved(const Rows& rows, std::int64_t start, std::int64_t first, std::int64_t last,
                                           const RowTask<T>& task, Triangle triangle) {
    if (last - first >= shortest_row_in_lanes) return sum_entries<Acc>(rows, start, first, last, task);
    typename Acc::Scalar sum;
    const auto add = [&](std::int64_t k) HWY_ATTR {
        const auto entry = rows.entry(k);
        sum.add_product(entry.value(start), task.x[entry.column(start)]);
    };
    if (triangle == Triangle::lower)
        for (std::int64_t k = first; k < last; ++k) add(k);
    else
        for (std::int64_t k = last; k-- > first;) add(k);
    return sum;
}

/// The rows of a PairedTriangle where there are pair_pivots.
template <AccumulatorLanes Acc, class Rows, class T>
void substitute(const Rows& rows, std::int64_t n, Triangle triangle, Diagonal diagonal, const T* b, T* x,
                const T* pair_pivots) {
    const RowTask<T> task{.alpha = -1, .x = x, .beta = 1, .y_in = b, .y = x};
    for (std::int64_t step = 0; step < n; ++step) {
        const std::int64_t row = triangle == Triangle::lower ? step : n - 1 - step;
        const std::int64_t start = rows.start(row);
        const auto [first, last, pivot] = cpu::triangle_row(rows, row, triangle, diagonal);
        const auto sum = sum_solved<Acc>(rows, start, first, last, task, triangle);
        const T numerator = round_row(sum, rows, start, first, last, task, row);
        x[row] = diagonal == Diagonal::unit ? numerator : canonical(div_rn(numerator, rows.entry(pivot).value(start)));
        if (pair_pivots != nullptr && step % 2 == 1) cpu::divide_pair(pair_pivots + row / 2 * 2, x + row / 2 * 2);
    }
}

/// Solves rows of one level, which do not depend on one another: side by side in lanes where enough of them have similar
/// lengths.
template <AccumulatorLanes Acc, class T>
class LevelRows {
public:
    static constexpr std::size_t lanes = max_lanes<typename Acc::D>;
    static constexpr std::int64_t rows_ahead = 64;
    static constexpr std::int64_t fewest_side_by_side = std::min<std::int64_t>(lanes, 3);

    LevelRows(const LevelSchedule<T>& schedule, const T* b, T* x, const T* pair_pivots)
        : schedule_(schedule),
          rows_(schedule),
          task_{.alpha = -1, .x = x, .beta = 1, .y_in = b, .y = x},
          pair_pivots_(pair_pivots) {}

    /// The rows at places begin..end-1.
    HWY_INLINE void solve(std::int64_t begin, std::int64_t end) {
        for (std::int64_t place = begin; place < end; place += lanes) {
            prefetch(place + rows_ahead);
            solve_group(place, std::min<std::int64_t>(end - place, lanes));
        }
        if (HWY_UNLIKELY(open_.count > 0)) close();
        if (pair_pivots_ != nullptr) divide_pairs(begin, end);
    }

private:
    using FirstAcc = FirstLanes<Acc, RowsOnCpu>;
    static constexpr SkipRule skip = Escalation<T, RowsOnCpu>::skip;

    HWY_INLINE void solve_group(std::int64_t place, std::int64_t count) {
        if (count < fewest_side_by_side) return solve_one_by_one(place, count);
        RowGroup<lanes> group;
        for (std::int64_t i = 0; i < count; ++i) push(group, place + i);
        const std::int64_t longest = group.longest();
        const std::int64_t common = common_length(group, longest);
        if (HWY_UNLIKELY(longest > common)) return solve_one_by_one(place, count);
        if (!std::is_same_v<FirstAcc, Acc> && groups_without_first_try_ > 0) {
            --groups_without_first_try_;
            return leave_open(place, count, ~std::uint64_t{0});
        }
        const std::uint64_t open = solve_side_by_side(group, place, common);
        if (HWY_LIKELY(open == 0)) return;
        if (skip.applies(hwy::PopCount(open), lanes)) groups_without_first_try_ = skip.next;
        leave_open(place, count, open);
    }

    /// Asks for the elements of b and x of rows to come, which lie apart.
    HWY_INLINE void prefetch(std::int64_t place) const {
        if (place + static_cast<std::int64_t>(lanes) > std::ssize(schedule_.order)) return;
        for (std::size_t i = 0; i < lanes; ++i) {
            const std::int32_t row = schedule_.order[place + i];
            __builtin_prefetch(task_.y_in + row);
            __builtin_prefetch(task_.y + row, 1);
        }
    }

    HWY_INLINE void push(RowGroup<lanes>& group, std::int64_t place) const {
        group.row[group.count] = schedule_.order[place];
        group.start[group.count] = rows_.start(place);
        group.length[group.count++] = rows_.length(place);
    }

    /// Returns the bits of rows that are not proven; the others are done.
    HWY_INLINE std::uint64_t solve_side_by_side(const RowGroup<lanes>& group, std::int64_t place, std::int64_t common) const {
        const typename FirstAcc::D d;
        FirstAcc acc = sum_side_by_side<FirstAcc>(rows_, group, common, task_);
        acc.negate();
        // idle lanes must not look at a row that another thread may be writing
        acc.add_product(hn::Set(d, 1), pack_widened(d, [&](std::size_t i) HWY_ATTR {
                            return task_.y_in[group.row[i < group.count ? i : 0]];
                        }));
        const auto found = acc.results(affine_underflow(task_.alpha, common));
        HWY_ALIGN T value[lanes];
        store_rounded(found.value, value);
        const std::uint64_t open = ~bits_of(d, found.proven) & ((std::uint64_t{1} << group.count) - 1);
        if (!schedule_.pivots.empty())
            for (std::size_t i = 0; i < group.count; ++i) value[i] = div_rn(value[i], schedule_.pivots[place + i]);
        for (std::size_t i = 0; i < group.count; ++i)
            if (HWY_LIKELY((open >> i & 1) == 0)) task_.y[group.row[i]] = canonical(value[i]);
        return open;
    }

    HWY_NOINLINE void leave_open(std::int64_t place, std::int64_t count, std::uint64_t open) {
        for (std::int64_t i = 0; i < count; ++i) {
            if ((open >> i & 1) == 0) continue;
            open_places_[open_.count] = place + i;
            push(open_, place + i);
            if (open_.count == lanes) close();
        }
    }

    /// The rows left open, rounded and divided.
    HWY_NOINLINE void close() {
        const std::size_t count = open_.count;
        std::int64_t row[lanes];
        std::copy(open_.row, open_.row + lanes, row);
        resolve(rows_, open_, task_);
        for (std::size_t i = 0; i < count; ++i) finish(open_places_[i], task_.y[row[i]]);
    }

    HWY_NOINLINE void solve_one_by_one(std::int64_t place, std::int64_t count) const {
        for (; count > 0; --count, ++place) {
            const std::int64_t row = schedule_.order[place];
            const std::int64_t start = rows_.start(place);
            const std::int64_t length = rows_.length(place);
            const auto sum = sum_solved<Acc>(rows_, start, 0, length, task_, Triangle::lower);
            finish(place, round_row(sum, rows_, start, 0, length, task_, row));
        }
    }

    /// Both rows of a pair are side by side: they are of one level and equally long, and chunks begin with even ones.
    HWY_NOINLINE void divide_pairs(std::int64_t begin, std::int64_t end) const {
        T numerators[rows_ahead], pivots[rows_ahead], quotients[rows_ahead];
        for (; begin < end; begin += rows_ahead) {
            const std::span order(schedule_.order.data() + begin, static_cast<std::size_t>(std::min(end - begin, rows_ahead)));
            for (std::size_t k = 0; k < order.size(); ++k) {
                numerators[k] = task_.y[order[k]];
                pivots[k] = pair_pivots_[order[k]];
            }
            cpu::divide_complex(std::ssize(order), numerators, pivots, quotients);
            for (std::size_t k = 0; k < order.size(); ++k) task_.y[order[k]] = canonical(quotients[k]);
        }
    }

    HWY_INLINE void finish(std::int64_t place, T numerator) const {
        const bool has_pivots = !schedule_.pivots.empty();
        task_.y[schedule_.order[place]] = has_pivots ? canonical(div_rn(numerator, schedule_.pivots[place])) : numerator;
    }

    const LevelSchedule<T>& schedule_;
    ScheduledRows<T> rows_;
    RowTask<T> task_;
    const T* pair_pivots_;
    RowGroup<lanes> open_;
    std::int64_t open_places_[lanes] = {};
    int groups_without_first_try_ = 0;
};

template <AccumulatorLanes Acc, class T>
void solve_chunk(const LevelSchedule<T>& schedule, const cpu::LevelChunk& chunk, LevelRows<Acc, T>& rows) {
    for (std::int64_t level = chunk.first_level; level < chunk.last_level; ++level)
        rows.solve(std::max(chunk.first_place, schedule.level_offsets[level]),
                   std::min(chunk.last_place, schedule.level_offsets[level + 1]));
}

/// Threads take chunks in order, each as soon as the levels before it are done. A thread that waits holds nothing, so one that
/// does not run, or comes late, keeps nobody waiting, and a single thread does it all.
template <AccumulatorLanes Acc, class T>
void solve_scheduled(const LevelSchedule<T>& schedule, const T* b, T* x, const T* pair_pivots) {
    const std::int64_t count = std::ssize(schedule.chunks);
    alignas(64) std::atomic<std::int64_t> next{0};
    alignas(64) std::atomic<std::int64_t> done{0};
    cpu::parallel_for(schedule.threads, [&](int) {
        LevelRows<Acc, T> rows(schedule, b, x, pair_pivots);
        std::int64_t chunk = next.load(std::memory_order_relaxed);
        for (int waits = 0; chunk < count;) {
            if (done.load(std::memory_order_acquire) < schedule.chunks[chunk].chunks_before) {
                cpu::wait_a_little(waits++);
                chunk = next.load(std::memory_order_relaxed);
            } else if (next.compare_exchange_weak(chunk, chunk + 1, std::memory_order_relaxed)) {
                solve_chunk(schedule, schedule.chunks[chunk], rows);
                done.fetch_add(1, std::memory_order_release);
                ++chunk;
                waits = 0;
            }
        }
    });
}

void solve_levels_double(const LevelSchedule<double>& schedule, const double* b, double* x, Accuracy accuracy,
                         const double* pair_pivots) {
    with_lanes<double, row_lanes, RowsOnCpu>(
        accuracy, [&](auto lanes) { solve_scheduled<typename decltype(lanes)::type>(schedule, b, x, pair_pivots); });
}
void solve_levels_float(const LevelSchedule<float>& schedule, const float* b, float* x, Accuracy accuracy,
                        const float* pair_pivots) {
    with_lanes<float, row_lanes, RowsOnCpu>(
        accuracy, [&](auto lanes) { solve_scheduled<typename decltype(lanes)::type>(schedule, b, x, pair_pivots); });
}

template <class Rows, class T>
void substitute_in(const Rows& rows, std::int64_t n, Triangle triangle, Diagonal diagonal, const T* b, T* x, Accuracy accuracy,
                   const T* pair_pivots = nullptr) {
    with_lanes<T, row_lanes, RowsOnCpu>(accuracy, [&](auto lanes) {
        substitute<typename decltype(lanes)::type>(rows, n, triangle, diagonal, b, x, pair_pivots);
    });
}

void substitute_csr_double(const CsrView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                           Accuracy accuracy) {
    substitute_in(CsrRows<double>(a), a.rows, triangle, diagonal, b, x, accuracy);
}
void substitute_csr_float(const CsrView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x,
                          Accuracy accuracy) {
    substitute_in(CsrRows<float>(a), a.rows, triangle, diagonal, b, x, accuracy);
}
void substitute_pairs_double(const PairedTriangle<double>& a, const double* b, double* x, Accuracy accuracy) {
    substitute_in(CsrRows<double>(a.beside), a.beside.rows, a.triangle, Diagonal::unit, b, x, accuracy, a.pivots.data());
}
void substitute_pairs_float(const PairedTriangle<float>& a, const float* b, float* x, Accuracy accuracy) {
    substitute_in(CsrRows<float>(a.beside), a.beside.rows, a.triangle, Diagonal::unit, b, x, accuracy, a.pivots.data());
}
void substitute_dense_double(const DenseView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                             Accuracy accuracy) {
    substitute_in(DenseRows<double>(a), a.rows, triangle, diagonal, b, x, accuracy);
}
void substitute_dense_float(const DenseView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x,
                            Accuracy accuracy) {
    substitute_in(DenseRows<float>(a), a.rows, triangle, diagonal, b, x, accuracy);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(substitute_csr_double);
HWY_EXPORT(substitute_csr_float);
HWY_EXPORT(substitute_pairs_double);
HWY_EXPORT(substitute_pairs_float);
HWY_EXPORT(substitute_dense_double);
HWY_EXPORT(substitute_dense_float);
HWY_EXPORT(solve_levels_double);
HWY_EXPORT(solve_levels_float);

namespace cpu {

void solve_triangle(const CsrView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                    Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(substitute_csr_double)(a, triangle, diagonal, b, x, accuracy);
}
void solve_triangle(const CsrView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x,
                    Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(substitute_csr_float)(a, triangle, diagonal, b, x, accuracy);
}
void solve_triangle(const DenseView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                    Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(substitute_dense_double)(a, triangle, diagonal, b, x, accuracy);
}
void solve_triangle(const DenseView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x,
                    Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(substitute_dense_float)(a, triangle, diagonal, b, x, accuracy);
}

void solve_triangle(const PairedTriangle<double>& a, const double* b, double* x, Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(substitute_pairs_double)(a, b, x, accuracy);
}
void solve_triangle(const PairedTriangle<float>& a, const float* b, float* x, Accuracy accuracy) {
    HWY_DYNAMIC_DISPATCH(substitute_pairs_float)(a, b, x, accuracy);
}

void solve_levels(const LevelSchedule<double>& schedule, const double* b, double* x, Accuracy accuracy,
                  const double* pair_pivots) {
    HWY_DYNAMIC_DISPATCH(solve_levels_double)(schedule, b, x, accuracy, pair_pivots);
}
void solve_levels(const LevelSchedule<float>& schedule, const float* b, float* x, Accuracy accuracy, const float* pair_pivots) {
    HWY_DYNAMIC_DISPATCH(solve_levels_float)(schedule, b, x, accuracy, pair_pivots);
}

}  // namespace cpu
}  // namespace solver
#endif  // HWY_ONCE
