#include "triangular/schedule.hpp"

#include "solver/csr_matrix.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace solver::cuda {
namespace {

constexpr int warp_lanes = 32;
constexpr int log2_warp_lanes = 5;

template <class T>
class TriangleScheduler {
public:
    TriangleScheduler(const CsrView<T>& a, Triangle triangle, Diagonal diagonal, const TriangleScheduleOptions& options)
        : a_(a), is_lower_(triangle == Triangle::lower), has_pivots_(diagonal == Diagonal::stored), options_(options) {}

    TriangleSchedule<T> run() {
        find_levels();
        put_rows_in_order();
        cut_items();
        for (TriangleItem& item : made_.items) {
            sort_item(item);
            cut_chunks(item);
        }
        copy_entries();
        return std::move(made_);
    }

private:
    std::int64_t first_entry(std::int32_t row) const { return a_.row_offsets[row] + (has_pivots_ && !is_lower_ ? 1 : 0); }
    std::int64_t length(std::int32_t row) const { return a_.row_length(row) - (has_pivots_ ? 1 : 0); }

    std::int32_t natural(std::int64_t step) const { return static_cast<std::int32_t>(is_lower_ ? step : a_.rows - 1 - step); }

    void find_levels() {
        level_.assign(static_cast<std::size_t>(a_.rows), 0);
        for (std::int64_t step = 0; step < a_.rows; ++step) {
            const std::int32_t row = natural(step);
            const std::int64_t first = first_entry(row);
            std::int32_t level = 0;
            for (std::int64_t k = first; k < first + length(row); ++k)
                level = std::max(level, level_[a_.column_indices[k]] + 1);
            level_[row] = level;
            levels_ = std::max(levels_, level + 1);
        }
    }

    void put_rows_in_order() {
        made_.rows.resize(static_cast<std::size_t>(a_.rows));
        if (!options_.by_levels) {
            for (std::int64_t step = 0; step < a_.rows; ++step) made_.rows[step] = natural(step);
            return;
        }
        std::vector<std::int32_t> next(static_cast<std::size_t>(levels_) + 1);
        for (const std::int32_t level : level_) ++next[level + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        for (std::int64_t step = 0; step < a_.rows; ++step) made_.rows[next[level_[natural(step)]]++] = natural(step);
    }

    void cut_items() {
        const auto n = static_cast<std::int32_t>(a_.rows);
        for (std::int32_t begin = 0; begin < n;) {
            std::int64_t entries = length(made_.rows[begin]);
            std::int32_t end = begin + 1;
            while (end < n && end - begin < options_.rows_an_item) {
                entries += length(made_.rows[end]);
                if (entries > options_.entries_an_item) break;
                ++end;
            }
            made_.items.push_back({0, 0, begin, end - begin});
            made_.largest_item = std::max(made_.largest_item, end - begin);
            begin = end;
        }
    }

    int log2_width(std::int64_t row_length) const {
        int log2 = 0;
        while (log2 < log2_warp_lanes && row_length > options_.entries_a_lane << log2) ++log2;
        return log2;
    }

    struct Key {
        std::int32_t level;
        std::int32_t length;
        std::int32_t row;
    };

    /// By levels, and by length within a level.
    void sort_item(const TriangleItem& item) {
        keys_.clear();
        const std::span<std::int32_t> rows(made_.rows.data() + item.first_place, static_cast<std::size_t>(item.places));
        for (const std::int32_t row : rows) keys_.push_back({level_[row], static_cast<std::int32_t>(length(row)), row});
        std::stable_sort(keys_.begin(), keys_.end(), [](const Key& p, const Key& q) {
            return p.level != q.level ? p.level < q.level : p.length < q.length;
        });
        for (std::size_t i = 0; i < keys_.size(); ++i) rows[i] = keys_[i].row;
    }

    void cut_chunks(TriangleItem& item) {
        item.first_chunk = static_cast<std::int32_t>(made_.chunks.size());
        for (std::size_t i = 0; i < keys_.size();) {
            const auto place = static_cast<std::int32_t>(item.first_place + static_cast<std::int32_t>(i));
            if (keys_[i].length > options_.entries_a_segment) {
                cut_segments(place, keys_[i].length);
                ++i;
                continue;
            }
            const int log2 = log2_width(keys_[i].length);
            std::size_t end = i + 1;
            while (end < keys_.size() && end - i < static_cast<std::size_t>(warp_lanes >> log2) &&
                   keys_[end].level == keys_[i].level && log2_width(keys_[end].length) == log2 &&
                   keys_[end].length <= options_.entries_a_segment)
                ++end;
            const std::int32_t early = keys_[end - 1].length - (log2 > 0 ? late_entries : 0);
            const std::int32_t depth = std::max(log2 > 0 ? 1 : 0, (early + (1 << log2) - 1) >> log2);
            push_chunk(place, depth, static_cast<int>(end - i), log2, 0, 0, 0);
            i = end;
        }
        item.last_chunk = static_cast<std::int32_t>(made_.chunks.size());
    }

    void cut_segments(std::int32_t place, std::int64_t row_length) {
        const auto count =
            static_cast<std::int32_t>((row_length + options_.entries_a_segment - 1) / options_.entries_a_segment);
        for (std::int32_t i = 0; i < count; ++i) {
            const std::int64_t left = row_length - i * options_.entries_a_segment;
            const std::int64_t entries = std::min(left, options_.entries_a_segment);
            push_chunk(place, static_cast<std::int32_t>((entries + warp_lanes - 1) / warp_lanes), 1, log2_warp_lanes,
                       made_.segments, count, i);
        }
        made_.segments += count;
    }

    void push_chunk(std::int32_t place, std::int32_t depth, int rows, int log2, std::int32_t first_segment,
                    std::int32_t segments, std::int32_t segment) {
        made_.chunks.push_back({entries_, place, depth, static_cast<std::int16_t>(rows), static_cast<std::int8_t>(log2), false,
                                first_segment, segments, segment});
        entries_ = made_.chunks.back().end();
    }

    void copy_entries() {
        place_.resize(static_cast<std::size_t>(a_.rows));
        for (std::size_t place = 0; place < made_.rows.size(); ++place)
            place_[made_.rows[place]] = static_cast<std::int32_t>(place);
        made_.columns.resize(static_cast<std::size_t>(entries_));
        made_.values.assign(static_cast<std::size_t>(entries_), T(0));
        if (has_pivots_) {
            made_.pivots.resize(made_.rows.size());
            for (std::size_t place = 0; place < made_.rows.size(); ++place) made_.pivots[place] = pivot(made_.rows[place]);
        }
        for (const TriangleItem& item : made_.items)
            for (std::int32_t c = item.first_chunk; c < item.last_chunk; ++c) copy_chunk(item, made_.chunks[c]);
    }

    T pivot(std::int32_t row) const { return a_.values[is_lower_ ? a_.row_offsets[row + 1] - 1 : a_.row_offsets[row]]; }

    void copy_chunk(const TriangleItem& item, const TriangleChunk& chunk) {
        std::fill(made_.columns.begin() + chunk.first_entry, made_.columns.begin() + chunk.end(), item.places);
        for (std::int32_t i = 0; i < chunk.rows; ++i) copy_row(item, chunk, i);
    }

    /// Entries come in the order in which their elements of x are likely to be known.
    void copy_row(const TriangleItem& item, const TriangleChunk& chunk, std::int32_t row_in_chunk) {
        const std::int32_t row = made_.rows[chunk.first_place + row_in_chunk];
        const std::int64_t before = chunk.segments == 0 ? 0 : chunk.segment * options_.entries_a_segment;
        const std::int64_t count =
            chunk.segments == 0 ? length(row) : std::min(length(row) - before, options_.entries_a_segment);
        const std::int64_t early = count - chunk.late();
        const std::int64_t width = std::int64_t{1} << chunk.log2_width;
        for (std::int64_t k = 0; k < count; ++k) {
            const std::int64_t to = k < early ? chunk.first_entry + k / width * chunk.lanes() + row_in_chunk * width + k % width
                                              : chunk.first_late() + (k - early) * chunk.rows + row_in_chunk;
            copy_entry(item, first_entry(row) + (is_lower_ ? before + k : length(row) - 1 - before - k), to);
        }
    }

    void copy_entry(const TriangleItem& item, std::int64_t from, std::int64_t to) {
        const std::int32_t place = place_[a_.column_indices[from]];
        made_.columns[to] = place >= item.first_place ? place - item.first_place : ~place;
        made_.values[to] = -a_.values[from];
    }

    CsrView<T> a_;
    bool is_lower_;
    bool has_pivots_;
    TriangleScheduleOptions options_;
    std::vector<std::int32_t> level_;  // of each row
    std::int32_t levels_ = 0;
    std::vector<Key> keys_;            // of the current item
    std::vector<std::int32_t> place_;  // of each row
    std::int64_t entries_ = 0;
    TriangleSchedule<T> made_;
};

/// A lower triangle with ones in its diagonal: of the k-th complex row to be solved, rows 4k and 4k + 1 are the numerator's
/// parts and 4k + 2 and 4k + 3 the quotient's, whose entries have the opposite sign, as the schedule gives each.
template <class T>
class NumeratorsAndQuotients {
public:
    explicit NumeratorsAndQuotients(const PairedTriangle<T>& a)
        : a_(a), n_(a.beside.rows / 2), made_{4 * n_, 4 * n_, {0}, {}, {}} {}

    CsrMatrix<T> run() {
        for (std::int64_t k = 0; k < n_; ++k) {
            const std::int64_t row = turned(k);
            for (const std::int64_t part : {0, 1}) append_numerator(2 * row + part);
            for (int part = 0; part < 2; ++part) {
                append(4 * k, -a_.pivots[2 * row]);
                append(4 * k + 1, -a_.pivots[2 * row + 1]);
                made_.row_offsets.push_back(made_.nonzeros());
            }
        }
        return std::move(made_);
    }

    /// Which complex row is solved k-th, and when a row is.
    std::int64_t turned(std::int64_t k) const { return a_.triangle == Triangle::lower ? k : n_ - 1 - k; }

private:
    void append(std::int64_t column, T value) {
        made_.column_indices.push_back(static_cast<std::int32_t>(column));
        made_.values.push_back(value);
    }

    /// Entries in the order in which their elements are solved.
    void append_numerator(std::int64_t row) {
        const std::int64_t first = a_.beside.row_offsets[row], length = a_.beside.row_length(row);
        for (std::int64_t k = 0; k < length; ++k) {
            const std::int64_t entry = a_.triangle == Triangle::lower ? first + k : first + length - 1 - k;
            const std::int32_t column = a_.beside.column_indices[entry];
            append(4 * turned(column / 2) + 2 + column % 2, a_.beside.values[entry]);
        }
        made_.row_offsets.push_back(made_.nonzeros());
    }

    const PairedTriangle<T>& a_;
    std::int64_t n_;
    CsrMatrix<T> made_;
};

}  // namespace

template <class T>
TriangleSchedule<T> schedule_triangle(const CsrView<T>& a, Triangle triangle, Diagonal diagonal,
                                      const TriangleScheduleOptions& options) {
    return TriangleScheduler<T>(a, triangle, diagonal, options).run();
}

/// Levels of numerators and of quotients take turns, so that no chunk has rows of both.
template <class T>
TriangleSchedule<T> schedule_pairs(const PairedTriangle<T>& a, const TriangleScheduleOptions& options) {
    NumeratorsAndQuotients<T> rows(a);
    TriangleSchedule<T> made = schedule_triangle(rows.run().view(), Triangle::lower, Diagonal::unit, options);
    for (TriangleChunk& chunk : made.chunks) chunk.is_quotients = made.rows[chunk.first_place] % 4 >= 2;
    for (std::int32_t& row : made.rows) row = static_cast<std::int32_t>(2 * rows.turned(row / 4) + row % 2);
    return made;
}

template TriangleSchedule<float> schedule_triangle(const CsrView<float>&, Triangle, Diagonal, const TriangleScheduleOptions&);
template TriangleSchedule<double> schedule_triangle(const CsrView<double>&, Triangle, Diagonal, const TriangleScheduleOptions&);
template TriangleSchedule<float> schedule_pairs(const PairedTriangle<float>&, const TriangleScheduleOptions&);
template TriangleSchedule<double> schedule_pairs(const PairedTriangle<double>&, const TriangleScheduleOptions&);

}  // namespace solver::cuda
