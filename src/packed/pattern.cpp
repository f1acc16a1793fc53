#include "core/huge_pages.hpp"
#include "core/thread_pool.hpp"
#include "packed/matrix.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

namespace solver {
namespace {

/// What the rows of one window become: rows for slices, in order, and rows kept apart.
struct WindowOrder {
    std::vector<std::int32_t> rows;  ///< -1: an idle lane
    std::vector<std::int32_t> long_rows;
};

std::int64_t slots_of(std::span<const std::int32_t> rows, RowOffsetPointer offsets, int height) {
    std::int64_t slots = 0;
    for (std::size_t first = 0; first < rows.size(); first += static_cast<std::size_t>(height)) {
        std::int64_t longest = 0;
        for (std::size_t i = first; i < std::min(rows.size(), first + static_cast<std::size_t>(height)); ++i)
            longest = std::max(longest, offsets[rows[i] + 1] - offsets[rows[i]]);
        slots += longest * height;
    }
    return slots;
}

/// By falling length, rows of one length in their own order (a counting sort).
std::vector<std::int32_t> sorted_by_length(std::span<const std::int32_t> rows, RowOffsetPointer offsets, std::int64_t longest) {
    std::vector<std::int64_t> place(static_cast<std::size_t>(longest) + 2);
    const auto key = [&](std::int32_t row) { return longest - (offsets[row + 1] - offsets[row]); };
    for (const std::int32_t row : rows) ++place[key(row) + 1];
    std::partial_sum(place.begin(), place.end(), place.begin());
    std::vector<std::int32_t> sorted(rows.size());
    for (const std::int32_t row : rows) sorted[place[key(row)]++] = row;
    return sorted;
}

/// Cuts rows of falling length into slices. A row that would leave more than half of its slice's slots idle is kept apart.
void cut_sorted(std::span<const std::int32_t> rows, RowOffsetPointer offsets, int height, WindowOrder& order) {
    const auto length = [&](std::size_t i) { return offsets[rows[i] + 1] - offsets[rows[i]]; };
    std::size_t first = 0;
    while (first < rows.size()) {
        const std::size_t end = std::min(rows.size(), first + static_cast<std::size_t>(height));
        std::int64_t entries = 0;
        for (std::size_t i = first; i < end; ++i) entries += length(i);
        if (length(first) > short_row && length(first) * height > 2 * entries) {
            order.long_rows.push_back(rows[first++]);
            continue;
        }
        order.rows.insert(order.rows.end(), rows.begin() + static_cast<std::ptrdiff_t>(first),
                          rows.begin() + static_cast<std::ptrdiff_t>(end));
        first = end;
    }
}

WindowOrder order_window(std::int64_t first, std::int64_t last, RowOffsetPointer offsets, const PackedShape& shape) {
    WindowOrder order;
    std::vector<std::int32_t> rows;
    for (std::int64_t row = first; row < last; ++row) {
        const bool is_long = offsets[row + 1] - offsets[row] > shape.longest_row;
        (is_long ? order.long_rows : rows).push_back(static_cast<std::int32_t>(row));
    }
    const std::vector<std::int32_t> sorted = sorted_by_length(rows, offsets, shape.longest_row);
    const std::int64_t slots = slots_of(rows, offsets, shape.height);
    std::int64_t entries = 0;
    for (const std::int32_t row : rows) entries += offsets[row + 1] - offsets[row];
    const double worth = worth_of_order * static_cast<double>(slots_of(sorted, offsets, shape.height));
    if (static_cast<double>(slots) <= worth && slots <= 2 * entries)
        order.rows = std::move(rows);
    else
        cut_sorted(sorted, offsets, shape.height, order);
    const auto height = static_cast<std::size_t>(shape.height);
    order.rows.resize((order.rows.size() + height - 1) / height * height, -1);
    std::sort(order.long_rows.begin(), order.long_rows.end());
    return order;
}

/// The columns of one slice: what step k meets in each lane.
class SliceColumns {
public:
    SliceColumns(RowOffsetPointer offsets, const std::int32_t* columns, std::span<const std::int32_t> rows,
                 std::span<const std::uint16_t> lengths)
        : offsets_(offsets), columns_(columns), rows_(rows), lengths_(lengths) {}

    /// An ended row has its last column, one without entries -1.
    std::int32_t at(std::int64_t k, std::size_t lane) const {
        const std::int64_t length = lengths_[lane];
        return length == 0 ? -1 : columns_[offsets_[rows_[lane]] + std::min(k, length - 1)];
    }

    /// The least column of the step, and how far the others are from it.
    struct Span {
        std::int32_t base;
        std::int32_t width;
    };
    Span span(std::int64_t k) const {
        std::int32_t least = std::numeric_limits<std::int32_t>::max();
        std::int32_t greatest = 0;
        for (std::size_t lane = 0; lane < rows_.size(); ++lane) {
            const std::int32_t column = at(k, lane);
            if (column < 0) continue;
            least = std::min(least, column);
            greatest = std::max(greatest, column);
        }
        return {least, greatest - least};
    }

    /// base if the columns of the step are base, base + 1, ... in all lanes that have work, and exist in those that have none;
    /// else -1.
    std::int32_t run(std::int64_t k, std::int64_t matrix_columns) const {
        const auto lanes = static_cast<std::int64_t>(rows_.size());
        std::int64_t base = -1;
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            if (k >= lengths_[lane]) continue;
            const std::int64_t found = at(k, static_cast<std::size_t>(lane)) - lane;
            if (base < 0) base = found;
            if (found != base || base < 0) return -1;
        }
        return base + lanes <= matrix_columns ? static_cast<std::int32_t>(base) : -1;
    }

private:
    RowOffsetPointer offsets_;
    const std::int32_t* columns_;
    std::span<const std::int32_t> rows_;
    std::span<const std::uint16_t> lengths_;
};

ColumnOffsets narrowest(const SliceColumns& slice, std::int64_t steps, std::int64_t matrix_columns) {
    bool runs = true;
    for (std::int64_t k = 0; runs && k < steps; ++k) runs = slice.run(k, matrix_columns) >= 0;
    if (runs) return ColumnOffsets::none;
    std::int32_t width = 0;
    for (std::int64_t k = 0; k < steps; ++k) width = std::max(width, slice.span(k).width);
    if (width <= std::numeric_limits<std::uint8_t>::max()) return ColumnOffsets::bits8;
    return width <= std::numeric_limits<std::uint16_t>::max() ? ColumnOffsets::bits16 : ColumnOffsets::bits32;
}

template <class U>
void write_offset(std::uint8_t* to, std::int64_t slot, std::int32_t offset) {
    const auto narrow = static_cast<U>(offset);
    std::memcpy(to + slot * static_cast<std::int64_t>(sizeof(U)), &narrow, sizeof(U));
}

void write_columns(const SliceColumns& columns, const PackedSlice& slice, std::int64_t matrix_columns, int height,
                   std::int32_t* base, std::uint8_t* offsets) {
    for (std::int64_t k = 0; k < slice.steps; ++k) {
        if (slice.offsets == ColumnOffsets::none) {
            base[k] = columns.run(k, matrix_columns);
            continue;
        }
        base[k] = columns.span(k).base;
        for (int lane = 0; lane < height; ++lane) {
            const std::int32_t column = columns.at(k, static_cast<std::size_t>(lane));
            const std::int32_t offset = column < 0 ? 0 : column - base[k];
            const std::int64_t slot = k * height + lane;
            if (slice.offsets == ColumnOffsets::bits8)
                write_offset<std::uint8_t>(offsets, slot, offset);
            else if (slice.offsets == ColumnOffsets::bits16)
                write_offset<std::uint16_t>(offsets, slot, offset);
            else
                write_offset<std::uint32_t>(offsets, slot, offset);
        }
    }
}

class PatternMaker {
public:
    PatternMaker(RowOffsetPointer offsets, std::span<const std::int32_t> columns, PackedPattern& pattern, int threads)
        : offsets_(offsets), columns_(columns.data()), pattern_(pattern), threads_(threads) {}

    void make() {
        order_windows();
        collect_rows();
        for_slices([&](std::int64_t s) { describe_slice(s); });
        place_slices();
        for_slices([&](std::int64_t s) { fill_slice(s); });
    }

private:
    template <class Work>
    void for_slices(const Work& work) {
        const auto count = static_cast<std::int64_t>(pattern_.slices.size());
        cpu::parallel_for(threads_, [&](int t) {
            for (std::int64_t s = cpu::share_begin(count, t, threads_); s < cpu::share_begin(count, t + 1, threads_); ++s)
                work(s);
        });
    }

    void order_windows() {
        const PackedShape& shape = pattern_.shape;
        const std::int64_t windows = (pattern_.rows + shape.window - 1) / shape.window;
        orders_.resize(static_cast<std::size_t>(windows));
        cpu::parallel_for(threads_, [&](int t) {
            const std::int64_t last = cpu::share_begin(windows, t + 1, threads_);
            for (std::int64_t w = cpu::share_begin(windows, t, threads_); w < last; ++w)
                orders_[w] = order_window(w * shape.window, std::min(pattern_.rows, (w + 1) * shape.window), offsets_, shape);
        });
    }

    void collect_rows() {
        for (WindowOrder& order : orders_) {
            pattern_.row.insert(pattern_.row.end(), order.rows.begin(), order.rows.end());
            for (const std::int32_t row : order.long_rows)
                share_row(row, offsets_[row], offsets_[row + 1] - offsets_[row], pattern_.shape, pattern_.shares);
            pattern_.long_rows += static_cast<std::int64_t>(order.long_rows.size());
            order = {};
        }
        pattern_.slices.resize(pattern_.row.size() / static_cast<std::size_t>(pattern_.shape.height));
        pattern_.length.resize(pattern_.row.size());
    }

    std::span<std::int32_t> rows_of(std::int64_t s) {
        return std::span(pattern_.row).subspan(static_cast<std::size_t>(s * height()), static_cast<std::size_t>(height()));
    }
    std::span<std::uint16_t> lengths_of(std::int64_t s) {
        return std::span(pattern_.length).subspan(static_cast<std::size_t>(s * height()), static_cast<std::size_t>(height()));
    }
    SliceColumns columns_of(std::int64_t s) { return {offsets_, columns_, rows_of(s), lengths_of(s)}; }
    int height() const { return pattern_.shape.height; }

    void describe_slice(std::int64_t s) {
        PackedSlice& slice = pattern_.slices[s];
        const std::span<std::int32_t> rows = rows_of(s);
        const std::span<std::uint16_t> lengths = lengths_of(s);
        slice.first_row = rows[0];
        slice.is_adjacent = 1;
        for (std::size_t lane = 0; lane < rows.size(); ++lane) {
            if (rows[lane] < 0) {
                rows[lane] = rows[0];
                slice.is_adjacent = 0;
                continue;
            }
            lengths[lane] = static_cast<std::uint16_t>(offsets_[rows[lane] + 1] - offsets_[rows[lane]]);
            ++slice.rows;
            if (rows[lane] != rows[0] + static_cast<std::int32_t>(lane)) slice.is_adjacent = 0;
        }
        slice.steps = *std::max_element(lengths.begin(), lengths.end());
        slice.common = *std::min_element(lengths.begin(), lengths.end());
        slice.offsets = narrowest(columns_of(s), slice.steps, pattern_.columns);
    }

    void place_slices() {
        std::int64_t step = 0;
        std::int64_t offset = 0;
        for (PackedSlice& slice : pattern_.slices) {
            slice.first_step = step;
            slice.first_offset = offset;
            step += slice.steps;
            offset += slice.steps * height() * bytes_of(slice.offsets);
        }
        resize_in_huge_pages(pattern_.base, step, threads_);
        resize_in_huge_pages(pattern_.offsets, offset, threads_);
        for (const std::uint16_t length : pattern_.length) pattern_.entries_in_slices += length;
    }

    void fill_slice(std::int64_t s) {
        const PackedSlice& slice = pattern_.slices[s];
        write_columns(columns_of(s), slice, pattern_.columns, height(), pattern_.base.data() + slice.first_step,
                      pattern_.offsets.data() + slice.first_offset);
    }

    RowOffsetPointer offsets_;
    const std::int32_t* columns_;
    PackedPattern& pattern_;
    int threads_;
    std::vector<WindowOrder> orders_;
};

}  // namespace

const char* why_not_packed(std::int64_t rows) {
    return rows <= std::numeric_limits<std::int32_t>::max() ? nullptr : "it has more than 2^31 - 1 rows";
}

void share_row(std::int64_t row, std::int64_t start, std::int64_t length, const PackedShape& shape,
               std::vector<PackedShare>& shares) {
    const std::int64_t fair = (length + shape.most_parts - 1) / shape.most_parts;
    const std::int64_t entries = (fair + shape.share_entries - 1) / shape.share_entries * shape.share_entries;
    const auto parts = static_cast<std::int32_t>((length + entries - 1) / entries);
    for (std::int32_t part = 0; part < parts; ++part)
        shares.push_back({row, start, part * entries, std::min(length, (part + 1) * entries), part, parts});
}

template <class Number>
std::shared_ptr<PackedPattern> pack_pattern(const CsrView<Number>& a, const PackedShape& shape, int threads) {
    auto pattern = std::make_shared<PackedPattern>();
    pattern->shape = shape;
    pattern->rows = a.rows;
    pattern->columns = a.columns;
    pattern->nonzeros = a.nonzeros();
    pattern->components = components<Number>;
    PatternMaker(a.row_offsets, a.column_indices, *pattern, threads).make();
    return pattern;
}

template std::shared_ptr<PackedPattern> pack_pattern(const CsrView<float>&, const PackedShape&, int);
template std::shared_ptr<PackedPattern> pack_pattern(const CsrView<double>&, const PackedShape&, int);
template std::shared_ptr<PackedPattern> pack_pattern(const CsrView<std::complex<float>>&, const PackedShape&, int);
template std::shared_ptr<PackedPattern> pack_pattern(const CsrView<std::complex<double>>&, const PackedShape&, int);

}  // namespace solver
