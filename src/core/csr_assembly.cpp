#include "core/csr_assembly.hpp"

#include "core/exact_sum.hpp"
#include "core/huge_pages.hpp"
#include "core/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <complex>
#include <numeric>

namespace solver {
namespace {

/// Where threads may meet: the next free place of a row, or the count of its entries so far.
std::int64_t take_next(std::int64_t& counter, bool alone) {
    if (alone) return counter++;
    return std::atomic_ref(counter).fetch_add(1, std::memory_order_relaxed);
}

template <class T, class Visit>
void for_each_entry(std::span<const Entry<T>> entries, Symmetry symmetry, const Visit& visit) {
    for (const Entry<T>& entry : entries) {
        visit(entry.row, entry.column, entry.value);
        if (symmetry != Symmetry::general && entry.row != entry.column)
            visit(entry.column, entry.row, mirrored(entry.value, symmetry));
    }
}

/// Threads take part after part.
template <class T, class Visit>
void for_each_entry(std::span<const std::span<const Entry<T>>> parts, Symmetry symmetry, int threads, const Visit& visit) {
    std::atomic<std::size_t> next_part = 0;
    cpu::parallel_for(threads, [&](int) {
        for (std::size_t part; (part = next_part++) < parts.size();) for_each_entry(parts[part], symmetry, visit);
    });
}

/// Waking a thread costs as much as placing some ten thousand entries.
template <class T>
int useful_threads(std::span<const std::span<const Entry<T>>> parts, int threads) {
    constexpr std::int64_t entries_per_thread = 50'000;
    std::int64_t entries = 0;
    for (const auto& part : parts) entries += static_cast<std::int64_t>(part.size());
    return static_cast<int>(std::min<std::int64_t>(threads, 1 + entries / entries_per_thread));
}

/// One row's columns and values, brought into order.
template <class T>
class RowSorter {
public:
    /// Sorts by column, sums what stands at one place, moves the result to the front; returns how many entries remain.
    std::int64_t operator()(std::int32_t* columns, T* values, std::int64_t size) {
        if (std::is_sorted(columns, columns + size, std::less_equal<>())) return size;  // strictly increasing: nothing to do
        pairs_.clear();
        for (std::int64_t k = 0; k < size; ++k) pairs_.push_back({columns[k], values[k]});
        std::sort(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) { return a.column < b.column; });
        std::int64_t kept = 0;
        for (auto first = pairs_.begin(); first != pairs_.end(); ++kept) {
            const auto last = std::find_if(first, pairs_.end(), [&](const Pair& pair) { return pair.column != first->column; });
            columns[kept] = first->column;
            values[kept] = sum_of(first, last);
            first = last;
        }
        return kept;
    }

private:
    struct Pair {
        std::int32_t column;
        T value;
    };

    T sum_of(typename std::vector<Pair>::const_iterator first, typename std::vector<Pair>::const_iterator last) {
        if (last - first == 1) return first->value;
        terms_.clear();
        for (; first != last; ++first) terms_.push_back(first->value);
        return exact_sum(std::span<const T>(terms_));
    }

    std::vector<Pair> pairs_;
    std::vector<T> terms_;
};

constexpr std::int32_t removed = -1;  // stands in the column of a place that became free

/// Closes the gaps behind rows that became shorter.
template <class T>
void close_gaps(CsrMatrix<T>& matrix) {
    std::int64_t end = 0;
    std::int64_t k = 0;
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
        for (; k < matrix.row_offsets[row + 1]; ++k) {
            if (matrix.column_indices[k] == removed) continue;
            matrix.column_indices[end] = matrix.column_indices[k];
            matrix.values[end++] = matrix.values[k];
        }
        matrix.row_offsets[row + 1] = end;
    }
    matrix.column_indices.resize(end);
    matrix.values.resize(end);
}

/// Gives how many entries were summed into others.
template <class T>
std::int64_t sort_rows(CsrMatrix<T>& matrix, int threads) {
    std::atomic<std::int64_t> repeated = 0;
    cpu::parallel_for(threads, [&](int thread) {
        RowSorter<T> sort_row;
        std::int64_t repeated_here = 0;
        const std::int64_t end = cpu::share_begin(matrix.rows, thread + 1, threads);
        for (std::int64_t row = cpu::share_begin(matrix.rows, thread, threads); row < end; ++row) {
            std::int32_t* const columns = matrix.column_indices.data() + matrix.row_offsets[row];
            const std::int64_t size = matrix.row_offsets[row + 1] - matrix.row_offsets[row];
            const std::int64_t kept = sort_row(columns, matrix.values.data() + matrix.row_offsets[row], size);
            std::fill(columns + kept, columns + size, removed);
            repeated_here += size - kept;
        }
        repeated += repeated_here;
    });
    if (repeated > 0) close_gaps(matrix);
    return repeated;
}

}  // namespace

template <class T>
Assembly<T> assemble(std::int64_t rows, std::int64_t columns, std::span<const std::span<const Entry<T>>> parts,
                     Symmetry symmetry, int threads) {
    threads = useful_threads(parts, threads);
    const bool alone = threads == 1;
    CsrMatrix<T> matrix{rows, columns, std::vector<std::int64_t>(rows + 1), {}, {}};
    std::vector<std::int64_t>& offsets = matrix.row_offsets;
    for_each_entry<T>(parts, symmetry, threads, [&](std::int32_t row, std::int32_t, T) { take_next(offsets[row], alone); });
    std::exclusive_scan(offsets.begin(), offsets.end(), offsets.begin(), std::int64_t{0});
    resize_in_huge_pages(matrix.column_indices, offsets.back(), threads);
    resize_in_huge_pages(matrix.values, offsets.back(), threads);
    for_each_entry<T>(parts, symmetry, threads, [&](std::int32_t row, std::int32_t column, T value) {
        const std::int64_t place = take_next(offsets[row], alone);
        matrix.column_indices[place] = column;
        matrix.values[place] = value;
    });
    // Every offset has moved to the end of its row, which is where the next row begins.
    std::copy_backward(offsets.begin(), offsets.end() - 1, offsets.end());
    offsets[0] = 0;
    const std::int64_t repeated = sort_rows(matrix, threads);
    return {std::move(matrix), repeated};
}

template Assembly<float> assemble(std::int64_t, std::int64_t, std::span<const std::span<const Entry<float>>>, Symmetry, int);
template Assembly<double> assemble(std::int64_t, std::int64_t, std::span<const std::span<const Entry<double>>>, Symmetry, int);
template Assembly<std::complex<float>> assemble(std::int64_t, std::int64_t,
                                                std::span<const std::span<const Entry<std::complex<float>>>>, Symmetry, int);
template Assembly<std::complex<double>> assemble(std::int64_t, std::int64_t,
                                                 std::span<const std::span<const Entry<std::complex<double>>>>, Symmetry, int);

}  // namespace solver
