#pragma once

/// Whether a matrix is its own transpose.

#include "cpu/elementwise.hpp"
#include "solver/device.hpp"
#include "solver/views.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace solver::cpu {

/// Whether every a_ij is stored as a_ji too, with the same bits. Rows are sorted.
template <class T>
bool is_symmetric(const CsrView<T>& a, const Device& device) {
    std::atomic<bool> symmetric{true};
    std::atomic<std::int64_t> lower_less_upper{0};
    cpu::for_each_range(a.rows, device, [&](std::int64_t begin, std::int64_t end) {
        std::int64_t difference = 0;
        const auto columns = a.column_indices.begin();
        for (std::int64_t i = begin; i < end && symmetric.load(std::memory_order_relaxed); ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                const std::int32_t j = a.column_indices[k];
                difference += j < i ? 1 : j > i ? -1 : 0;
                if (j >= i) continue;
                const auto last = columns + a.row_offsets[j + 1];
                const auto found = std::lower_bound(columns + a.row_offsets[j], last, i);
                if (found == last || *found != i || a.values[found - columns] != a.values[k]) symmetric = false;
            }
        lower_less_upper += difference;
    });
    return symmetric && lower_less_upper == 0;
}

}  // namespace solver::cpu
