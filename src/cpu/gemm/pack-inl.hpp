// Strips of A and B copied for the micro-kernels, and measured. Re-included for every Highway target.

#if defined(SOLVER_CPU_GEMM_PACK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SOLVER_CPU_GEMM_PACK_INL_HPP
#undef SOLVER_CPU_GEMM_PACK_INL_HPP
#else
#define SOLVER_CPU_GEMM_PACK_INL_HPP
#endif

#include "cpu/simd/lanes-inl.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

/// Rows of A or columns of B: element k of line i is data[i * line_stride + k * inner_stride].
template <class T>
struct Lines {
    const T* data;
    std::int64_t line_stride;
    std::int64_t inner_stride;
};

/// Products first..first + count - 1 of every element.
struct Strip {
    std::int64_t first;
    std::int64_t count;
};

/// Four vectors of four lanes, or two of two, or one of one, as a matrix that is transposed.
template <class D, class V, std::size_t lanes>
HWY_INLINE void transpose([[maybe_unused]] D d, [[maybe_unused]] V (&x)[lanes]) {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (lanes == 2) {
        const V low = hn::InterleaveLower(d, x[0], x[1]);
        x[1] = hn::InterleaveUpper(d, x[0], x[1]);
        x[0] = low;
    } else if constexpr (lanes == 4) {
        constexpr bool is_one_block = sizeof(hn::TFromD<D>) == 4;
        const V even_low = hn::InterleaveLower(d, x[0], x[is_one_block ? 2 : 1]);
        const V even_high = hn::InterleaveUpper(d, x[0], x[is_one_block ? 2 : 1]);
        const V odd_low = hn::InterleaveLower(d, x[is_one_block ? 1 : 2], x[3]);
        const V odd_high = hn::InterleaveUpper(d, x[is_one_block ? 1 : 2], x[3]);
        if constexpr (is_one_block) {
            x[0] = hn::InterleaveLower(d, even_low, odd_low);
            x[1] = hn::InterleaveUpper(d, even_low, odd_low);
            x[2] = hn::InterleaveLower(d, even_high, odd_high);
            x[3] = hn::InterleaveUpper(d, even_high, odd_high);
        } else {
            x[0] = hn::ConcatLowerLower(d, odd_low, even_low);
            x[1] = hn::ConcatLowerLower(d, odd_high, even_high);
            x[2] = hn::ConcatUpperUpper(d, odd_low, even_low);
            x[3] = hn::ConcatUpperUpper(d, odd_high, even_high);
        }
    }
#endif
}

/// Elements begin..end-1 of lines first..last-1, one by one.
template <std::size_t width, class Lane, class T>
HWY_INLINE void pack_elements(const Lines<T>& from, std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end,
                              Lane* HWY_RESTRICT to) {
    for (std::int64_t i = first; i < last; ++i) {
        const T* HWY_RESTRICT line = from.data + i * from.line_stride;
        for (std::int64_t k = begin; k < end; ++k) to[k * static_cast<std::int64_t>(width) + i] = line[k * from.inner_stride];
    }
}

/// The panel of `lines` lines from `from` on: its elements k side by side, `width` of them, zeros where there are fewer lines.
template <std::size_t width, class Lane, class T>
HWY_NOINLINE void pack_panel(const Lines<T>& from, std::int64_t lines, std::int64_t count, Lane* HWY_RESTRICT to) {
    using Block = hn::CappedTag<Lane, std::min<std::size_t>(width, 4)>;
    const Block d;
    constexpr std::int64_t lanes = max_lanes<Block>;
    constexpr auto all = static_cast<std::int64_t>(width);
    using Copied = hn::CappedTag<Lane, width>;
    const Copied copied;
    constexpr std::int64_t copied_lanes = max_lanes<Copied>;
    if (lines < all) {
        std::fill(to, to + all * count, Lane(0));
        return pack_elements<width>(from, 0, lines, 0, count, to);
    }
    if (from.line_stride == 1) {
        const T* HWY_RESTRICT data = from.data;
        for (std::int64_t k = 0; k < count; ++k, to += width, data += from.inner_stride) {
            std::int64_t i = 0;
            for (; i + copied_lanes <= all; i += copied_lanes) hn::StoreU(load_widened(copied, data + i), copied, to + i);
            for (; i < all; ++i) to[i] = data[i];
        }
        return;
    }
    std::int64_t k = 0;
    for (; k + lanes <= count; k += lanes)
        for (std::int64_t block = 0; block < all; block += lanes) {
            const std::int64_t i = std::min(block, all - lanes);  // the last two blocks may share lines
            hn::Vec<Block> x[lanes];
#pragma GCC unroll 4
            for (std::int64_t line = 0; line < lanes; ++line)
                x[line] = load_widened(d, from.data + (i + line) * from.line_stride + k);
            transpose(d, x);
#pragma GCC unroll 4
            for (std::int64_t line = 0; line < lanes; ++line) hn::StoreU(x[line], d, to + (k + line) * all + i);
        }
    pack_elements<width>(from, 0, all, k, count, to);
}

/// The lowest bit that is set in x, as a number; Inf for 0.
template <class V>
HWY_INLINE V lowest_bit(V x) {
    const hn::DFromV<V> d;
    const hn::RebindToUnsigned<decltype(d)> du;
    const auto bits = hn::BitCast(du, hn::Abs(x));
    const auto fraction = hn::And(bits, hn::Set(du, (std::uint64_t{1} << 52) - 1));
    const V without = hn::BitCast(d, hn::And(bits, hn::Sub(bits, hn::Set(du, std::uint64_t{1}))));
    const auto has_fraction = hn::MaskFromVec(hn::BitCast(d, hn::VecFromMask(du, hn::Ne(fraction, hn::Zero(du)))));
    const V lowest = hn::Sub(hn::Abs(x), hn::IfThenElseZero(has_fraction, without));
    return hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<double>::infinity()), lowest);
}

/// What proofs need to know of a line: in `norm` an upper bound of the Euclidean norm of this strip of it, 0 where all is zero,
/// in `squares` the sum of these bounds' squares so far, in `unit` a power of two that divides all its elements so far.
///
/// Sums of at most 2^20 squares are off by less than 2^-30 of themselves and by less than 2^-1000 where squares underflow; the
/// factor and the addend cover that and their own rounding.
struct LineMeasures {
    double* norm;
    double* squares;
    double* unit;
};

/// Measures the lines of a packed panel, a vector of them at a time; the panel may be read a vector beyond its end.
template <std::size_t width>
HWY_NOINLINE void measure_panel(const double* panel, std::int64_t count, const LineMeasures& lines) {
    const hn::ScalableTag<double> d;
    constexpr std::size_t lanes = max_lanes<hn::ScalableTag<double>>;
    for (std::size_t first = 0; first < width; first += lanes) {
        auto squares = hn::Zero(d);
        auto unit = hn::Set(d, std::numeric_limits<double>::infinity());
        for (std::int64_t k = 0; k < count; ++k) {
            const auto x = hn::LoadU(d, panel + k * static_cast<std::int64_t>(width) + first);
            squares = hn::MulAdd(x, x, squares);
            unit = hn::Min(unit, lowest_bit(x));
        }
        HWY_ALIGN double squares_of[lanes];
        HWY_ALIGN double unit_of[lanes];
        hn::Store(squares, d, squares_of);
        hn::Store(unit, d, unit_of);
        for (std::size_t lane = 0; lane < lanes && first + lane < width; ++lane) {
            const std::size_t i = first + lane;
            const bool is_zero = squares_of[lane] == 0 && std::isinf(unit_of[lane]);
            lines.norm[i] = is_zero ? 0 : std::sqrt(squares_of[lane]) * (1 + 0x1p-20) + 0x1p-440;
            lines.squares[i] += lines.norm[i] * lines.norm[i];
            lines.unit[i] = std::min(lines.unit[i], unit_of[lane]);
        }
    }
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
