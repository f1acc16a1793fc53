#pragma once

/// Matrices whose rows are sorted and free of repeated columns.

#include "core/row_ranges.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"

#include <atomic>
#include <cstdint>
#include <vector>

namespace solver {

template <class T>
bool has_sorted_rows(const CsrView<T>& a, const Device& device = Device::cpu(1)) {
    std::atomic<bool> sorted{true};
    for_each_row_range(a, device.threads(), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end && sorted.load(std::memory_order_relaxed); ++i)
            for (std::int64_t k = a.row_offsets[i] + 1; k < a.row_offsets[i + 1]; ++k)
                if (a.column_indices[k - 1] >= a.column_indices[k]) sorted = false;
    });
    return sorted;
}

/// A copy of the matrix with the columns of every row sorted, repeated entries summed with one rounding.
template <class T>
CsrMatrix<T> with_sorted_rows(const CsrView<T>& a) {
    std::vector<Entry<T>> entries;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            entries.push_back({static_cast<std::int32_t>(i), a.column_indices[k], a.values[k]});
    return csr_from_entries<T>(a.rows, a.columns, entries);
}

}  // namespace solver
