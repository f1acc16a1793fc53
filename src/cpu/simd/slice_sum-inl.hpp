// Sums over the rows of packed slices, side by side in the lanes; re-included for every Highway target.

#if defined(SOLVER_CPU_SLICE_SUM_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SOLVER_CPU_SLICE_SUM_INL_HPP
#undef SOLVER_CPU_SLICE_SUM_INL_HPP
#else
#define SOLVER_CPU_SLICE_SUM_INL_HPP
#endif

#include "cpu/simd/anchored_lanes-inl.hpp"
#include "cpu/simd/row_sum-inl.hpp"
#include "packed/matrix.hpp"

#include <type_traits>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

// How the values of a step are read: at(d, slot), the values in the slots from `slot` on. The slots are those of the matrix. A
// slice ends before hardware prefetchers have seen that values and offsets go on: asking for them ahead took
// poisson3d_random_100 in fast, two Zen 4 cores, from 2.60 to 1.56 ms.

template <class V>
struct StoredValues {
    const V* values;

    template <class D>
    HWY_INLINE hn::Vec<D> at(D d, std::int64_t slot) const {
        __builtin_prefetch(values + slot + prefetch_distance);
        return load_widened(d, values + slot);
    }
};

template <class Index, class T>
struct DictionaryValues {
    const Index* index;
    const T* dictionary;

    template <class D>
    HWY_INLINE hn::Vec<D> at(D d, std::int64_t slot) const {
        __builtin_prefetch(index + slot + prefetch_distance);
        return pack_widened(d, [&](std::size_t i) HWY_ATTR { return dictionary[index[slot + static_cast<std::int64_t>(i)]]; });
    }
};

/// A dictionary that fits one vector of results: looked up in registers.
template <class T>
struct VectorDictionaryValues {
    const std::uint8_t* index;
    const T* dictionary;  ///< as many as there are lanes, at least

    template <class D>
    HWY_INLINE hn::Vec<D> at(D d, std::int64_t slot) const {
        const hn::RebindToUnsigned<D> places;
        const hn::Rebind<std::uint32_t, D> words;
        const auto word = hn::PromoteTo(words, hn::LoadU(hn::Rebind<std::uint8_t, D>(), index + slot));
        return hn::TableLookupLanes(load_widened(d, dictionary), hn::IndicesFromVec(d, widen(places, word)));
    }
};

/// Whatever the encoding is.
template <class T>
struct EncodedValues {
    const PackedValues<T>& values;

    template <class D>
    HWY_INLINE hn::Vec<D> at(D d, std::int64_t slot) const {
        return pack_widened(d, [&](std::size_t i) HWY_ATTR { return values.at(slot + static_cast<std::int64_t>(i)); });
    }
};

// How the elements of x that a step meets are read: at(d, x, k) in the lanes' own part of the slice.

/// Columns base, base + 1, ...
struct RunColumns {
    const std::int32_t* base;  ///< of step 0
    std::int64_t lane;         ///< the first one of this part

    template <class D, class T>
    HWY_INLINE hn::Vec<D> at(D d, const T* x, std::int64_t k) const {
        return load_widened(d, x + base[k] + lane);
    }
};

template <class Offset>
struct OffsetColumns {
    const std::int32_t* base;
    const Offset* offsets;  ///< of step 0 and the first lane of this part
    std::int64_t height;

    template <class D, class T>
    HWY_INLINE hn::Vec<D> at(D d, const T* x, std::int64_t k) const {
        const T* const from = x + base[k];
        const Offset* const offset = offsets + k * height;
        __builtin_prefetch(offset + prefetch_distance);
        return pack_widened(d, [&](std::size_t i) HWY_ATTR { return from[offset[i]]; });
    }
};

/// At most so many, with beta y.
template <class T>
HWY_INLINE std::int32_t products_of_row(const RowTask<T>& task, std::int64_t steps) {
    return static_cast<std::int32_t>(task.x_low != nullptr ? 2 * steps : steps) + 1;
}

/// The lanes of a slice that one vector holds.
struct SlicePart {
    const PackedSlice* slice;
    std::int64_t slot;  ///< of step 0 and the part's first lane
    std::int64_t height;
    const std::uint16_t* length;  ///< lane by lane
};

/// acc and the part's entries from step `first` on times x, step by step. (By value: what others refer to stays in memory, not
/// in registers.)
template <class Acc, class Values, class Columns, class T>
HWY_INLINE Acc add_part(Acc acc, const SlicePart& part, const Values& values, const Columns& columns, const T* x,
                        std::int64_t first = 0) {
    const typename Acc::D d;
    const std::int64_t common = part.slice->common;
    const std::int64_t steps = part.slice->steps;
    for (std::int64_t k = first; k < common; ++k)
        acc.add_product(values.at(d, part.slot + k * part.height), columns.at(d, x, k));
    if (common == steps) return acc;
    using Length = hn::TFromD<typename Acc::D>;
    const auto length = pack(d, [&](std::size_t i) HWY_ATTR { return static_cast<Length>(part.length[i]); });
    for (std::int64_t k = common; k < steps; ++k) {
        const auto has_work = hn::Gt(length, hn::Set(d, static_cast<Length>(k)));
        acc.add_product(hn::IfThenElseZero(has_work, values.at(d, part.slot + k * part.height)),
                        hn::IfThenElseZero(has_work, columns.at(d, x, k)));
    }
    return acc;
}

/// Sums that start from an anchor.
template <class Acc>
concept AnchoredLanes = std::is_constructible_v<Acc, typename Acc::V, int>;

/// Steps whose products set the anchor.
inline constexpr std::int64_t anchoring_steps = 4;

/// add_part for sums yet to be started; `addend`: magnitudes of what is added to them at the end.
template <AnchoredLanes Acc, class Values, class Columns, class T>
HWY_INLINE Acc add_part_anchored(typename Acc::V addend, int room, const SlicePart& part, const Values& values,
                                 const Columns& columns, const T* x) {
    const typename Acc::D d;
    using V = typename Acc::V;
    using Length = hn::TFromD<typename Acc::D>;
    V largest = addend;
    const auto value = [&](std::int64_t k) HWY_ATTR __attribute__((always_inline)) {
        return values.at(d, part.slot + k * part.height);
    };
    Acc acc;
    std::int64_t added = 0;
    if (part.slice->common >= anchoring_steps) {  // read once, and kept
        V a[anchoring_steps];
        V element[anchoring_steps];
        for (std::int64_t k = 0; k < anchoring_steps; ++k) {
            a[k] = value(k);
            element[k] = columns.at(d, x, k);
            largest = hn::Max(largest, hn::Abs(hn::Mul(a[k], element[k])));
        }
        acc = Acc(largest, room);
        for (; added < anchoring_steps; ++added) acc.add_product(a[added], element[added]);
    } else {
        const auto length = pack(d, [&](std::size_t i) HWY_ATTR { return static_cast<Length>(part.length[i]); });
        for (std::int64_t k = 0; k < std::min<std::int64_t>(anchoring_steps, part.slice->steps); ++k) {
            const auto has_work = hn::Gt(length, hn::Set(d, static_cast<Length>(k)));
            largest = hn::Max(largest, hn::IfThenElseZero(has_work, hn::Abs(hn::Mul(value(k), columns.at(d, x, k)))));
        }
        acc = Acc(largest, room);
    }
    return add_part(acc, part, values, columns, x, added);
}

/// The part's sums with x, and with x_low where there is one.
template <class Acc, class Values, class T>
HWY_INLINE Acc sum_part(const PackedPattern& pattern, const SlicePart& part, std::int64_t lane, const Values& values,
                        const RowTask<T>& task, typename Acc::V addend) {
    const PackedSlice& slice = *part.slice;
    const std::int32_t* const base = pattern.base.data() + slice.first_step;
    const std::uint8_t* const offsets = pattern.offsets.data() + slice.first_offset;
    const auto sum = [&](const auto& columns) HWY_ATTR __attribute__((always_inline)) {
        Acc acc;
        if constexpr (AnchoredLanes<Acc>)
            acc = add_part_anchored<Acc>(addend, AnchoredPair::room_for(products_of_row(task, slice.steps)), part, values,
                                         columns, task.x);
        else
            acc = add_part(acc, part, values, columns, task.x);
        return task.x_low != nullptr ? add_part(acc, part, values, columns, task.x_low) : acc;
    };
    switch (slice.offsets) {
        case ColumnOffsets::none:
            return sum(RunColumns{base, lane});
        case ColumnOffsets::bits8:
            return sum(OffsetColumns<std::uint8_t>{base, offsets + lane, part.height});
        case ColumnOffsets::bits16:
            return sum(OffsetColumns<std::uint16_t>{base, reinterpret_cast<const std::uint16_t*>(offsets) + lane, part.height});
        case ColumnOffsets::bits32:
            return sum(OffsetColumns<std::uint32_t>{base, reinterpret_cast<const std::uint32_t*>(offsets) + lane, part.height});
    }
    return Acc();
}

/// The anchored pair is worth while with a fused multiply-add; else slices try what rows do.
using SliceTry = std::conditional_t<HWY_NATIVE_FMA, SlicesOnCpu, RowsOnCpu>;

/// What slices try where the first try fails: with a look at every product, if that decides more.
template <class Acc>
using SecondLanes = typename std::conditional_t<Acc::Scalar::wants_exact_products, std::type_identity<TrackedLanes<Acc>>,
                                                std::type_identity<Acc>>::type;

/// Multiplies slices for one task.
template <class Acc, class Values, class T>
class SliceProduct {
public:
    static constexpr std::size_t lanes = max_lanes<typename Acc::D>;
    static_assert(8 % lanes == 0);

    /// All values are multiples of `unit`, if it is not 0.
    HWY_INLINE SliceProduct(const PackedPattern& pattern, const Values& values, double unit, const cpu::CsrRows<T>& rows,
                            const RowTask<T>& task)
        : pattern_(pattern), values_(values), unit_(std::min(unit, last_digit(task.beta))), rows_(rows), task_(task) {}

    /// Slices first..last-1.
    HWY_INLINE void multiply(std::int64_t first, std::int64_t last) const {
        const std::int64_t height = pattern_.shape.height;
        Unfinished<lanes> unfinished;
        for (std::int64_t s = first; s < last; ++s)
            for (std::int64_t lane = 0; lane < height; lane += static_cast<std::int64_t>(lanes))
                multiply_part(s, lane, unfinished);
        if constexpr (Acc::Scalar::is_filter)
            if (unfinished.open.count > 0) resolve(rows_, unfinished.open, task_);
    }

private:
    HWY_INLINE void multiply_part(std::int64_t s, std::int64_t lane, Unfinished<lanes>& unfinished) const {
        using First = FirstLanes<Acc, SliceTry>;
        using Second = SecondLanes<Acc>;
        const std::int64_t height = pattern_.shape.height;
        const PackedSlice& slice = pattern_.slices[s];
        if (lane >= slice.rows) return;
        const SlicePart part{&slice, slice.first_step * height + lane, height, pattern_.length.data() + s * height + lane};
        if constexpr (std::is_same_v<First, Second>) {
            finish(s, lane, found<First>(part, s, lane), unfinished.open);
        } else {
            using Table = Escalation<double, SlicesOnCpu>;
            if (unfinished.groups_without_first_try > 0) {
                --unfinished.groups_without_first_try;
            } else {
                const auto first = found_first<First>(part, s, lane);
                const std::size_t unproven = lanes - hn::CountTrue(typename Acc::D(), first.proven);
                if (HWY_LIKELY(unproven == 0 ||
                               (!Table::skip.applies(unproven, lanes) && Table::deferred_row_cost * unproven <= slice.steps)))
                    return finish(s, lane, first, unfinished.open);
                unfinished.groups_without_first_try = Table::skip.next;
            }
            finish(s, lane, found<Second>(part, s, lane), unfinished.open);
        }
    }

    template <class A>
    HWY_INLINE Results<typename A::D> found(const SlicePart& part, std::int64_t s, std::int64_t lane) const {
        return summed<A>(part, s, lane).results(affine_underflow(task_.alpha, part.slice->steps));
    }

    /// What the lanes prove by the first try, which decides more where it knows a grid of its products.
    template <class First>
    HWY_INLINE Results<typename First::D> found_first(const SlicePart& part, std::int64_t s, std::int64_t lane) const {
        const First sums = summed<First>(part, s, lane);
        const typename First::D d;
        if constexpr (AnchoredLanes<First>) {
            const std::int32_t n = products_of_row(task_, part.slice->steps);
            const auto results = sums.results(n);
            if (unit_ == 0 || hn::AllTrue(d, results.proven)) return results;
            return sums.results_on_grid(results.proven, grid(part, s, lane), n);
        } else {
            const auto results = sums.results(affine_underflow(task_.alpha, part.slice->steps));
            if (unit_ == 0 || hn::AllTrue(d, results.proven)) return results;
            return sums.results_on_grid(results.proven, grid(part, s, lane));
        }
    }

    HWY_INLINE hn::Vec<typename Acc::D> grid(const SlicePart& part, std::int64_t s, std::int64_t lane) const {
        return summed<ProductGridLanes<lanes>>(part, s, lane).grid(unit_);
    }

    template <class A>
    HWY_INLINE A summed(const SlicePart& part, std::int64_t s, std::int64_t lane) const {
        const typename A::D d;
        const auto beta = hn::Set(d, task_.beta);
        const bool has_addend = task_.beta != T(0);
        const auto y = has_addend ? addends(d, *part.slice, s, lane) : hn::Zero(d);
        A acc = sum_part<A>(pattern_, part, lane, values_, task_, hn::Abs(hn::Mul(beta, y)));
        if (task_.alpha == T(-1)) acc.negate();
        if (has_addend) acc.add_product(beta, y);
        return acc;
    }

    template <class D>
    HWY_INLINE hn::Vec<D> addends(D d, const PackedSlice& slice, std::int64_t s, std::int64_t lane) const {
        if (slice.is_adjacent != 0) return load_widened(d, task_.y_in + slice.first_row + lane);
        const std::int32_t* const row = pattern_.row.data() + s * pattern_.shape.height + lane;
        return pack_widened(d, [&](std::size_t i) HWY_ATTR { return task_.y_in[row[i]]; });
    }

    /// Stores what is proven and leaves the rest open.
    template <class D>
    HWY_INLINE void finish(std::int64_t s, std::int64_t lane, const Results<D>& results, RowGroup<lanes>& open) const {
        const PackedSlice& slice = pattern_.slices[s];
        const bool all_proven = hn::AllTrue(D(), results.proven);
        if (HWY_LIKELY(all_proven && slice.is_adjacent != 0))
            return store_rounded(results.value, task_.y + slice.first_row + lane);
        HWY_ALIGN T value[lanes];
        store_rounded(results.value, value);
        const std::int32_t* const row = pattern_.row.data() + s * pattern_.shape.height + lane;
        const std::size_t count = std::min<std::size_t>(lanes, slice.rows - static_cast<std::size_t>(lane));
        if (HWY_LIKELY(all_proven)) {
            for (std::size_t i = 0; i < count; ++i) task_.y[row[i]] = value[i];
        } else {
            store_some(value, bits_of(D(), results.proven), row, count, open);
        }
    }

    HWY_NOINLINE void store_some(const T* value, std::uint64_t proven, const std::int32_t* row, std::size_t count,
                                 RowGroup<lanes>& open) const {
        for (std::size_t i = 0; i < count; ++i) {
            if ((proven >> i & 1) != 0) {
                task_.y[row[i]] = value[i];
                continue;
            }
            if constexpr (Acc::Scalar::is_filter) {
                open.push(rows_, row[i]);
                if (open.count == lanes) resolve(rows_, open, task_);
            }
        }
    }

    const PackedPattern& pattern_;
    const Values& values_;
    const double unit_;
    const cpu::CsrRows<T>& rows_;
    const RowTask<T>& task_;
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
