#pragma once

/// Sparse rows that are put together entry by entry.

#include "core/huge_pages.hpp"
#include "core/thread_pool.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

namespace solver::amg {

/// A row as the sum of entries that come in any order (Gustavson, ACM TOMS 4(3), 1978). Each element is summed in double in
/// the order in which its terms come. Whether a column is new decides no branch: it could not be predicted.
class RowAccumulator {
public:
    explicit RowAccumulator(std::int64_t columns) : place_(static_cast<std::size_t>(columns), absent) {}

    void add(std::int32_t column, double value) {
        make_room(1);
        const Element element = find(column);
        values_[element.place] = add_rn(element.value, value);
    }

    /// Adds factor times a sparse row, every product rounded.
    template <class T>
    void add_multiple(double factor, std::span<const std::int32_t> columns, std::span<const T> values) {
        make_room(std::ssize(columns));
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const Element element = find(columns[k]);
            values_[element.place] = add_rn(element.value, mul_rn(factor, static_cast<double>(values[k])));
        }
    }

    /// The largest of its terms in the place of their sum.
    void raise(std::int32_t column, double value) {
        make_room(1);
        const Element element = find(column);
        values_[element.place] = std::max(element.value, value);
    }

    std::int64_t size() const { return size_; }
    std::int32_t column(std::int64_t k) const { return columns_[k]; }  ///< in the order of their first terms
    double value(std::int64_t k) const { return values_[k]; }

    void clear() {
        for (std::int32_t k = 0; k < size_; ++k) place_[columns_[k]] = absent;
        size_ = 0;
    }

    /// Appends the row, columns rising, and starts anew.
    template <class V>
    void move_to(std::vector<std::int32_t>& columns, std::vector<V>& values) {
        order_.clear();
        for (std::int32_t k = 0; k < size_; ++k)
            order_.push_back(static_cast<std::uint64_t>(columns_[k]) << 32 | static_cast<std::uint32_t>(k));
        std::sort(order_.begin(), order_.end());
        for (const std::uint64_t element : order_) {
            columns.push_back(static_cast<std::int32_t>(element >> 32));
            values.push_back(static_cast<V>(values_[static_cast<std::uint32_t>(element)]));
        }
        clear();
    }

private:
    static constexpr std::int32_t absent = -1;

    struct Element {
        std::int32_t place;
        double value;  ///< so far; 0 where the row had no such column
    };

    /// There must be room for another.
    Element find(std::int32_t column) {
        const std::int32_t found = place_[column];
        const bool is_new = found == absent;
        const std::int32_t place = is_new ? size_ : found;
        place_[column] = place;
        columns_[place] = column;
        size_ += is_new ? 1 : 0;
        return {place, is_new ? 0 : values_[place]};
    }

    void make_room(std::int64_t more) {
        if (size_ + more <= std::ssize(columns_)) return;
        const auto size = static_cast<std::size_t>(2 * (size_ + more));
        columns_.resize(size);
        values_.resize(size);
    }

    std::vector<std::int32_t> place_;  // of each column in columns_ and values_
    std::vector<std::int32_t> columns_;
    std::vector<double> values_;
    std::int32_t size_ = 0;  // what lies behind is room
    std::vector<std::uint64_t> order_;
};

/// Rows one after another in blocks of huge pages, so that what is there is not moved when more comes.
template <class V>
class Blocks {
public:
    std::int64_t size() const { return size_; }

    /// add_row appends to columns and values. How many entries it appended.
    template <class AddRow>
    std::int64_t append(const AddRow& add_row) {
        if (columns_.empty() || columns_.back().capacity() - columns_.back().size() < spare) begin_block();
        const std::int64_t before = std::ssize(columns_.back());
        add_row(columns_.back(), values_.back());
        const std::int64_t added = std::ssize(columns_.back()) - before;
        size_ += added;
        return added;
    }

    template <class Columns, class Values>
    void copy_to(Columns columns, Values values) const {
        for (std::size_t b = 0; b < columns_.size(); ++b) {
            columns = std::copy(columns_[b].begin(), columns_[b].end(), columns);
            values = std::copy(values_[b].begin(), values_[b].end(), values);
        }
    }

private:
    static constexpr std::int64_t entries = 1 << 20;
    static constexpr std::size_t spare = 4096;  // longer rows move their block

    void begin_block() {
        reserve_in_huge_pages(columns_.emplace_back(), columns_.size() == 1 ? first_entries : entries);
        reserve_in_huge_pages(values_.emplace_back(), values_.size() == 1 ? first_entries : entries);
    }

    static constexpr std::int64_t first_entries = 1 << 14;  // where there is little to do

    std::vector<std::vector<std::int32_t>> columns_;
    std::vector<std::vector<V>> values_;
    std::int64_t size_ = 0;
};

inline constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// The matrix whose row i is what worker.add_row(i, columns, values) appends, where make_worker() makes a worker for each
/// thread. Rows must depend on nothing but i. Nothing where it would have more than most_entries, which is noticed early.
template <class V, class MakeWorker>
std::optional<CsrMatrix<V>> make_rows(std::int64_t rows, std::int64_t columns, const Device& device,
                                      const MakeWorker& make_worker, std::int64_t most_entries = no_limit) {
    constexpr std::int64_t worth_a_thread = 512;
    const int parts = static_cast<int>(std::clamp<std::int64_t>(rows / worth_a_thread, 1, device.threads()));
    std::vector<Blocks<V>> blocks(static_cast<std::size_t>(parts));
    CsrMatrix<V> result{rows, columns, zeros<std::int64_t>(rows + 1, parts), {}, {}};
    cpu::parallel_for(parts, [&](int part) {
        auto worker = make_worker();
        Blocks<V> mine;
        const std::int64_t end = cpu::share_begin(rows, part + 1, parts);
        for (std::int64_t i = cpu::share_begin(rows, part, parts); i < end && mine.size() <= most_entries; ++i)
            result.row_offsets[i + 1] = mine.append([&](auto& columns, auto& values) { worker.add_row(i, columns, values); });
        blocks[part] = std::move(mine);
    });
    std::inclusive_scan(result.row_offsets.begin(), result.row_offsets.end(), result.row_offsets.begin());
    if (result.row_offsets.back() > most_entries) return std::nullopt;
    resize_in_huge_pages(result.column_indices, result.row_offsets.back(), parts);
    resize_in_huge_pages(result.values, result.row_offsets.back(), parts);
    cpu::parallel_for(parts, [&](int part) {
        const std::int64_t begin = result.row_offsets[cpu::share_begin(rows, part, parts)];
        blocks[part].copy_to(result.column_indices.begin() + begin, result.values.begin() + begin);
    });
    return result;
}

}  // namespace solver::amg
