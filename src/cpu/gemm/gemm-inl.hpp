// Dense products of SOLVER_NUMBER. What includes it defines that: one file a type, so that two compilers share the work.
// Re-included for every Highway target.

#include "cpu/gemm/gemm.hpp"

#include "cpu/spmv.hpp"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <vector>

#include "core/thread_pool.hpp"
#include "cpu/gemm/pack-inl.hpp"
#include "cpu/gemm/second_tries-inl.hpp"
#include "cpu/gemm/tiles-inl.hpp"

#ifndef SOLVER_CPU_GEMM_ONCE
#define SOLVER_CPU_GEMM_ONCE
namespace solver::cpu {

/// Below this many products a thread is not worth waking.
inline constexpr double least_products_per_thread = 1 << 18;

/// Rows (columns) begin..end-1 of C.
struct Span {
    std::int64_t begin;
    std::int64_t end;
    std::int64_t size() const { return end - begin; }
};

inline std::int64_t round_up(std::int64_t x, std::int64_t multiple) { return (x + multiple - 1) / multiple * multiple; }

/// The products of one task as the kernels want them: C column by column.
template <class T>
GemmTask<T> by_columns(const GemmTask<T>& task) {
    if (task.c.row_stride == 1) return task;
    return {task.alpha, task.b.transposed(), task.a.transposed(), task.beta, task.c.transposed()};
}

/// How C is parted into blocks of whole tiles, worked on by any thread in any order: bits depend on neither.
struct Blocks {
    Blocks(std::int64_t rows, std::int64_t columns, std::int64_t tile_rows, std::int64_t tile_columns, std::int64_t most_rows,
           std::int64_t most_columns, int threads)
        : rows(rows), columns(columns) {
        block_rows = fitting(rows, tile_rows, most_rows);
        block_columns = fitting(columns, tile_columns, most_columns);
        while (threads > 1 && count() < 3 * std::int64_t{threads}) {
            if (block_columns >= block_rows && block_columns > 4 * tile_columns)
                block_columns = round_up(block_columns / 2, tile_columns);
            else if (block_rows > 2 * tile_rows)
                block_rows = round_up(block_rows / 2, tile_rows);
            else if (block_columns > tile_columns)
                block_columns = round_up(block_columns / 2, tile_columns);
            else
                break;
        }
    }

    /// The smallest multiple of a tile that needs as few blocks as the largest would.
    static std::int64_t fitting(std::int64_t size, std::int64_t tile, std::int64_t most) {
        const std::int64_t blocks = (size + most - 1) / most;
        return round_up((size + blocks - 1) / blocks, tile);
    }

    std::int64_t down() const { return (rows + block_rows - 1) / block_rows; }
    std::int64_t count() const { return down() * ((columns + block_columns - 1) / block_columns); }
    Span row_span(std::int64_t block) const {
        const std::int64_t begin = block % down() * block_rows;
        return {begin, std::min(begin + block_rows, rows)};
    }
    Span column_span(std::int64_t block) const {
        const std::int64_t begin = block / down() * block_columns;
        return {begin, std::min(begin + block_columns, columns)};
    }

    std::int64_t rows;
    std::int64_t columns;
    std::int64_t block_rows;
    std::int64_t block_columns;
};

/// Elements (row, column) of C, one by one, by the kernels for products with a vector: for what a first try did not prove.
template <class T>
class ElementByElement {
public:
    ElementByElement(const GemmTask<T>& task, Accuracy accuracy) : task_(task), accuracy_(accuracy) {}

    /// Of one column: rows counted from the first of `span`.
    void compute(const std::vector<std::int64_t>& rows, Span span, std::int64_t column) {
        gather(column);
        T* c = task_.c.data + column * task_.c.column_stride + span.begin;
        if (4 * static_cast<std::int64_t>(rows.size()) < span.size()) {
            for (const std::int64_t row : rows) multiply({span.begin + row, span.begin + row + 1}, c + row, c + row);
            return;
        }
        result_.resize(static_cast<std::size_t>(span.size()));
        multiply(span, c, result_.data());
        for (const std::int64_t row : rows) c[row] = result_[row];
    }

private:
    void gather(std::int64_t column) {
        x_.resize(static_cast<std::size_t>(task_.inner()));
        const T* b = task_.b.data + column * task_.b.column_stride;
        for (std::int64_t k = 0; k < task_.inner(); ++k) x_[k] = b[k * task_.b.row_stride];
    }

    void multiply(Span rows, const T* y_in, T* y) const {
        DenseView<T> a = task_.a;
        a.data += rows.begin * a.row_stride;
        a.rows = rows.size();
        cpu::multiply(a, 1, {.alpha = task_.alpha, .x = x_.data(), .beta = task_.beta, .y_in = y_in, .y = y}, accuracy_);
    }

    const GemmTask<T>& task_;
    Accuracy accuracy_;
    std::vector<T> x_;
    std::vector<T> result_;
};

}  // namespace solver::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace solver::HWY_NAMESPACE {

using cpu::Blocks;
using cpu::ElementByElement;
using cpu::Span;

/// What a block's A may take of the second cache, and its columns: B of a strip and all parts of a block stay in the third.
inline constexpr std::int64_t bytes_of_block_a = std::int64_t{1} << 19;
inline constexpr std::int64_t most_block_columns = 768;

template <class Lane>
using AlignedArray = hwy::AlignedFreeUniquePtr<Lane[]>;

template <class Lane>
AlignedArray<Lane> aligned_array(std::int64_t size) {
    AlignedArray<Lane> array = hwy::AllocateAligned<Lane>(static_cast<std::size_t>(size));
    if (!array) throw std::bad_alloc();
    return array;
}

/// Lines of A or B, packed strip by strip into panels of `width`, measured where the kernel asks for it.
template <class Lane, std::size_t width, bool measures>
class PackedLines {
public:
    explicit PackedLines(std::int64_t most)
        : room_(cpu::round_up(most, width)),
          panels_(aligned_array<Lane>(room_ * strip_length + static_cast<std::int64_t>(max_lanes<hn::ScalableTag<Lane>>))) {
        if (measures) {
            norm_.resize(static_cast<std::size_t>(room_));
            squares_.resize(static_cast<std::size_t>(room_));
            unit_.resize(static_cast<std::size_t>(room_));
        }
    }

    void start() {
        std::fill(squares_.begin(), squares_.end(), 0.0);
        std::fill(unit_.begin(), unit_.end(), std::numeric_limits<double>::infinity());
    }

    template <class T>
    void pack(const Lines<T>& lines, Span span, Strip strip) {
        for (std::int64_t i = 0; i < span.size(); i += width) {
            const Lines<T> from{lines.data + (span.begin + i) * lines.line_stride + strip.first * lines.inner_stride,
                                lines.line_stride, lines.inner_stride};
            Lane* to = panel(i, strip);
            pack_panel<width>(from, std::min<std::int64_t>(span.size() - i, width), strip.count, to);
            if constexpr (measures)
                measure_panel<width>(to, strip.count, {norm_.data() + i, squares_.data() + i, unit_.data() + i});
        }
    }

    /// After the last strip: from the norms' squares to the norms of whole lines.
    void finish() {
        for (double& norm : squares_) norm = std::sqrt(norm) * (1 + 0x1p-20);
    }

    Lane* panel(std::int64_t line, Strip strip) { return panels_.get() + line * strip.count; }
    const double* strip_norm(std::int64_t line) const { return measures ? norm_.data() + line : nullptr; }
    const double* norm(std::int64_t line) const { return squares_.data() + line; }
    const double* unit(std::int64_t line) const { return unit_.data() + line; }

private:
    std::int64_t room_;
    AlignedArray<Lane> panels_;
    std::vector<double> norm_;
    std::vector<double> squares_;
    std::vector<double> unit_;
};

/// Blocks of C by one kernel, on one thread.
template <class Kernel>
class BlockProduct {
public:
    using T = typename Kernel::T;
    using Lane = typename Kernel::Lane;
    using Shape = typename Kernel::Shape;
    using D = typename Shape::D;
    using V = typename Shape::V;
    static constexpr auto tile_rows = static_cast<std::int64_t>(Shape::rows);
    static constexpr auto tile_columns = static_cast<std::int64_t>(Shape::columns);
    static constexpr auto lanes = static_cast<std::int64_t>(max_lanes<D>);

    BlockProduct(const GemmTask<T>& task, Accuracy accuracy, std::int64_t block, const Blocks& blocks)
        : task_(task),
          ending_{task.alpha, task.beta, task.inner(), block},
          parts_(Kernel::parts(task.inner(), block)),
          a_(blocks.block_rows),
          b_(blocks.block_columns),
          tiles_(aligned_array<Lane>(cpu::round_up(blocks.block_rows, tile_rows) *
                                     cpu::round_up(blocks.block_columns, tile_columns) * parts_)),
          open_(static_cast<std::size_t>(blocks.block_columns)),
          accuracy_(accuracy),
          blocks_(blocks),
          rest_(task, accuracy) {}

    void compute(Span rows, Span columns) {
        sum_up(rows, columns);
        for (std::int64_t j = 0; j < columns.size(); ++j) round_column(rows, columns.begin + j, j);
        if constexpr (!Kernel::decides_all) compute_rest(rows, columns);
    }

    /// Only the elements that are open: rows of the block for each of its columns, in order. Those that remain so are left
    /// there.
    void settle(Span rows, Span columns, std::vector<std::vector<std::int64_t>>& open) {
        sum_up(rows, columns);
        for (std::int64_t j = 0; j < columns.size(); ++j)
            if (!open[j].empty()) settle_column(rows, columns.begin + j, j, open[j]);
    }

private:
    using Table = Escalation<T, BlocksOnCpu>;
    using Again = BlockProduct<KernelOf<typename Table::Sum>>;

    Lane* tile(Span rows, std::int64_t i, std::int64_t j) {
        const std::int64_t down = (rows.size() + tile_rows - 1) / tile_rows;
        return tiles_.get() + (j / tile_columns * down + i / tile_rows) * parts_ * static_cast<std::int64_t>(Shape::size);
    }

    void advance(Span rows, Span columns, Strip strip) {
        for (std::int64_t j = 0; j < columns.size(); j += tile_columns)
            for (std::int64_t i = 0; i < rows.size(); i += tile_rows)
                Kernel::advance({a_.panel(i, strip), b_.panel(j, strip), strip.first, strip.count, ending_.inner, ending_.block,
                                 a_.strip_norm(i), b_.strip_norm(j)},
                                tile(rows, i, j));
    }

    void sum_up(Span rows, Span columns) {
        a_.start();
        b_.start();
        const Lines<T> a_lines{task_.a.data, task_.a.row_stride, task_.a.column_stride};
        const Lines<T> b_lines{task_.b.data, task_.b.column_stride, task_.b.row_stride};
        for (Strip strip{0, 0}; strip.first < ending_.inner; strip.first += strip.count) {
            strip.count = std::min(strip_length, ending_.inner - strip.first);
            a_.pack(a_lines, rows, strip);
            b_.pack(b_lines, columns, strip);
            advance(rows, columns, strip);
        }
        a_.finish();
        b_.finish();
    }

    T* first_of_column(Span rows, std::int64_t column) const {
        return task_.c.data + column * task_.c.column_stride + rows.begin;
    }

    void round_column(Span rows, std::int64_t column, std::int64_t j) {
        open_[j].clear();
        T* c = first_of_column(rows, column);
        for (std::int64_t i = 0; i < rows.size(); i += tile_rows) {
            const Lane* at = tile(rows, i, j) + Shape::place(static_cast<std::size_t>(j % tile_columns), 0);
            const std::int64_t count = std::min(rows.size() - i, tile_rows);
            for (std::int64_t v = 0; v < count; v += lanes) round(at + v, i + v, j, c + i + v, std::min(count - v, lanes));
        }
    }

    /// `count` rows from row i of the block on, as many as there are lanes or what is left of them.
    HWY_INLINE void round(const Lane* at, std::int64_t i, std::int64_t j, T* c, std::int64_t count) {
        const D d;
        const Results<D> found = rounded(at, i, j, addend(c, count));
        const bool all = Kernel::decides_all || hn::AllTrue(d, found.proven);
        if (HWY_LIKELY(all && count == lanes)) return store_rounded(found.value, c);
        const Candidates candidates(found);
        for (std::int64_t lane = 0; lane < count; ++lane)
            if (!candidates.take(lane, c)) open_[j].push_back(i + lane);
    }

    void settle_column(Span rows, std::int64_t column, std::int64_t j, std::vector<std::int64_t>& open) {
        T* c = first_of_column(rows, column);
        auto remaining = open.begin();
        for (auto row = open.begin(); row != open.end();) {
            const std::int64_t i = *row / lanes * lanes;
            const Lane* at = tile(rows, i, j) + Shape::place(static_cast<std::size_t>(j % tile_columns), 0) + i % tile_rows;
            const Candidates candidates(rounded(at, i, j, addend(c + i, std::min(rows.size() - i, lanes))));
            for (; row != open.end() && *row < i + lanes; ++row)
                if (!candidates.take(*row - i, c + i)) *remaining++ = *row;
        }
        open.erase(remaining, open.end());
    }

    /// Elements that are open, by kernels that decide more: a block of them where there are many.
    void compute_rest(Span rows, Span columns) {
        std::int64_t count = 0;
        for (std::int64_t j = 0; j < columns.size(); ++j) count += static_cast<std::int64_t>(open_[j].size());
        if (Table::one_by_one.applies(count, rows.size() * columns.size())) {
            if (!again_) again_ = std::make_unique<Again>(task_, accuracy_, ending_.block, blocks_);
            again_->settle(rows, columns, open_);
        }
        for (std::int64_t j = 0; j < columns.size(); ++j)
            if (!open_[j].empty()) rest_.compute(open_[j], rows, columns.begin + j);
    }

    /// beta's c of `count` rows, zeros beyond and where it does not count.
    HWY_INLINE V addend(const T* c, std::int64_t count) const {
        const D d;
        const StoredAs<T, D> stored;
        if (ending_.beta == T(0)) return hn::Zero(d);
        if (count == lanes) return widen(d, hn::LoadU(stored, c));
        HWY_ALIGN T some[lanes] = {};
        std::copy_n(c, count, some);
        return widen(d, hn::Load(stored, some));
    }

    /// Results lane by lane.
    struct Candidates {
        explicit Candidates(const Results<D>& found) {
            store_rounded(found.value, value);
            hn::StoreMaskBits(D(), found.proven, proven);
        }
        /// Writes the result of a lane if it is proven.
        bool take(std::int64_t lane, T* to) const {
            if ((proven[lane / 8] >> lane % 8 & 1) == 0) return false;
            to[lane] = value[lane];
            return true;
        }
        HWY_ALIGN T value[lanes];
        std::uint8_t proven[8] = {};
    };

    HWY_INLINE Results<D> rounded(const Lane* at, std::int64_t i, std::int64_t j, V addend) const {
        const D d;
        if constexpr (Kernel::measures) {
            const Measures<V> measures{hn::Mul(hn::LoadU(d, a_.norm(i)), hn::Set(d, *b_.norm(j))),
                                       hn::Mul(hn::LoadU(d, a_.unit(i)), hn::Set(d, *b_.unit(j)))};
            return Kernel::round(at, ending_, measures, addend);
        } else {
            return Kernel::round(at, ending_, addend);
        }
    }

    const GemmTask<T>& task_;
    Ending<T> ending_;
    std::int64_t parts_;
    PackedLines<Lane, Shape::rows, Kernel::measures> a_;
    PackedLines<Lane, Shape::columns, Kernel::measures> b_;
    AlignedArray<Lane> tiles_;
    std::vector<std::vector<std::int64_t>> open_;  ///< column by column, rows of the block
    Accuracy accuracy_;
    const Blocks& blocks_;
    std::unique_ptr<Again> again_;
    ElementByElement<T> rest_;
};

template <class Kernel>
void multiply_by(const GemmTask<typename Kernel::T>& task, Accuracy accuracy, std::int64_t block, int threads) {
    using Product = BlockProduct<Kernel>;
    constexpr std::int64_t bytes_per_row = strip_length * std::int64_t{sizeof(typename Kernel::Lane)};
    constexpr std::int64_t most_rows = bytes_of_block_a / bytes_per_row / Product::tile_rows * Product::tile_rows;
    constexpr std::int64_t most_columns = most_block_columns / Product::tile_columns * Product::tile_columns;
    const Blocks blocks(task.c.rows, task.c.columns, Product::tile_rows, Product::tile_columns, most_rows, most_columns,
                        threads);
    std::atomic<std::int64_t> next{0};
    cpu::parallel_for(static_cast<int>(std::min<std::int64_t>(threads, blocks.count())), [&](int) {
        std::int64_t b = next++;
        if (b >= blocks.count()) return;
        Product product(task, accuracy, block, blocks);
        for (; b < blocks.count(); b = next++) product.compute(blocks.row_span(b), blocks.column_span(b));
    });
}

template <class T>
void multiply_fast(const GemmTask<T>& task, const GemmOptions& options, int threads) {
    const std::int64_t block = std::min(options.block, task.inner());
    switch (options.summation) {
        case GemmSummation::automatic:  // as fast as plain: a strip's sums pass through memory anyway
            return multiply_by<SumKernel<T, T, PairwiseFolding>>(task, Accuracy::fast, strip_length, threads);
        case GemmSummation::plain:
            return multiply_by<SumKernel<T, T, NoFolding>>(task, Accuracy::fast, task.inner(), threads);
        case GemmSummation::kahan:
            return multiply_by<SumKernel<T, T, KahanFolding>>(task, Accuracy::fast, block, threads);
        case GemmSummation::doubly_compensated:
            return multiply_by<SumKernel<T, T, DoublyCompensatedFolding>>(task, Accuracy::fast, block, threads);
        case GemmSummation::pairwise:
            return multiply_by<SumKernel<T, T, PairwiseFolding>>(task, Accuracy::fast, block, threads);
        case GemmSummation::dot2:
            return multiply_by<SumKernel<T, T, Dot2Folding>>(task, Accuracy::fast, block, threads);
    }
}

/// k additions in double lose less than k 2^-53 <= (1024 2^-24)^2 of |A||B|, for any k below 2^25 and floats.
template <class T>
void multiply_accurately(const GemmTask<T>& task, Accuracy accuracy, int threads) {
    if constexpr (std::is_same_v<T, double>) {
        multiply_by<AnchoredKernel>(task, accuracy, strip_length, threads);
    } else {
        if (accuracy == Accuracy::exact) return multiply_by<BoundedFloatKernel>(task, accuracy, strip_length, threads);
        multiply_by<SumKernel<float, double, NoFolding>>(task, accuracy, task.inner(), threads);
    }
}

void gemm_in(const GemmTask<SOLVER_NUMBER>& task, Accuracy accuracy, const GemmOptions& options, int threads) {
    const double products = static_cast<double>(task.c.rows) * static_cast<double>(task.c.columns) *
                            static_cast<double>(task.inner()) / cpu::least_products_per_thread;
    const int worthwhile = products < threads ? std::max(1, static_cast<int>(products)) : threads;
    const bool splits_products = options.summation == GemmSummation::dot2 && options.block == 1;
    if (accuracy == Accuracy::fast && splits_products) return multiply_accurately(task, Accuracy::compensated, worthwhile);
    if (accuracy == Accuracy::fast) return multiply_fast(task, options, worthwhile);
    multiply_accurately(task, accuracy, worthwhile);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace solver::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace solver {

HWY_EXPORT(gemm_in);

namespace cpu {

void multiply(const GemmTask<SOLVER_NUMBER>& task, Accuracy accuracy, const GemmOptions& options, int threads) {
    HWY_DYNAMIC_DISPATCH(gemm_in)(by_columns(task), accuracy, options, threads);
}

}  // namespace cpu
}  // namespace solver
#endif  // HWY_ONCE
