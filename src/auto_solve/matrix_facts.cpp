#include "auto_solve/matrix_facts.hpp"

#include "core/row_ranges.hpp"
#include "core/sorted_rows.hpp"
#include "cpu/symmetry.hpp"
#include "cuda/spmv.hpp"
#include "solver/csr_matrix.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>

namespace solver {
namespace {

/// Rows that are seen side by side, entry by entry.
constexpr std::int64_t rows_at_once = 16;

/// The facts of all rows; see_rows(watches, first, end) shows each of some rows to a watch of its own.
template <class T, class SeeRows>
RowFacts facts_of_rows(std::int64_t rows, std::int64_t entries, const Device& device, const SeeRows& see_rows) {
    RowFacts all;
    std::mutex mutex;
    for_each_row_range(rows, entries, device.threads(), [&](std::int64_t begin, std::int64_t end) {
        std::array<RowWatch<T>, rows_at_once> watches;
        for (std::int64_t first = begin; first < end; first += rows_at_once) {
            for (RowWatch<T>& watch : watches) watch.begin_row();
            const std::int64_t last = std::min(first + rows_at_once, end);
            see_rows(watches.data(), first, last);
            for (std::int64_t i = first; i < last; ++i) watches[i - first].end_row();
        }
        const std::lock_guard lock(mutex);
        for (const RowWatch<T>& watch : watches) all.merge(watch.facts());
    });
    return all;
}

/// Square tiles, so that either order of the elements is read by whole lines.
template <class T>
bool has_symmetry(const DenseView<T>& a, OwnTranspose kind, const Device& device) {
    constexpr std::int64_t tile = 32;
    const auto element = [&](std::int64_t i, std::int64_t j) { return a.data[i * a.row_stride + j * a.column_stride]; };
    std::atomic<bool> is_symmetric{true};
    const std::int64_t tiles = (a.rows + tile - 1) / tile;
    for_each_row_range(tiles, a.rows * a.rows / 2, device.threads(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin * tile; row < std::min(end * tile, a.rows); row += tile)
            for (std::int64_t column = 0; column <= row && is_symmetric.load(std::memory_order_relaxed); column += tile)
                for (std::int64_t i = row; i < std::min(row + tile, a.rows); ++i)
                    for (std::int64_t j = column; j < std::min(column + tile, i); ++j) {
                        const auto size = [&] { return diagonal_size(element(i, i), element(j, j)); };
                        if (!is_mirrored(kind, i, j, element(i, j), element(j, i), size)) is_symmetric = false;
                    }
    });
    return is_symmetric;
}

template <class T>
void look_for_symmetry_in_sorted_rows(MatrixFacts& facts, const CsrView<T>& a, const Device& device) {
    facts.is_symmetric = cpu::has_symmetry(a, OwnTranspose::of_reals, device);
    facts.is_nearly_symmetric = facts.is_symmetric || cpu::has_symmetry(a, OwnTranspose::of_rounded_reals, device);
    facts.is_complex_symmetric = cpu::has_symmetry(a, OwnTranspose::of_complex_numbers, device);
}

/// Of rows in any order. An A that repeats an entry with other values counts as unsymmetric.
template <class T>
void look_for_symmetry(MatrixFacts& facts, const CsrView<T>& a, const Device& device) {
    if (has_sorted_rows(a, device)) return look_for_symmetry_in_sorted_rows(facts, a, device);
    const CsrMatrix<T> sorted = transpose(transpose(a, device).view(), device);
    look_for_symmetry_in_sorted_rows<T>(facts, sorted, device);
}

template <class T>
RowFacts row_facts_of(const CsrView<T>& a, const Device& device) {
    return facts_of_rows<T>(a.rows, a.nonzeros(), device, [&](RowWatch<T>* watches, std::int64_t first, std::int64_t end) {
        for (std::int64_t i = first; i < end; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
                watches[i - first].see(a.column_indices[k] == i, a.values[k]);
    });
}

template <class T>
RowFacts row_facts_of(const DenseView<T>& a, const Device& device) {
    return facts_of_rows<T>(a.rows, a.rows * a.columns, device,
                            [&](RowWatch<T>* watches, std::int64_t first, std::int64_t end) {
                                for (std::int64_t j = 0; j < a.columns; ++j)
                                    for (std::int64_t i = first; i < end; ++i)
                                        watches[i - first].see(i == j, a.data[i * a.row_stride + j * a.column_stride]);
                            });
}

template <class T>
void look_for_symmetry(MatrixFacts& facts, const DenseView<T>& a, const Device& device) {
    facts.is_symmetric = has_symmetry(a, OwnTranspose::of_reals, device);
    facts.is_nearly_symmetric = facts.is_symmetric || has_symmetry(a, OwnTranspose::of_rounded_reals, device);
    facts.is_complex_symmetric = has_symmetry(a, OwnTranspose::of_complex_numbers, device);
}

/// Of a matrix that lies on a device, which gathers them.
template <class T>
void look_for_symmetry_on_device(MatrixFacts& facts, const SpmvPlan<T>& a) {
    const cuda::FactsOnDevice& found = a.on_device()->facts();
    if (!found.is_sorted) return look_for_symmetry(facts, a.matrix(), Device::cpu(a.device().threads()));
    facts.is_symmetric = found.is_symmetric;
    facts.is_nearly_symmetric = found.is_nearly_symmetric;
    facts.is_complex_symmetric = found.is_complex_symmetric;
}

}  // namespace

template <class T>
RowFacts row_facts_of(const SpmvPlan<T>& a) {
    if (a.dense() != nullptr) return row_facts_of(*a.dense(), a.device());
    return a.on_device() != nullptr ? a.on_device()->facts().rows : row_facts_of(a.matrix(), a.device());
}

template <class T>
MatrixFacts facts_of(const SpmvPlan<T>& a) {
    MatrixFacts facts{row_facts_of(a), a.rows()};
    if (a.dense() == nullptr)
        facts.nonzeros = a.on_device() != nullptr ? a.on_device()->stored_entries() : a.matrix().nonzeros();
    if (facts.is_finite && a.rows() == a.columns()) {
        if (a.dense() != nullptr)
            look_for_symmetry(facts, *a.dense(), a.device());
        else if (a.on_device() != nullptr)
            look_for_symmetry_on_device(facts, a);
        else
            look_for_symmetry(facts, a.matrix(), a.device());
    }
    const bool may_stand_aside = facts.is_symmetric || facts.is_complex_symmetric;
    if (!may_stand_aside || facts.empty_rows == facts.rows) facts.count_empty_rows_as_zeros();
    return facts;
}

template RowFacts row_facts_of(const SpmvPlan<float>&);
template RowFacts row_facts_of(const SpmvPlan<double>&);
template MatrixFacts facts_of(const SpmvPlan<float>&);
template MatrixFacts facts_of(const SpmvPlan<double>&);

}  // namespace solver
