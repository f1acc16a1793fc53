// Micro-kernels of dense products: a tile of C in registers, and what is kept of it in memory between strips of the inner
// dimension. Re-included for every Highway target.
//
// A tile has `vectors` x lanes rows and `columns` columns. A strip of A is packed by such rows, a strip of B by such columns,
// so that a kernel reads both from beginning to end. What is known of a tile is an array of numbers per part, column by column.

#if defined(SOLVER_CPU_GEMM_TILES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SOLVER_CPU_GEMM_TILES_INL_HPP
#undef SOLVER_CPU_GEMM_TILES_INL_HPP
#else
#define SOLVER_CPU_GEMM_TILES_INL_HPP
#endif

#include "cpu/simd/lanes-inl.hpp"
#include "solver/gemm.hpp"
#include "solver/numeric/affine.hpp"

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

/// Products of the inner dimension between two visits to what is kept of a tile. A strip of a tile's B stays in the nearest
/// cache, a strip of a block of A in the second.
inline constexpr std::int64_t strip_length = 256;

#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
inline constexpr bool has_32_registers = false;
#else
inline constexpr bool has_32_registers = true;
#endif

/// The rows and columns of a tile, for one accumulator an element or a pair of them.
template <class LaneT, std::size_t vectors_, std::size_t columns_>
struct TileShape {
    using Lane = LaneT;
    using D = hn::ScalableTag<Lane>;
    using V = hn::Vec<D>;
    static constexpr std::size_t vectors = vectors_;
    static constexpr std::size_t columns = columns_;
    static constexpr std::size_t rows = vectors * max_lanes<D>;
    static constexpr std::size_t size = rows * columns;

    /// Where vector v of column j stands within a part.
    static constexpr std::size_t place(std::size_t j, std::size_t v) { return j * rows + v * max_lanes<D>; }

    /// add(x, y, j, v) for every product x y of a strip in turn, x a vector of rows and y of one column's element.
    template <class Strip, class Add>
    static HWY_INLINE void for_each_product(const Strip& strip, const Add& add) {
        const D d;
        const Lane* HWY_RESTRICT a = strip.a;
        const Lane* HWY_RESTRICT b = strip.b;
        for (std::int64_t k = 0; k < strip.count; ++k, a += rows, b += columns) {
            V x[vectors];
#pragma GCC unroll 4
            for (std::size_t v = 0; v < vectors; ++v) x[v] = hn::Load(d, a + v * max_lanes<D>);
#pragma GCC unroll 8
            for (std::size_t j = 0; j < columns; ++j) {
                const V y = hn::Set(d, b[j]);
#pragma GCC unroll 4
                for (std::size_t v = 0; v < vectors; ++v) add(x[v], y, j, v);
            }
        }
    }
};

template <class Lane>
using TileOfSums = std::conditional_t<has_32_registers, TileShape<Lane, 3, 8>,
                                      std::conditional_t<HWY_NATIVE_FMA, TileShape<Lane, 3, 4>, TileShape<Lane, 2, 4>>>;
template <class Lane>
using TileOfPairs = std::conditional_t<has_32_registers, TileShape<Lane, 2, 6>, TileShape<Lane, 2, 2>>;

/// A tile's share of the strips of A and B: products first..first + count - 1 of each element's `inner`.
template <class Lane>
struct TileStrip {
    const Lane* a;
    const Lane* b;
    std::int64_t first;
    std::int64_t count;
    std::int64_t inner;
    std::int64_t block;    ///< products summed plainly
    const double* a_norm;  ///< of the strip's rows, for kernels that measure; else null
    const double* b_norm;  ///< and columns
};

/// What follows the sum of products.
template <class T>
struct Ending {
    T alpha;
    T beta;
    std::int64_t inner;
    std::int64_t block;
};

/// A register for every element of a tile.
template <class Shape>
struct TileRegisters {
    using D = typename Shape::D;
    using V = typename Shape::V;

    /// work(register, place) for every vector of the tile, unrolled.
    template <class Work>
    HWY_INLINE void for_each(const Work& work) {
#pragma GCC unroll 8
        for (std::size_t j = 0; j < Shape::columns; ++j)
#pragma GCC unroll 4
            for (std::size_t v = 0; v < Shape::vectors; ++v) work(at[j][v], Shape::place(j, v));
    }
    HWY_INLINE void clear() {
        for_each([](V& x, std::size_t) HWY_ATTR { x = hn::Zero(D()); });
    }
    HWY_INLINE void load(const typename Shape::Lane* part) {
        for_each([part](V& x, std::size_t place) HWY_ATTR { x = hn::Load(D(), part + place); });
    }
    /// Zeros before the first product, else what was stored.
    HWY_INLINE void start(const typename Shape::Lane* part, std::int64_t products) {
        if (products == 0)
            clear();
        else
            load(part);
    }
    HWY_INLINE void store(typename Shape::Lane* part) {
        for_each([part](V& x, std::size_t place) HWY_ATTR { hn::Store(x, D(), part + place); });
    }
    /// Adds `count` products to each element, the next from a and b on.
    HWY_INLINE void add_products(const typename Shape::Lane* HWY_RESTRICT a, const typename Shape::Lane* HWY_RESTRICT b,
                                 std::int64_t count) {
        const D d;
        for (std::int64_t k = 0; k < count; ++k, a += Shape::rows, b += Shape::columns) {
            V x[Shape::vectors];
#pragma GCC unroll 4
            for (std::size_t v = 0; v < Shape::vectors; ++v) x[v] = hn::Load(d, a + v * max_lanes<D>);
#pragma GCC unroll 8
            for (std::size_t j = 0; j < Shape::columns; ++j) {
                const V y = hn::Set(d, b[j]);
#pragma GCC unroll 4
                for (std::size_t v = 0; v < Shape::vectors; ++v) at[j][v] = hn::MulAdd(x[v], y, at[j][v]);
            }
        }
    }

    V at[Shape::columns][Shape::vectors];
};

// Foldings: how the plain sum of a block joins those before it, for all elements of a tile. `parts` of a tile are theirs,
// the first `zeros` of them zeros at first; `index` counts the blocks. A correction makes an infinite sum NaN: where `corrects`
// says so, a sum that is not finite is left open.

/// One block: nothing to join.
struct NoFolding {
    static constexpr bool is_used = false;
    static constexpr bool corrects = false;
    static constexpr std::size_t zeros = 0;
    static constexpr std::int64_t parts(std::int64_t) { return 0; }
};

/// Kahan, Comm. ACM 8(1), 1965: the sum and what the next addition is corrected by.
struct KahanFolding {
    static constexpr bool is_used = true;
    static constexpr bool corrects = true;
    static constexpr std::size_t zeros = 2;
    static constexpr std::int64_t parts(std::int64_t) { return 2; }

    template <class Shape>
    static HWY_INLINE void fold(TileRegisters<Shape>& block, typename Shape::Lane* parts, std::int64_t) {
        using V = typename Shape::V;
        const typename Shape::D d;
        block.for_each([&](V& x, std::size_t place) HWY_ATTR {
            const V total = hn::Load(d, parts + place);
            const V y = hn::Sub(x, hn::Load(d, parts + Shape::size + place));
            const V t = hn::Add(total, y);
            hn::Store(t, d, parts + place);
            hn::Store(sub_by_fma(sub_by_fma(t, total), y), d, parts + Shape::size + place);
        });
    }
    template <class Shape>
    static HWY_INLINE typename Shape::V sum(const typename Shape::Lane* parts, std::int64_t) {
        return hn::Load(typename Shape::D(), parts);
    }
};

/// Priest 1992, for summands sorted by magnitude: here each two are, the sum and the block.
struct DoublyCompensatedFolding {
    static constexpr bool is_used = true;
    static constexpr bool corrects = true;
    static constexpr std::size_t zeros = 2;
    static constexpr std::int64_t parts(std::int64_t) { return 2; }

    template <class Shape>
    static HWY_INLINE void fold(TileRegisters<Shape>& block, typename Shape::Lane* parts, std::int64_t) {
        using V = typename Shape::V;
        const typename Shape::D d;
        block.for_each([&](V& sum_of_block, std::size_t place) HWY_ATTR {
            const V total = hn::Load(d, parts + place);
            const V c = hn::Load(d, parts + Shape::size + place);
            const auto is_larger = hn::Gt(hn::Abs(sum_of_block), hn::Abs(total));
            const V s = hn::IfThenElse(is_larger, sum_of_block, total);
            const V x = hn::IfThenElse(is_larger, total, sum_of_block);
            const V y = hn::Add(c, x);
            const V u = sub_by_fma(x, sub_by_fma(y, c));
            const V t = hn::Add(y, s);
            const V v = sub_by_fma(y, sub_by_fma(t, s));
            const V z = hn::Add(u, v);
            const V next = hn::Add(t, z);
            hn::Store(next, d, parts + place);
            hn::Store(sub_by_fma(z, sub_by_fma(next, t)), d, parts + Shape::size + place);
        });
    }
    template <class Shape>
    static HWY_INLINE typename Shape::V sum(const typename Shape::Lane* parts, std::int64_t) {
        return hn::Load(typename Shape::D(), parts);
    }
};

/// Part l holds the sum of 2^l blocks wherever bit l of the number of blocks is set.
struct PairwiseFolding {
    static constexpr bool is_used = true;
    static constexpr bool corrects = false;
    static constexpr std::size_t zeros = 0;
    static std::int64_t parts(std::int64_t blocks) { return bit_width_of(static_cast<std::uint64_t>(blocks)); }

    template <class Shape>
    static HWY_INLINE void fold(TileRegisters<Shape>& block, typename Shape::Lane* parts, std::int64_t index) {
        using V = typename Shape::V;
        for (; (index & 1) != 0; index >>= 1, parts += Shape::size)
            block.for_each([parts](V& x, std::size_t place)
                               HWY_ATTR { x = hn::Add(hn::Load(typename Shape::D(), parts + place), x); });
        block.store(parts);
    }
    template <class Shape>
    static HWY_INLINE typename Shape::V sum(const typename Shape::Lane* parts, std::int64_t blocks) {
        const typename Shape::D d;
        auto sum = hn::Zero(d);
        for (; blocks != 0; blocks >>= 1, parts += Shape::size)
            if ((blocks & 1) != 0) sum = hn::Add(hn::Load(d, parts), sum);
        return sum;
    }
};

/// The sum by TwoSum, and its errors by plain additions.
struct Dot2Folding {
    static constexpr bool is_used = true;
    static constexpr bool corrects = false;
    static constexpr std::size_t zeros = 2;
    static constexpr std::int64_t parts(std::int64_t) { return 2; }

    template <class Shape>
    static HWY_INLINE void fold(TileRegisters<Shape>& block, typename Shape::Lane* parts, std::int64_t) {
        using V = typename Shape::V;
        const typename Shape::D d;
        block.for_each([&](V& x, std::size_t place) HWY_ATTR {
            const SplitLanes<V> s = two_sum_lanes(hn::Load(d, parts + place), x);
            hn::Store(s.value, d, parts + place);
            hn::Store(hn::Add(hn::Load(d, parts + Shape::size + place), s.error), d, parts + Shape::size + place);
        });
    }
    template <class Shape>
    static HWY_INLINE typename Shape::V sum(const typename Shape::Lane* parts, std::int64_t) {
        const typename Shape::D d;
        const auto total = hn::Load(d, parts);
        const auto tail = hn::Load(d, parts + Shape::size);
        return hn::IfThenElse(is_finite_lanes(tail), hn::Add(total, tail), total);
    }
};

/// Sums in type Lane of blocks that a folding joins: part 0 holds the block at hand, the others are the folding's. T is what C
/// is made of.
template <class ValueT, class LaneT, class Folding>
struct SumKernel {
    using T = ValueT;
    using Lane = LaneT;
    using Shape = TileOfSums<Lane>;
    using V = typename Shape::V;
    using D = typename Shape::D;
    static constexpr bool measures = false;
    static constexpr bool decides_all = !Folding::corrects;

    static std::int64_t blocks(std::int64_t inner, std::int64_t block) { return (inner - 1) / block + 1; }
    static std::int64_t parts(std::int64_t inner, std::int64_t block) { return 1 + Folding::parts(blocks(inner, block)); }

    static HWY_NOINLINE void advance(const TileStrip<Lane>& strip, Lane* HWY_RESTRICT tile) {
        TileRegisters<Shape> sum;
        if (strip.first == 0) start(sum, tile);
        if (Folding::is_used ? strip.first % strip.block == 0 : strip.first == 0)
            sum.clear();
        else
            sum.load(tile);
        if constexpr (!Folding::is_used) {
            sum.add_products(strip.a, strip.b, strip.count);
            sum.store(tile);
        } else {
            for (std::int64_t k = 0; k < strip.count;) {
                const std::int64_t done = strip.first + k;
                const std::int64_t count = HWY_MIN(strip.count - k, strip.block - done % strip.block);
                sum.add_products(strip.a + k * Shape::rows, strip.b + k * Shape::columns, count);
                k += count;
                if ((done + count) % strip.block != 0 && done + count != strip.inner) return sum.store(tile);
                Folding::template fold<Shape>(sum, tile + Shape::size, done / strip.block);
                sum.clear();
            }
        }
    }

    static HWY_INLINE void start(TileRegisters<Shape>& sum, Lane* tile) {
        sum.clear();
        for (std::size_t part = 1; part <= Folding::zeros; ++part) sum.store(tile + part * Shape::size);
    }

    static HWY_INLINE V sum(const Lane* at, const Ending<T>& ending) {
        if constexpr (Folding::is_used)
            return Folding::template sum<Shape>(at + Shape::size, blocks(ending.inner, ending.block));
        else
            return hn::Load(D(), at);
    }

    /// alpha sum + beta c of the elements `at`, for lanes that are rounded to T when stored.
    static HWY_INLINE Results<D> round(const Lane* at, const Ending<T>& ending, V c) {
        const D d;
        const V total = sum(at, ending);
        V value = total;
        if (ending.alpha != T(1)) value = hn::Mul(hn::Set(d, Lane{ending.alpha}), value);
        if (ending.beta != T(0)) value = hn::MulAdd(hn::Set(d, Lane{ending.beta}), c, value);
        if constexpr (decides_all)
            return all_proven(d, value);
        else
            return {value, is_finite_lanes(total)};
    }
};

// Kernels that prove what they round. Both know for every row of A and column of B, strip by strip, an upper bound of its
// Euclidean norm, so that P_s = |a_s| |b_s| bounds every partial sum of a strip (Cauchy, Schwarz), and P, the product of the
// norms over all strips, bounds sum_s P_s.

/// The bound factor * P, or 0 where nothing can have been lost: where P is 0, and where all products are multiples of `units`
/// and that is at least finest * P. Beyond 2^-800..2^800 nothing is known.
template <class V>
HWY_INLINE V bound_of_loss(double factor, double finest, V norms, V units) {
    const hn::DFromV<V> d;
    const V unknown = hn::Set(d, std::numeric_limits<double>::infinity());
    const auto is_lossless = hn::Ge(units, hn::Mul(hn::Set(d, finest), norms));
    const V bound = hn::IfThenElse(is_lossless, hn::Zero(d), hn::Mul(hn::Set(d, factor), norms));
    const auto is_moderate = hn::And(hn::Ge(norms, hn::Set(d, 0x1p-800)), hn::Le(norms, hn::Set(d, 0x1p+800)));
    const V known = hn::IfThenElse(is_moderate, bound, unknown);
    return hn::IfThenElse(hn::Eq(norms, hn::Zero(d)), hn::Zero(d), known);
}

/// What a proving kernel knows of an element besides its sums: lanes of rows, one column.
template <class V>
struct Measures {
    V norms;  ///< P
    V units;  ///< a power of two that divides every product
};

/// RN to float of s within the slack, where all of that rounds to one number; without slack also where s is a double, a tie
/// say. Steps of ulps of double on the way cost nothing that could be seen.
template <class V>
HWY_INLINE Results<hn::DFromV<V>> enclosed_float(const SplitLanes<V>& s, V slack) {
    const hn::DFromV<V> d;
    const StoredAs<float, decltype(d)> df;
    const SplitLanes<V> r = two_sum_lanes(s.value, s.error);
    const auto is_exact = hn::Eq(hn::Add(hn::Abs(r.error), slack), hn::Zero(d));
    const V low = below_lanes(hn::Add(r.value, below_lanes(hn::Sub(r.error, slack))));
    const V high = above_lanes(hn::Add(r.value, above_lanes(hn::Add(r.error, slack))));
    const V low_rounded = hn::PromoteTo(d, round_to_floats(df, hn::IfThenElse(is_exact, r.value, low)));
    const V high_rounded = hn::PromoteTo(d, round_to_floats(df, hn::IfThenElse(is_exact, r.value, high)));
    const auto is_finite = is_finite_lanes(hn::Add(r.value, slack));
    return {low_rounded, hn::And(hn::Eq(low_rounded, high_rounded), is_finite)};
}

/// RN to float of alpha (s within what was lost) + beta c, where that is certain. A product with a float has 77 digits, which
/// is a pair; that of the tail is rounded, and so is their sum.
template <class V>
HWY_INLINE Results<hn::DFromV<V>> rounded_float(SplitLanes<V> s, V lost, const Ending<float>& ending, V c_in) {
    const hn::DFromV<V> d;
    const V slightly_more = hn::Set(d, 1.0 + 0x1p-40);
    V slack = lost;
    if (ending.alpha != 1.0F) {
        const V alpha = hn::Set(d, double{ending.alpha});
        const SplitLanes<V> p = two_prod_lanes(alpha, s.value);
        const V tail = hn::Mul(alpha, s.error);
        const V rounding = hn::Add(hn::Abs(tail), hn::Abs(p.error));
        slack = hn::MulAdd(hn::Abs(alpha), lost, hn::Mul(hn::Set(d, 4 * unit_roundoff<double>), rounding));
        slack = hn::Mul(slack, slightly_more);
        s = {p.value, hn::Add(p.error, tail)};
    }
    if (ending.beta != 0.0F) {
        const SplitLanes<V> t = two_sum_lanes(s.value, hn::Mul(hn::Set(d, double{ending.beta}), c_in));
        const SplitLanes<V> w = two_sum_lanes(t.error, s.error);
        s = {t.value, w.value};
        slack = hn::Mul(hn::Add(slack, hn::Abs(w.error)), slightly_more);
    }
    return enclosed_float(s, slack);
}

/// RN of alpha (sum within what was lost) + beta c, where that is certain.
template <class Triple, class V>
HWY_INLINE auto rounded_triple(Triple sum, V lost, const Ending<double>& ending, V c_in) {
    const hn::DFromV<V> d;
    const V least_normal = hn::Set(d, std::numeric_limits<double>::min());
    if (ending.alpha == -1) {
        sum.negate();
    } else if (ending.alpha != 1) {
        const V alpha = hn::Set(d, ending.alpha);
        sum = sum.scaled(alpha);
        lost = hn::Add(above_lanes(hn::Mul(hn::Abs(alpha), lost)), least_normal);
    }
    if (ending.beta != 0) {
        sum.add_product(hn::Set(d, ending.beta), c_in);
        if (magnitude(ending.beta) != 1) lost = hn::Add(above_lanes(lost), least_normal);
    }
    return sum.results(lost);
}

/// Floats, whose products are exact in double, summed there strip by strip, the strips by TwoSum: s + c.
///
/// A strip of n products loses at most n u P_s, since no partial sum exceeds P_s: all strips strip_length u P. What the sum c
/// of the TwoSums' errors loses is of second order. Where all products are multiples of U and P <= 2^53 U, all sums are exact.
struct BoundedFloatKernel : SumKernel<float, double, Dot2Folding> {
    static constexpr bool measures = true;
    static constexpr bool decides_all = false;
    static constexpr double factor = 1.05 * strip_length * unit_roundoff<double>;

    static HWY_INLINE Results<D> round(const double* at, const Ending<float>& ending, const Measures<V>& measures, V c_in) {
        const D d;
        const V lost = bound_of_loss(factor, unit_roundoff<double>, measures.norms, measures.units);
        return rounded_float({hn::Load(d, at + Shape::size), hn::Load(d, at + 2 * Shape::size)}, lost, ending, c_in);
    }
};

/// Sums of products of doubles in two parts with four operations a product: S, anchored so that its ulp never changes, takes
/// the upper bits of every product without an error, c the rest (numeric/anchored.hpp; Rump, Ogita, Oishi 2008, ExtractVector).
///
/// A strip: S_0 = 1.5 * 2^K with 2^(K-1) = 2^(floor(log2 P_s) + 1) > P_s. Norms are too large by a factor 1 + 2^-20, and n <=
/// 256 roundings of S move it by n 2^(K-53) in all, so S stays within [2^K, 2^(K+1)): its ulp is 2^(K-52), half of that g <=
/// 2^-51 P_s. Then t = RN(S + a b) is off by at most g, d = RN(t - S) is exact, e = RN(a b - d) is off by at most u g (and eta
/// / 2), and so is its sum into c, which |c| <= n g (1 + u) says, by u n g. A strip loses (n + n (n + 1) / 2) u g to first
/// order; all strips lose together less than 1.05 * (256 * 259 / 2) 2^-104 P. Norms below 2^-440 count as that, and what is as
/// small as 2^-900 is anchored there; from 2^-800 on P is 2^100 times larger than what that and underflow can add. Where all
/// products are multiples of U, so are d, a b - d and all sums of the latter, which stay within n g <= 2^-43 P: with
/// U >= 2^-96 P these are numbers of 53 digits, and nothing is lost. Strips are joined as FilteredTriple does it: s by TwoSum
/// of S - S_0 (exact, by Sterbenz), c by TwoSums, what these lose in d and m.
struct AnchoredKernel {
    using T = double;
    using Lane = double;
    using Shape = TileOfPairs<double>;
    using V = typename Shape::V;
    using D = typename Shape::D;
    static constexpr bool measures = true;
    static constexpr bool decides_all = false;
    static constexpr double factor = 1.05 * (strip_length * (strip_length + 3) / 2) * 0x1p-104;
    using Triple = FilteredTripleLanes<max_lanes<D>>;

    static std::int64_t parts(std::int64_t, std::int64_t) { return 4; }

    static HWY_NOINLINE void advance(const TileStrip<double>& strip, double* HWY_RESTRICT tile) {
        HWY_ALIGN double upper[Shape::size];
        HWY_ALIGN double rest[Shape::size];
        {
            TileRegisters<Shape> s;
            TileRegisters<Shape> c;
            anchor(strip, s);
            c.clear();
            Shape::for_each_product(
                strip, [&](V x, V y, std::size_t j, std::size_t v) HWY_ATTR { add_product(x, y, s.at[j][v], c.at[j][v]); });
            s.store(upper);
            c.store(rest);
        }
        join(strip, upper, rest, tile);
    }

    static HWY_INLINE V anchor_of(const TileStrip<double>& strip, std::size_t j, std::size_t v) {
        const D d;
        const hn::RebindToUnsigned<D> bits;
        const V norms = hn::Mul(hn::LoadU(d, strip.a_norm + v * max_lanes<D>), hn::Set(d, strip.b_norm[j]));
        const auto exponent =
            hn::And(hn::BitCast(bits, hn::Max(norms, hn::Set(d, 0x1p-900))), hn::Set(bits, std::uint64_t{0x7FF} << 52));
        return hn::Mul(hn::BitCast(d, exponent), hn::Set(d, 6.0));
    }

    static HWY_INLINE void anchor(const TileStrip<double>& strip, TileRegisters<Shape>& s) {
#pragma GCC unroll 8
        for (std::size_t j = 0; j < Shape::columns; ++j)
#pragma GCC unroll 4
            for (std::size_t v = 0; v < Shape::vectors; ++v) s.at[j][v] = anchor_of(strip, j, v);
    }

    static HWY_INLINE void add_product(V x, V y, V& s, V& c) {
#if HWY_NATIVE_FMA
        const V t = hn::MulAdd(x, y, s);
        c = hn::Add(c, hn::MulSub(x, y, hn::Sub(t, s)));
#else  // x y = p + q, and p - d is exact
        const SplitLanes<V> p = two_prod_lanes(x, y);
        const V t = hn::Add(s, p.value);
        c = hn::Add(c, hn::Add(hn::Sub(p.value, hn::Sub(t, s)), p.error));
#endif
        s = t;
    }

    static HWY_INLINE void join(const TileStrip<double>& strip, const double* upper, const double* rest, double* tile) {
        const D d;
        for (std::size_t j = 0; j < Shape::columns; ++j)
            for (std::size_t v = 0; v < Shape::vectors; ++v) {
                const std::size_t place = Shape::place(j, v);
                double* at = tile + place;
                Triple sum = strip.first == 0 ? Triple() : loaded(at, 0);
                sum.add(hn::Sub(hn::Load(d, upper + place), anchor_of(strip, j, v)));
                sum.add_error(hn::Load(d, rest + place));
                hn::Store(sum.s(), d, at);
                hn::Store(sum.c(), d, at + Shape::size);
                hn::Store(sum.d(), d, at + 2 * Shape::size);
                hn::Store(sum.m(), d, at + 3 * Shape::size);
            }
    }

    static HWY_INLINE Triple loaded(const double* at, std::int64_t strips) {
        const D d;
        return {hn::Load(d, at), hn::Load(d, at + Shape::size), hn::Load(d, at + 2 * Shape::size),
                hn::Load(d, at + 3 * Shape::size), ErrorPath{static_cast<std::int32_t>(2 * strips), 0}};
    }

    static HWY_INLINE Results<D> round(const double* at, const Ending<double>& ending, const Measures<V>& measures, V c_in) {
        const V lost = bound_of_loss(factor, 0x1p-96, measures.norms, measures.units);
        return rounded_triple(loaded(at, (ending.inner - 1) / strip_length + 1), lost, ending, c_in);
    }
};

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
