// Sums over the entries of matrix rows: lanes along a row, or rows side by side in the lanes, and the finish that rounds them.
// Shared by sparse and dense products, residuals and triangular solves; re-included for every Highway target.

#if defined(SOLVER_CPU_ROW_SUM_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SOLVER_CPU_ROW_SUM_INL_HPP
#undef SOLVER_CPU_ROW_SUM_INL_HPP
#else
#define SOLVER_CPU_ROW_SUM_INL_HPP
#endif

#include "cpu/row_task.hpp"
#include "cpu/simd/expansion_lanes-inl.hpp"
#include "cpu/simd/lanes-inl.hpp"
#include "solver/numeric/affine.hpp"

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

using cpu::RowTask;

/// Additions in one chain. Two products a step (x as a pair) and the merges above it keep h <= 1024.
inline constexpr std::int64_t chain_steps = 256;

/// Lanes of a row kernel, for values of any type: the starts of eight rows still fit the registers.
inline constexpr std::size_t row_lanes = 8;

/// Entries: rows side by side are read along many lines at a time, which hardware prefetchers follow badly. Measured on two Zen
/// 4 cores, 27-point 96^3, compensated: 0.76 ns an entry without, 0.50 at 256, 0.46 at 512, 0.52 at 2048, 0.57 at 4096.
inline constexpr std::int64_t prefetch_distance = 512;

/// Adds entries begin..end-1 of the row at `start` times x, lanes along the row, one chain a lane.
template <AccumulatorLanes Acc, class Rows, class T>
HWY_INLINE void add_chains(Acc& acc, const Rows& rows, std::int64_t start, std::int64_t begin, std::int64_t end, const T* x) {
    const typename Acc::D d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    std::int64_t k = begin;
    for (; k + lanes <= end; k += lanes) {
        const auto a = rows.is_contiguous()
                           ? load_widened(d, rows.entry(k).values + start)
                           : pack_widened(d, [&](std::size_t i) HWY_ATTR { return rows.entry(k + i).value(start); });
        acc.add_product(a, pack_widened(d, [&](std::size_t i) HWY_ATTR { return x[rows.entry(k + i).column(start)]; }));
    }
    if (k == end) return;
    const auto left = static_cast<std::size_t>(end - k);  // idle lanes add 0 times 0
    const auto pick = [&](auto at) HWY_ATTR {
        return pack_widened(d, [&](std::size_t i) HWY_ATTR { return i < left ? at(rows.entry(k + i)) : T(0); });
    };
    acc.add_product(pick([&](auto entry) HWY_ATTR { return entry.value(start); }),
                    pick([&](auto entry) HWY_ATTR { return x[entry.column(start)]; }));
}

/// The sum of any number of entries of a row: blocks of chain_steps steps, merged by a fixed tree.
template <AccumulatorLanes Acc, class Rows, class T>
typename Acc::Scalar sum_entries(const Rows& rows, std::int64_t start, std::int64_t begin, std::int64_t end,
                                 const RowTask<T>& task) {
    const std::int64_t block = chain_steps * static_cast<std::int64_t>(hn::Lanes(typename Acc::D()));
    if (end - begin <= block) {
        Acc acc;
        for (const T* x : {task.x, task.x_low})
            if (x != nullptr) add_chains(acc, rows, start, begin, end, x);
        return merge_lanes(acc);
    }
    const std::int64_t blocks = (end - begin + block - 1) / block;
    const std::int64_t middle = begin + blocks / 2 * block;
    auto sum = sum_entries<Acc>(rows, start, begin, middle, task);
    sum.merge(sum_entries<Acc>(rows, start, middle, end, task));
    return sum;
}

/// alpha sum + beta y_in of entries first..last-1 of a row, rounded; a filter that cannot decide makes way for the
/// superaccumulator.
template <ScalableAccumulator Scalar, class Rows, class T>
HWY_INLINE T round_row(const Scalar& sum, const Rows& rows, std::int64_t start, std::int64_t first, std::int64_t last,
                       const RowTask<T>& task, std::int64_t row) {
    const T y = task.beta != T(0) ? task.y_in[row] : T(0);
    const Scalar total = affine(sum, task.alpha, task.beta, y);
    if constexpr (!Filter<Scalar>) {
        return total.result();
    } else {
        T result;
        if (total.try_result(result, affine_underflow(task.alpha, last - first))) return result;
        if constexpr (Scalar::wants_exact_products) {
            const bool exact_products = magnitude(task.alpha) == T(1) && products_are_exact(rows, start, first, last, task) &&
                                        (task.beta == T(0) || product_is_exact(task.beta, y));
            if (exact_products && total.try_result(result)) return result;
        }
        return cpu::round_exactly(rows, start, first, last, task, row);
    }
}

/// Rows to be summed side by side, one a lane.
template <std::size_t lanes>
struct RowGroup {
    std::int64_t row[lanes];
    std::int64_t start[lanes];
    std::int64_t length[lanes];  ///< 0 for an idle lane
    std::size_t count;

    HWY_INLINE RowGroup() { clear(); }

    /// Rows first, first + 1, ...
    template <class Rows>
    HWY_INLINE RowGroup(const Rows& rows, std::int64_t first) : count(lanes) {
        for (std::size_t i = 0; i < lanes; ++i) row[i] = first + static_cast<std::int64_t>(i);
        rows.find(first, start, length);
    }

    template <class Rows>
    HWY_INLINE void push(const Rows& rows, std::int64_t r) {
        row[count] = r;
        start[count] = rows.start(r);
        length[count++] = rows.length(r);
    }

    HWY_INLINE void clear() {
        for (std::size_t i = 0; i < lanes; ++i) row[i] = start[i] = length[i] = 0;
        count = 0;
    }
    HWY_INLINE std::int64_t longest() const {
        std::int64_t longest = length[0];
        for (std::size_t i = 1; i < lanes; ++i) longest = std::max(longest, length[i]);
        return longest;
    }
    HWY_INLINE std::int64_t shortest() const {
        std::int64_t shortest = length[0];
        for (std::size_t i = 1; i < lanes; ++i) shortest = std::min(shortest, length[i]);
        return shortest;
    }
    HWY_INLINE std::int64_t last_start() const {
        std::int64_t last = start[0];
        for (std::size_t i = 1; i < lanes; ++i) last = std::max(last, start[i]);
        return last;
    }
};

/// How many entries are summed side by side: such that at least half the lanes have work. Longer rows are summed along the row.
template <std::size_t lanes>
HWY_INLINE std::int64_t common_length(const RowGroup<lanes>& group, std::int64_t longest) {
    std::int64_t common = std::min(longest, chain_steps);
    for (; common > 8; common /= 2) {
        std::int64_t work = 0;
        for (std::size_t i = 0; i < lanes; ++i) work += std::min(group.length[i], common);
        if (2 * work >= static_cast<std::int64_t>(lanes) * common) break;
    }
    return common;
}

/// Hands add(a, x) the first `common` entries of each row of a group and the elements of x they meet, entry by entry. Lanes
/// beyond their row's end get 0 and 0.
template <class D, class Rows, std::size_t lanes, class T, class Add>
HWY_INLINE void for_each_product(D d, const Rows& rows, const RowGroup<lanes>& group, std::int64_t common, const T* x,
                                 Add add) {
    std::int64_t start[lanes];
    std::copy(group.start, group.start + lanes, start);
    const std::int64_t full = std::min(common, group.shortest());
    const std::int64_t ahead = start[0] + prefetch_distance;
    const auto add_entry = [&](std::int64_t k, auto masked) HWY_ATTR {
        rows.prefetch(ahead + k * static_cast<std::int64_t>(lanes));
        const auto entry = rows.entry(k);
        for (std::int64_t& s : start) s = cpu::opaque(s);
        const auto a = masked(pack_widened(d, [&](std::size_t i) HWY_ATTR { return entry.value(start[i]); }));
        add(a, masked(pack_widened(d, [&](std::size_t i) HWY_ATTR { return x[entry.column(start[i])]; })));
    };
    std::int64_t k = 0;
    for (; k < full; ++k) add_entry(k, [](auto v) HWY_ATTR { return v; });
    if (k == common) return;
    if (rows.may_overrun(group.last_start(), common)) {  // reads the beginning of later rows, and drops it
        using Length = hn::TFromD<D>;
        const auto length = pack(d, [&](std::size_t i) HWY_ATTR { return static_cast<Length>(group.length[i]); });
        for (; k < common; ++k) {
            const auto has_work = hn::Gt(length, hn::Set(d, static_cast<Length>(k)));
            add_entry(k, [&](auto v) HWY_ATTR { return hn::IfThenElseZero(has_work, v); });
        }
        return;
    }
    for (; k < common; ++k) {
        const auto entry = rows.entry(k);
        const auto pick = [&](auto at) HWY_ATTR {
            return pack_widened(d, [&](std::size_t i) HWY_ATTR { return k < group.length[i] ? at(start[i]) : T(0); });
        };
        add(pick([&](std::int64_t s) HWY_ATTR { return entry.value(s); }),
            pick([&](std::int64_t s) HWY_ATTR { return x[entry.column(s)]; }));
    }
}

template <ProductLanes Acc, class Rows, std::size_t lanes, class T>
HWY_INLINE Acc sum_side_by_side(const Rows& rows, const RowGroup<lanes>& group, std::int64_t common, const RowTask<T>& task) {
    using V = typename Acc::V;
    Acc acc;
    const int passes = task.x_low != nullptr ? 2 : 1;
    for (int pass = 0; pass < passes; ++pass) {
        const T* x = pass == 0 ? task.x : task.x_low;
        for_each_product(typename Acc::D(), rows, group, common, x, [&](V a, V b) HWY_ATTR { acc.add_product(a, b); });
    }
    return acc;
}

/// A row by itself, lanes along it.
template <AccumulatorLanes Acc, class Rows, class T>
HWY_NOINLINE T finish_row(const Rows& rows, std::int64_t row, const RowTask<T>& task) {
    const std::int64_t start = rows.start(row);
    const std::int64_t length = rows.length(row);
    return round_row(sum_entries<Acc>(rows, start, 0, length, task), rows, start, 0, length, task, row);
}

/// One bit a lane.
template <class D>
HWY_INLINE std::uint64_t bits_of(D d, hn::Mask<D> mask) {
    static_assert(max_lanes<D> <= 8);
    HWY_ALIGN std::uint8_t bytes[8] = {};
    hn::StoreMaskBits(d, mask, bytes);
    return bytes[0];
}

/// Adds all that alpha sum + beta y_in of a group's rows consists of, for alpha = 1 or -1.
template <class Acc, class Rows, std::size_t lanes, class T>
HWY_INLINE void add_rows(Acc& acc, const Rows& rows, const RowGroup<lanes>& group, const RowTask<T>& task) {
    using V = typename Acc::V;
    const typename Acc::D d;
    const auto add = [&](V a, V b) HWY_ATTR { acc.add_product(a, b); };
    for (const T* x : {task.x, task.x_low})
        if (x != nullptr) for_each_product(d, rows, group, group.longest(), x, add);
    if (task.alpha == -1) acc.negate();
    if (task.beta == 0) return;
    // idle lanes must not look at a row that another thread may be writing
    const auto y = pack_widened(d, [&](std::size_t i) HWY_ATTR { return task.y_in[group.row[i < group.count ? i : 0]]; });
    add(hn::Set(d, task.beta), y);
}

/// The rows of the bits `open` by what sees farther. Returns the bits of those whose values that proves.
template <class Rows, std::size_t lanes>
HWY_NOINLINE std::uint64_t resolve_cancelled(const Rows& rows, const RowGroup<lanes>& group, const RowTask<double>& task,
                                             std::uint64_t open, double (&value)[lanes]) {
    using Acc = typename LanesOf<typename Escalation<double, RowsOnCpu>::Again, lanes>::type;
    Acc acc;
    add_rows(acc, rows, group, task);
    typename Acc::Scalar sums[Acc::lanes];
    acc.store(sums);
    std::uint64_t proven = 0;
    for (std::size_t i = 0; i < group.count; ++i)
        if ((open >> i & 1) != 0 && sums[i].try_result(value[i])) proven |= std::uint64_t{1} << i;
    return proven;
}

/// Rows that the first try left open, again with a look at every product, which proves ties and zeros too; then by what sees
/// farther; then the last resort.
template <class Rows, std::size_t lanes>
HWY_NOINLINE void resolve(const Rows& rows, RowGroup<lanes>& group, const RowTask<double>& task) {
    using Acc = TrackedLanes<typename LanesOf<typename Escalation<double, RowsOnCpu>::Sum, lanes>::type>;
    Acc acc;
    add_rows(acc, rows, group, task);
    const auto found = acc.results(affine_underflow(task.alpha, group.longest()));
    HWY_ALIGN double value[lanes];
    store_rounded(found.value, value);
    const typename Acc::D d;
    std::uint64_t proven = bits_of(d, found.proven);
    const std::uint64_t open = bits_of(d, acc.exact()) & ~proven & ((std::uint64_t{1} << group.count) - 1);
    if (open != 0) proven |= resolve_cancelled(rows, group, task, open, value);
    for (std::size_t i = 0; i < group.count; ++i) {
        const std::int64_t row = group.row[i];
        const bool is_proven = (proven >> i & 1) != 0;
        task.y[row] = is_proven ? value[i] : cpu::round_exactly(rows, group.start[i], 0, group.length[i], task, row);
    }
    group.clear();
}

/// A row of floats that the lanes left open, by the scalar filter, which proves ties, too; then the last resort.
template <class Rows>
HWY_NOINLINE float resolve_row(const Rows& rows, std::int64_t row, std::int64_t start, std::int64_t length,
                               const RowTask<float>& task) {
    typename Escalation<float, RowsOnCpu>::Sum sum;
    for (const float* x : {task.x, task.x_low})
        for (std::int64_t k = 0; x != nullptr && k < length; ++k)
            sum.add_product(rows.entry(k).value(start), x[rows.entry(k).column(start)]);
    return round_row(sum, rows, start, 0, length, task, row);
}

/// Rows of floats that the first try left open, again in the lanes, then one by one.
template <class Rows, std::size_t lanes>
HWY_NOINLINE void resolve(const Rows& rows, RowGroup<lanes>& group, const RowTask<float>& task) {
    using Acc = typename LanesOf<typename Escalation<float, RowsOnCpu>::Sum, lanes>::type;
    const typename Acc::D d;
    Acc acc;
    add_rows(acc, rows, group, task);
    const auto found = acc.results(0);
    HWY_ALIGN float value[lanes];
    store_rounded(found.value, value);
    const std::uint64_t proven = bits_of(d, found.proven);
    for (std::size_t i = 0; i < group.count; ++i) {
        const std::int64_t row = group.row[i];
        const bool is_proven = (proven >> i & 1) != 0;
        task.y[row] = is_proven ? value[i] : resolve_row(rows, row, group.start[i], group.length[i], task);
    }
    group.clear();
}

/// Stores the values of the lanes of the bits `proven`; the others' rows go to `open`. Returns the bits of these.
template <class Rows, std::size_t lanes, class T>
HWY_NOINLINE std::uint64_t store_proven(const T (&value)[lanes], std::uint64_t proven, const Rows& rows,
                                        const RowGroup<lanes>& group, const RowTask<T>& task, RowGroup<lanes>& open) {
    const std::uint64_t unproven = ((std::uint64_t{1} << lanes) - 1) & ~proven;
    for (std::size_t i = 0; i < lanes; ++i) {
        if ((unproven >> i & 1) == 0) {
            task.y[group.row[i]] = value[i];
        } else {
            open.push(rows, group.row[i]);
            if (open.count == lanes) resolve(rows, open, task);
        }
    }
    return unproven;
}

/// Adjacent rows and alpha = 1 or -1: rounded in the lanes. Returns the bits of rows not proven, which go to `open`, except
/// those of the bits `known`, which the caller will overwrite.
template <ProductLanes Acc, class Rows, std::size_t lanes, class T>
HWY_INLINE std::uint64_t finish_side_by_side(const Rows& rows, const RowGroup<lanes>& group, std::int64_t common,
                                             std::uint64_t known, const RowTask<T>& task, RowGroup<lanes>& open) {
    const typename Acc::D d;
    Acc acc = sum_side_by_side<Acc>(rows, group, common, task);
    if (task.alpha == T(-1)) acc.negate();
    if (task.beta != T(0)) acc.add_product(hn::Set(d, task.beta), load_widened(d, task.y_in + group.row[0]));
    const auto found = acc.results(affine_underflow(task.alpha, common));
    if (HWY_LIKELY(hn::AllTrue(d, found.proven))) {
        store_rounded(found.value, task.y + group.row[0]);
        return 0;
    }
    HWY_ALIGN T value[lanes];
    store_rounded(found.value, value);
    return store_proven(value, bits_of(d, found.proven) | known, rows, group, task, open);
}

/// Rows left open, and how many groups of rows go without a first try (SkipRule).
template <std::size_t lanes>
struct Unfinished {
    HWY_INLINE Unfinished() : groups_without_first_try(0) {}

    RowGroup<lanes> open;
    int groups_without_first_try;
};

/// Adjacent rows some of which are longer than `common`: those are summed along the row.
template <AccumulatorLanes Acc, class Rows, class T, std::size_t lanes>
HWY_NOINLINE void multiply_uneven_group(const Rows& rows, RowGroup<lanes> group, std::int64_t common, const RowTask<T>& task,
                                        RowGroup<lanes>& open) {
    std::uint64_t along = 0;
    T result[lanes] = {};
    for (std::size_t i = 0; i < lanes; ++i) {
        if (group.length[i] <= common) continue;
        along |= std::uint64_t{1} << i;
        result[i] = finish_row<Acc>(rows, group.row[i], task);
        group.length[i] = common;  // its lane works along and is ignored
    }
    constexpr std::uint64_t all = (std::uint64_t{1} << lanes) - 1;
    if (along != all) finish_side_by_side<FirstLanes<Acc, RowsOnCpu>>(rows, group, common, along, task, open);
    for (std::size_t i = 0; i < lanes; ++i)
        if ((along >> i & 1) != 0) task.y[group.row[i]] = result[i];
}

/// As many adjacent rows as there are lanes.
template <AccumulatorLanes Acc, class Rows, class T, std::size_t lanes>
HWY_INLINE void multiply_group(const Rows& rows, std::int64_t first, const RowTask<T>& task, Unfinished<lanes>& unfinished) {
    using FirstAcc = FirstLanes<Acc, RowsOnCpu>;
    constexpr SkipRule skip = Escalation<T, RowsOnCpu>::skip;
    RowGroup<lanes> group(rows, first);
    const std::int64_t longest = group.longest();
    const std::int64_t common = common_length(group, longest);
    if (HWY_UNLIKELY(longest > common)) return multiply_uneven_group<Acc>(rows, group, common, task, unfinished.open);
    if constexpr (!std::is_same_v<FirstAcc, Acc>) {
        if (HWY_UNLIKELY(unfinished.groups_without_first_try > 0)) {
            --unfinished.groups_without_first_try;
            return resolve(rows, group, task);
        }
    }
    const std::uint64_t unproven = finish_side_by_side<FirstAcc>(rows, group, common, 0, task, unfinished.open);
    if (HWY_UNLIKELY(skip.applies(hwy::PopCount(unproven), lanes))) unfinished.groups_without_first_try = skip.next;
}

/// Stores alpha sum + beta y_in of adjacent rows in their lanes, for an alpha that is not -1. Returns the bits of those proven.
template <class Acc, class T, std::size_t lanes>
HWY_INLINE std::uint64_t scale_side_by_side(const Acc& acc, std::int64_t first, std::int64_t entries, const RowTask<T>& task,
                                            T (&value)[lanes]) {
    const typename Acc::D d;
    Acc total = acc.scaled(hn::Set(d, task.alpha));
    if (task.beta != T(0)) total.add_product(hn::Set(d, task.beta), load_widened(d, task.y_in + first));
    const auto found = total.results(hn::Set(d, affine_underflow(task.alpha, entries)));
    store_rounded(found.value, value);
    return bits_of(d, found.proven);
}

/// As many adjacent rows as there are lanes, for an alpha that is not 1 or -1.
template <AccumulatorLanes Acc, class Rows, class T>
HWY_NOINLINE void multiply_scaled_group(const Rows& rows, std::int64_t first, const RowTask<T>& task) {
    constexpr std::size_t lanes = max_lanes<typename Acc::D>;
    const RowGroup<lanes> group(rows, first);
    const std::int64_t common = common_length(group, group.longest());
    if (group.shortest() > common) {
        for (const std::int64_t row : group.row) task.y[row] = finish_row<Acc>(rows, row, task);
        return;
    }
    const Acc acc = sum_side_by_side<Acc>(rows, group, common, task);
    HWY_ALIGN T value[lanes];
    std::uint64_t proven = 0;
    if constexpr (requires(typename Acc::V alpha) { acc.scaled(alpha); })
        proven = scale_side_by_side(acc, first, common, task, value);
    typename Acc::Scalar sums[lanes];
    acc.store(sums);
    for (std::size_t i = 0; i < lanes; ++i) {
        const std::int64_t row = group.row[i], length = group.length[i];
        if (length > common)
            task.y[row] = finish_row<Acc>(rows, row, task);
        else if ((proven >> i & 1) != 0)
            task.y[row] = value[i];
        else
            task.y[row] = round_row(sums[i], rows, group.start[i], 0, length, task, row);
    }
}

/// Rows first..last-1.
template <AccumulatorLanes Acc, class Rows, class T>
void multiply_rows(const Rows& rows, std::int64_t first, std::int64_t last, const RowTask<T>& task) {
    constexpr std::size_t lanes = max_lanes<typename Acc::D>;
    Unfinished<lanes> unfinished;
    std::int64_t row = first;
    for (; row + static_cast<std::int64_t>(lanes) <= last; row += lanes) {
        if (magnitude(task.alpha) == T(1))
            multiply_group<Acc>(rows, row, task, unfinished);
        else
            multiply_scaled_group<Acc>(rows, row, task);
    }
    for (; row < last; ++row) task.y[row] = finish_row<Acc>(rows, row, task);
    if (unfinished.open.count > 0) resolve(rows, unfinished.open, task);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
