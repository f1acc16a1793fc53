#pragma once

/// Whether a matrix is its own transpose, or the real form of a complex one that is.

#include "core/row_facts.hpp"
#include "cpu/elementwise.hpp"
#include "solver/device.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace solver::cpu {

/// The place of entry (j, i), or -1. Looked for first as far from the end of its row as (i, j) is from the beginning of its
/// own, which is where regular grids have it.
template <class T>
std::int64_t place_in_row(const CsrView<T>& a, std::int64_t j, std::int64_t i, std::int64_t from_the_end) {
    const std::int64_t begin = a.row_offsets[j], end = a.row_offsets[j + 1], guess = end - 1 - from_the_end;
    const std::int32_t* const columns = a.column_indices.data();
    if (guess >= begin && columns[guess] == i) return guess;
    const std::int32_t* const found = std::lower_bound(columns + begin, columns + end, i);
    return found < columns + end && *found == i ? found - columns : -1;
}

/// diagonal_size, entries that are not stored being 0.
template <class T>
T diagonal_size(const CsrView<T>& a, std::int64_t i, std::int64_t j) {
    const auto entry = [&](std::int64_t row) {
        const std::int64_t place = place_in_row(a, row, row, 0);
        return place < 0 ? T(0) : a.values[place];
    };
    return solver::diagonal_size(entry(i), entry(j));
}

/// Whether every a_ij is stored as a_ji too, with a value that the kind of symmetry asks for. Rows are sorted.
template <class T>
bool has_symmetry(const CsrView<T>& a, OwnTranspose kind, const Device& device) {
    std::atomic<bool> symmetric{true};
    std::atomic<std::int64_t> lower_less_upper{0};
    cpu::for_each_range(a.rows, device, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t difference = 0;
        for (std::int64_t i = begin; i < end && symmetric.load(std::memory_order_relaxed); ++i)
            for (std::int64_t first = a.row_offsets[i], k = first; k < a.row_offsets[i + 1]; ++k) {
                const std::int32_t j = a.column_indices[k];
                difference += j < i ? 1 : j > i ? -1 : 0;
                if (j >= i) continue;
                const auto size = [&] { return diagonal_size(a, i, j); };
                const std::int64_t mirrored = place_in_row(a, j, i, k - first);
                if (mirrored < 0 || !is_mirrored(kind, i, j, a.values[k], a.values[mirrored], size)) symmetric = false;
            }
        lower_less_upper += difference;
    });
    return symmetric && lower_less_upper == 0;
}

template <class T>
bool is_symmetric(const CsrView<T>& a, const Device& device) {
    return has_symmetry(a, OwnTranspose::of_reals, device);
}

}  // namespace solver::cpu
