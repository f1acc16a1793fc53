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

// How the values of a step are read: at(d, code), what the codes from `code` on mean. The codes are those of the matrix. A
// slice ends before hardware prefetchers have seen that values and offsets go on: asking for them ahead took
// poisson3d_random_100 in fast, two Zen 4 cores, from 2.60 to 1.56 ms.

template <class V>
struct StoredValues {
    const V* values;

    template <class D>
    HWY_INLINE hn::Vec<D> at(D d, std::int64_t code) const {
        __builtin_prefetch(values + code + prefetch_distance);
        return load_widened(d, values + code);
    }
};

template <class Index, class T>
struct DictionaryValues {
    const Index* index;
    const T* dictionary;

    template <class D>
    HWY_INLINE hn::Vec<D> at(D d, std::int64_t code) const {
        __builtin_prefetch(index + code + prefetch_distance);
        return pack_widened(d, [&](std::size_t i) HWY_ATTR { return dictionary[index[code + static_cast<std::int64_t>(i)]]; });
    }
};

/// A dictionary that fits one vector of results: looked up in registers.
template <class T>
struct VectorDictionaryValues {
    const std::uint8_t* index;
    const T* dictionary;  ///< as many as there are lanes, at least

    template <class D>
    HWY_INLINE hn::Vec<D> at(D d, std::int64_t code) const {
        const StoredAs<T, D> stored;  // looked up before they are widened: half of the work on indices
        const hn::RebindToUnsigned<decltype(stored)> places;
        const hn::Rebind<std::uint32_t, D> words;
        const auto word = hn::PromoteTo(words, hn::LoadU(hn::Rebind<std::uint8_t, D>(), index + code));
        const auto place = hn::IndicesFromVec(stored, widen(places, word));
        return widen(d, hn::TableLookupLanes(hn::LoadU(stored, dictionary), place));
    }
};

/// Whatever the encoding is: a branch a step, where the sums cost more than that, or are not worth a kernel an encoding.
template <class T>
struct EncodedValues {
    const PackedValues<T>& values;

    template <class D>
    HWY_INLINE hn::Vec<D> at(D d, std::int64_t code) const {
        switch (values.encoding) {
            case ValueEncoding::plain:
                return StoredValues<T>{values.plain.data()}.at(d, code);
            case ValueEncoding::floats:
                return StoredValues<float>{values.floats.data()}.at(d, code);
            case ValueEncoding::dictionary8:
                return DictionaryValues<std::uint8_t, T>{values.index8.data(), values.dictionary.data()}.at(d, code);
            case ValueEncoding::dictionary16:
                return DictionaryValues<std::uint16_t, T>{values.index16.data(), values.dictionary.data()}.at(d, code);
        }
        return hn::Zero(d);
    }
};

/// For what depends on x alone.
struct NoValues {
    template <class D>
    HWY_INLINE hn::Vec<D> at(D d, std::int64_t) const {
        return hn::Zero(d);
    }
};

/// The vector of two numbers from at(0), two from at(1), ...; of one where there is room for one.
template <class D, class At>
HWY_INLINE hn::Vec<D> pack_pairs(D d, At at) {
#if HWY_TARGET == HWY_SCALAR
    return hn::LoadU(d, at(0));
#else
    constexpr std::size_t lanes = max_lanes<D>;
    if constexpr (lanes == 2) {
        return hn::LoadU(d, at(0));
    } else {
        const hn::Half<D> half;
        return hn::Combine(d, pack_pairs(half, [&](std::size_t i) HWY_ATTR { return at(i + lanes / 4); }),
                           pack_pairs(half, at));
    }
#endif
}

// How the elements of x that a step meets are read: at(d, x, k, shift) in the lanes from `shift` on of a part of the slice.
// Where rows are paired, even lanes get real parts and odd ones imaginary parts.

/// Columns base, base + 1, ...
template <int parts>
struct RunColumns {
    static constexpr int components = parts;
    const std::int32_t* base;  ///< of step 0
    std::int64_t lane;         ///< the first one of this part

    template <class D, class T>
    HWY_INLINE hn::Vec<D> at(D d, const T* x, std::int64_t k, std::int64_t shift) const {
        return load_widened(d, x + components * std::int64_t{base[k]} + lane + shift);
    }
};

template <class Offset, int parts>
struct OffsetColumns {
    static constexpr int components = parts;
    const std::int32_t* base;
    const Offset* offsets;  ///< of step 0 and the first lane of this part
    std::int64_t height;    ///< columns a step
    std::int64_t parity;    ///< of that lane

    template <class D, class T>
    HWY_INLINE hn::Vec<D> at(D d, const T* x, std::int64_t k, std::int64_t shift) const {
        const T* const from = x + components * std::int64_t{base[k]} + parity;
        const Offset* const offset = offsets + k * height + shift / components;
        __builtin_prefetch(offset + prefetch_distance);
        if constexpr (components == 1)
            return pack_widened(d, [&](std::size_t i) HWY_ATTR { return from[offset[i]]; });
        else
            return widen(
                d, pack_pairs(StoredAs<T, D>(), [&](std::size_t i) HWY_ATTR { return from + 2 * std::int64_t{offset[i]}; }));
    }
};

/// At most so many, with beta y; of so many with x.
template <class T>
HWY_INLINE std::int32_t products_of_row(const RowTask<T>& task, std::int64_t with_x) {
    return static_cast<std::int32_t>(task.x_low != nullptr ? 2 * with_x : with_x) + 1;
}

/// Lanes of a slice, which one vector or more hold.
struct SlicePart {
    const PackedSlice* slice;
    std::int64_t code;            ///< of step 0 and the part's first lane
    std::int64_t width;           ///< lanes of the slice, a code each
    const std::uint16_t* length;  ///< row by row; a row of a pair has its own lane
};

/// The products of a step, in every lane in the order in which its row of the CSR matrix has them.
template <class V, int components>
struct StepProducts {
    V a[components];
    V x[components];
};

/// Of the part's lanes from `shift` on. Of a complex entry, even lanes have re x_re - im x_im, odd ones im x_re + re x_im.
template <class D, class Values, class Columns, class T>
HWY_INLINE StepProducts<hn::Vec<D>, Columns::components> step_products(D d, const SlicePart& part, const Values& values,
                                                                       const Columns& columns, const T* x, std::int64_t k,
                                                                       std::int64_t shift) {
    const std::int64_t code = part.code + k * part.width + shift;
    const auto element = columns.at(d, x, k, shift);
    const auto a = values.at(d, code);
    if constexpr (Columns::components == 1) {
        return {{a}, {element}};
    } else {
#if HWY_TARGET == HWY_SCALAR
        const auto other = values.at(d, code ^ 1);
        return code % 2 == 0 ? StepProducts<hn::Vec<D>, 2>{{a, hn::Neg(other)}, {element, columns.at(d, x + 1, k, shift)}}
                             : StepProducts<hn::Vec<D>, 2>{{a, other}, {columns.at(d, x - 1, k, shift), element}};
#else
        const auto minus_in_even_lanes = hn::OddEven(hn::Zero(d), hn::SignBit(d));
        return {{a, hn::Xor(hn::Reverse2(d, a), minus_in_even_lanes)}, {hn::DupEven(element), hn::DupOdd(element)}};
#endif
    }
}

/// How many entries the rows of the part's lanes from `shift` on have.
template <int components, class D>
HWY_INLINE hn::Vec<D> row_lengths(D d, const SlicePart& part, std::int64_t shift) {
    return pack(d, [&](std::size_t i) HWY_ATTR {
        return static_cast<hn::TFromD<D>>(part.length[(static_cast<std::size_t>(shift) + i) / components]);
    });
}

template <class D>
HWY_INLINE hn::Mask<D> is_longer(D d, hn::Vec<D> length, std::int64_t k) {
    return hn::Gt(length, hn::Set(d, static_cast<hn::TFromD<D>>(k)));
}

/// One after the other what `vectors` successive vectors of a part hold: sums that do not wait for each other.
template <class Of, std::size_t vectors>
struct Successive {
    HWY_INLINE Successive() {}

    static constexpr std::int64_t shift(std::size_t v) { return static_cast<std::int64_t>(v * max_lanes<typename Of::D>); }

    Of of[vectors];
};

/// The part's entries from step `first` on times x, added to sums step by step. (By value: what others refer to stays in
/// memory, not in registers.)
template <class Acc, std::size_t vectors, class Values, class Columns, class T>
HWY_INLINE Successive<Acc, vectors> add_part(Successive<Acc, vectors> sums, const SlicePart& part, const Values& values,
                                             const Columns& columns, const T* x, std::int64_t first = 0) {
    constexpr int components = Columns::components;
    const typename Acc::D d;
    const std::int64_t common = part.slice->common;
    const std::int64_t steps = part.slice->steps;
    for (std::int64_t k = first; k < common; ++k) {
#pragma GCC unroll 2
        for (std::size_t v = 0; v < vectors; ++v) {
            const auto products = step_products(d, part, values, columns, x, k, sums.shift(v));
            for (int i = 0; i < components; ++i) sums.of[v].add_product(products.a[i], products.x[i]);
        }
    }
    if (common == steps) return sums;
    typename Acc::V length[vectors];
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v) length[v] = row_lengths<components>(d, part, sums.shift(v));
    for (std::int64_t k = common; k < steps; ++k) {
#pragma GCC unroll 2
        for (std::size_t v = 0; v < vectors; ++v) {
            const auto has_work = is_longer(d, length[v], k);
            const auto products = step_products(d, part, values, columns, x, k, sums.shift(v));
            for (int i = 0; i < components; ++i)
                sums.of[v].add_product(hn::IfThenElseZero(has_work, products.a[i]),
                                       hn::IfThenElseZero(has_work, products.x[i]));
        }
    }
    return sums;
}

/// Sums that start from an anchor.
template <class Acc>
concept AnchoredLanes = std::is_constructible_v<Acc, typename Acc::V, int>;

/// Products that set the anchor.
inline constexpr int anchoring_products = 4;

/// The sum of one vector's first steps, whose products are read once and kept.
template <AnchoredLanes Acc, class Values, class Columns, class T>
HWY_INLINE Acc anchored_sum(typename Acc::V largest, int room, const SlicePart& part, const Values& values,
                            const Columns& columns, const T* x, std::int64_t shift) {
    constexpr int components = Columns::components;
    constexpr int steps = anchoring_products / components;
    StepProducts<typename Acc::V, components> products[steps];
    for (int k = 0; k < steps; ++k) {
        products[k] = step_products(typename Acc::D(), part, values, columns, x, k, shift);
        for (int i = 0; i < components; ++i) largest = hn::Max(largest, hn::Abs(hn::Mul(products[k].a[i], products[k].x[i])));
    }
    Acc acc(largest, room);
    for (int k = 0; k < steps; ++k)
        for (int i = 0; i < components; ++i) acc.add_product(products[k].a[i], products[k].x[i]);
    return acc;
}

/// No sum yet, where some rows have fewer entries than set an anchor.
template <AnchoredLanes Acc, class Values, class Columns, class T>
HWY_INLINE Acc anchor_of_short_rows(typename Acc::V largest, int room, const SlicePart& part, const Values& values,
                                    const Columns& columns, const T* x, std::int64_t shift) {
    constexpr int components = Columns::components;
    const typename Acc::D d;
    const auto length = row_lengths<components>(d, part, shift);
    for (std::int64_t k = 0; k < std::min<std::int64_t>(anchoring_products / components, part.slice->steps); ++k) {
        const auto has_work = is_longer(d, length, k);
        const auto products = step_products(d, part, values, columns, x, k, shift);
        for (int i = 0; i < components; ++i)
            largest = hn::Max(largest, hn::IfThenElseZero(has_work, hn::Abs(hn::Mul(products.a[i], products.x[i]))));
    }
    return Acc(largest, room);
}

/// The part's sums with x; `addend`: magnitudes of what is added to them at the end.
template <AnchoredLanes Acc, std::size_t vectors, class Values, class Columns, class T>
HWY_INLINE Successive<Acc, vectors> sum_part_anchored(const typename Acc::V (&addend)[vectors], int room, const SlicePart& part,
                                                      const Values& values, const Columns& columns, const T* x) {
    constexpr std::int64_t steps = anchoring_products / Columns::components;
    const bool is_long = part.slice->common >= steps;
    Successive<Acc, vectors> sums;
#pragma GCC unroll 2
    for (std::size_t v = 0; v < vectors; ++v)
        sums.of[v] = is_long ? anchored_sum<Acc>(addend[v], room, part, values, columns, x, sums.shift(v))
                             : anchor_of_short_rows<Acc>(addend[v], room, part, values, columns, x, sums.shift(v));
    return add_part(sums, part, values, columns, x, is_long ? steps : 0);
}

/// work(columns), which read those of the part that begins at a lane.
template <int components, class Work>
HWY_INLINE void with_columns(const PackedPattern& pattern, const SlicePart& part, std::int64_t lane, const Work& work) {
    const PackedSlice& slice = *part.slice;
    const std::int32_t* const base = pattern.base.data() + slice.first_step;
    const std::uint8_t* const offsets = pattern.offsets.data() + slice.first_offset;
    const auto work_with = [&]<class Offset>(const Offset* first) HWY_ATTR __attribute__((always_inline)) {
        const std::int64_t row = lane / components;
        work(OffsetColumns<Offset, components>{base, first + row, part.width / components, lane % components});
    };
    switch (slice.offsets) {
        case ColumnOffsets::none:
            return work(RunColumns<components>{base, lane});
        case ColumnOffsets::bits8:
            return work_with(offsets);
        case ColumnOffsets::bits16:
            return work_with(reinterpret_cast<const std::uint16_t*>(offsets));
        case ColumnOffsets::bits32:
            return work_with(reinterpret_cast<const std::uint32_t*>(offsets));
    }
}

/// The part's sums with x_low, added to sums. (Not inline: what is rare keeps registers from what is not.)
template <int components, class Acc, std::size_t vectors, class Values, class T>
HWY_NOINLINE Successive<Acc, vectors> add_low_part(Successive<Acc, vectors> sums, const PackedPattern& pattern,
                                                   const SlicePart& part, std::int64_t lane, const Values& values,
                                                   const T* x_low) {
    with_columns<components>(
        pattern, part, lane, [&](const auto& columns) HWY_ATTR __attribute__((always_inline)) {
            sums = add_part(sums, part, values, columns, x_low);
        });
    return sums;
}

/// The part's sums with x, and with x_low where there is one.
template <class Acc, int components, std::size_t vectors, class Values, class T>
HWY_INLINE Successive<Acc, vectors> sum_part(const PackedPattern& pattern, const SlicePart& part, std::int64_t lane,
                                             const Values& values, const RowTask<T>& task,
                                             const typename Acc::V (&addend)[vectors]) {
    Successive<Acc, vectors> sums;
    with_columns<components>(
        pattern, part, lane, [&](const auto& columns) HWY_ATTR __attribute__((always_inline)) {
            if constexpr (AnchoredLanes<Acc>)
                sums = sum_part_anchored<Acc>(addend,
                                              AnchoredPair::room_for(products_of_row(task, components * part.slice->steps)),
                                              part, values, columns, task.x);
            else
                sums = add_part(sums, part, values, columns, task.x);
        });
    if (HWY_LIKELY(task.x_low == nullptr)) return sums;
    const auto with_low = add_low_part<components>(sums, pattern, part, lane, values, task.x_low);
    return with_low;  // written by a call, which would keep sums out of registers
}

/// The anchored pair of doubles is worth while with a fused multiply-add; else slices try what rows do.
using SliceTry = std::conditional_t<HWY_NATIVE_FMA, SlicesOnCpu, RowsOnCpu>;

/// What slices try where the first try fails: with a look at every product, if that decides more.
template <class Acc>
using SecondLanes = typename std::conditional_t<Acc::Scalar::wants_exact_products, std::type_identity<TrackedLanes<Acc>>,
                                                std::type_identity<Acc>>::type;

/// Multiplies slices for one task. A lane is a row of the CSR matrix: of `components` of them to a row of the pattern.
template <class Acc, int components, class T>
class SliceProduct {
public:
    static constexpr std::size_t lanes = max_lanes<typename Acc::D>;
    static_assert(8 % lanes == 0);

    HWY_INLINE SliceProduct(const PackedMatrix<T>& packed, const cpu::CsrRows<T>& rows, const RowTask<T>& task)
        : pattern_(*packed.pattern), unit_(std::min(packed.values.unit, last_digit(task.beta))), rows_(rows), task_(task) {}

    /// Slices first..last-1; `values` reads those of the matrix.
    template <class Values>
    HWY_INLINE void multiply(std::int64_t first, std::int64_t last, const Values& values) const {
        Unfinished<lanes> unfinished;
        for (std::int64_t s = first; s < last; ++s)
            for (std::int64_t lane = 0; lane < width(); lane += static_cast<std::int64_t>(lanes * at_once))
                multiply_part(s, lane, values, unfinished);
        if constexpr (Acc::Scalar::is_filter)
            if (unfinished.open.count > 0) resolve(rows_, unfinished.open, task_);
    }

private:
    /// Vectors whose sums are formed side by side, so that one does not wait for the other.
    static constexpr std::size_t at_once = HWY_NATIVE_FMA && lanes <= 4 ? 2 : 1;
    static_assert(8 % (lanes * at_once) == 0);

    HWY_INLINE std::int64_t width() const { return pattern_.shape.height * components; }

    /// Of the rows of the pattern, the one of a slice's lane.
    HWY_INLINE std::int64_t place_of(std::int64_t s, std::int64_t lane) const {
        return s * pattern_.shape.height + lane / components;
    }
    /// Of the CSR matrix.
    HWY_INLINE std::int64_t row_of(std::int64_t s, std::int64_t lane) const {
        return std::int64_t{pattern_.row[place_of(s, lane)]} * components + lane % components;
    }
    HWY_INLINE static std::int64_t first_row(const PackedSlice& slice) { return std::int64_t{slice.first_row} * components; }
    HWY_INLINE static bool is_idle(const PackedSlice& slice, std::int64_t lane) { return lane >= slice.rows * components; }

    template <class Values>
    HWY_INLINE void multiply_part(std::int64_t s, std::int64_t lane, const Values& values,
                                  Unfinished<lanes>& unfinished) const {
        using First = FirstLanes<Acc, SliceTry>;
        using Second = SecondLanes<Acc>;
        const PackedSlice& slice = pattern_.slices[s];
        if (is_idle(slice, lane)) return;
        if constexpr (!std::is_same_v<First, Second>) {
            if (unfinished.groups_without_first_try > 0) {
                unfinished.groups_without_first_try -= static_cast<int>(at_once);
            } else {
                if (HWY_LIKELY(finish_by_first_try<First>(s, lane, values, unfinished.open))) return;
                unfinished.groups_without_first_try = Escalation<T, SlicesOnCpu>::skip.next;
            }
        }
        const auto sums = summed<Second, at_once>(s, lane, values);
#pragma GCC unroll 2
        for (std::size_t v = 0; v < at_once; ++v) finish(s, lane + sums.shift(v), results(sums.of[v], slice), unfinished.open);
    }

    /// Whether it was good enough.
    template <class First, class Values>
    HWY_INLINE bool finish_by_first_try(std::int64_t s, std::int64_t lane, const Values& values, RowGroup<lanes>& open) const {
        const auto sums = summed<First, at_once>(s, lane, values);
        Results<typename First::D> found[at_once];
#pragma GCC unroll 2
        for (std::size_t v = 0; v < at_once; ++v) {
            found[v] = first_results(sums.of[v], s, lane + sums.shift(v));
            const PackedSlice& slice = pattern_.slices[s];
            if (HWY_UNLIKELY(!is_good(found[v].proven, slice) && !is_idle(slice, lane + sums.shift(v)))) return false;
        }
#pragma GCC unroll 2
        for (std::size_t v = 0; v < at_once; ++v) finish(s, lane + sums.shift(v), found[v], open);
        return true;
    }

    /// Whether so few lanes are open that their rows can wait for others.
    HWY_INLINE static bool is_good(hn::Mask<typename Acc::D> proven, const PackedSlice& slice) {
        using Table = Escalation<T, SlicesOnCpu>;
        const std::size_t open = lanes - hn::CountTrue(typename Acc::D(), proven);
        return open == 0 || (!Table::skip.applies(open, lanes) && Table::deferred_row_cost * open <= components * slice.steps);
    }

    template <class A>
    HWY_INLINE Results<typename A::D> results(const A& sum, const PackedSlice& slice) const {
        auto found = sum.results(affine_underflow(task_.alpha, components * slice.steps));
        if constexpr (components == 2 && !Acc::Scalar::is_filter)
            found.proven = is_finite_lanes(found.value);  // or a part that is zero, and no entry, may have met Inf
        return found;
    }

    /// What the lanes prove by the first try, which may decide more where it knows a grid of its products.
    template <class First>
    HWY_INLINE Results<typename First::D> first_results(const First& sum, std::int64_t s, std::int64_t lane) const {
        const PackedSlice& slice = pattern_.slices[s];
        const typename First::D d;
        if constexpr (AnchoredLanes<First>) {
            const std::int32_t n = products_of_row(task_, components * slice.steps);
            const auto found = sum.results(n);
            if (unit_ == 0 || hn::AllTrue(d, found.proven)) return found;
            return sum.results_on_grid(found.proven, grid(s, lane), n);
        } else {
            const auto found = results(sum, slice);
            if constexpr (requires { sum.results_on_grid(found.proven, grid(s, lane)); }) {
                if (unit_ != 0 && !hn::AllTrue(d, found.proven)) return sum.results_on_grid(found.proven, grid(s, lane));
            }
            return found;
        }
    }

    HWY_INLINE hn::Vec<typename Acc::D> grid(std::int64_t s, std::int64_t lane) const {
        return summed<ProductGridLanes<lanes>, 1>(s, lane, NoValues()).of[0].grid(unit_);
    }

    /// Of so many vectors from a lane on.
    template <class A, std::size_t vectors, class Values>
    HWY_INLINE Successive<A, vectors> summed(std::int64_t s, std::int64_t lane, const Values& values) const {
        const typename A::D d;
        const PackedSlice& slice = pattern_.slices[s];
        const SlicePart part{&slice, slice.first_step * width() + lane, width(), pattern_.length.data() + place_of(s, lane)};
        const auto beta = hn::Set(d, task_.beta);
        const bool has_addend = task_.beta != T(0);
        using Sums = Successive<A, vectors>;
        typename A::V y[vectors], addend[vectors];
#pragma GCC unroll 2
        for (std::size_t v = 0; v < vectors; ++v) {
            y[v] = has_addend ? addends(d, slice, s, lane + Sums::shift(v)) : hn::Zero(d);
            addend[v] = hn::Abs(hn::Mul(beta, y[v]));
        }
        Sums sums = sum_part<A, components>(pattern_, part, lane, values, task_, addend);
#pragma GCC unroll 2
        for (std::size_t v = 0; v < vectors; ++v) {
            if (task_.alpha == T(-1)) sums.of[v].negate();
            if (has_addend) sums.of[v].add_product(beta, y[v]);
        }
        return sums;
    }

    template <class D>
    HWY_INLINE hn::Vec<D> addends(D d, const PackedSlice& slice, std::int64_t s, std::int64_t lane) const {
        if (slice.is_adjacent != 0) return load_widened(d, task_.y_in + first_row(slice) + lane);
        return pack_widened(d,
                            [&](std::size_t i) HWY_ATTR { return task_.y_in[row_of(s, lane + static_cast<std::int64_t>(i))]; });
    }

    /// Stores what is proven and leaves the rest open.
    template <class D>
    HWY_INLINE void finish(std::int64_t s, std::int64_t lane, const Results<D>& results, RowGroup<lanes>& open) const {
        const PackedSlice& slice = pattern_.slices[s];
        const bool all_proven = hn::AllTrue(D(), results.proven);
        if (HWY_LIKELY(all_proven && slice.is_adjacent != 0))
            return store_rounded(results.value, task_.y + first_row(slice) + lane);
        if (is_idle(slice, lane)) return;
        HWY_ALIGN T value[lanes];
        store_rounded(results.value, value);
        const std::size_t count = std::min<std::size_t>(lanes, slice.rows * components - static_cast<std::size_t>(lane));
        if (HWY_LIKELY(all_proven)) {
            for (std::size_t i = 0; i < count; ++i) task_.y[row_of(s, lane + static_cast<std::int64_t>(i))] = value[i];
        } else {
            store_some(value, bits_of(D(), results.proven), s, lane, count, open);
        }
    }

    HWY_NOINLINE void store_some(const T* value, std::uint64_t proven, std::int64_t s, std::int64_t lane, std::size_t count,
                                 RowGroup<lanes>& open) const {
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t row = row_of(s, lane + static_cast<std::int64_t>(i));
            if ((proven >> i & 1) != 0) {
                task_.y[row] = value[i];
            } else if constexpr (Acc::Scalar::is_filter) {
                open.push(rows_, row);
                if (open.count == lanes) resolve(rows_, open, task_);
            } else {
                task_.y[row] = finish_row<Acc>(rows_, row, task_);
            }
        }
    }

    const PackedPattern& pattern_;
    const double unit_;  ///< all values, and beta, are multiples of it, if it is not 0
    const cpu::CsrRows<T>& rows_;
    const RowTask<T>& task_;
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
