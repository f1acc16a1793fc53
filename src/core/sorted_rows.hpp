#pragma once

/// Matrices whose rows are sorted and free of repeated columns.

#include "core/thread_pool.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace solver {

template <class T>
bool has_sorted_rows(const CsrView<T>& a, const Device& device = Device::cpu(1)) {
    constexpr std::int64_t worth_a_thread = 32768;
    const int parts = static_cast<int>(std::clamp<std::int64_t>(a.nonzeros() / worth_a_thread, 1, device.threads()));
    std::atomic<bool> sorted{true};
    cpu::parallel_for(parts, [&](int part) {
        const std::int64_t end = cpu::share_begin(a.rows, part + 1, parts);
        for (std::int64_t i = cpu::share_begin(a.rows, part, parts); i < end && sorted.load(std::memory_order_relaxed); ++i)
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
