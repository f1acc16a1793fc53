#pragma once

/// How far the unknowns of a system lie apart.

#include "core/huge_pages.hpp"
#include "cpu/elementwise.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace solver {

/// Whether some row lies farther than so many steps from row 0 in the graph of A, from each row to the columns of its entries.
/// In a Krylov method from x = 0 without preconditioner, or with Jacobi's, x is p(A) b after `steps` products, p a polynomial
/// of lower degree: that row's b then enters x_0 through the coefficients of p alone, which all rows share. By rings around row
/// 0; ends with the first that is too far. cuda::has_rows_beyond is the same on a CUDA device.
template <class T>
bool has_rows_beyond(const CsrView<T>& a, std::int64_t steps, const Device& device = Device::cpu(1)) {
    if (a.rows == 0) return false;
    std::vector<std::uint8_t> seen = zeros<std::uint8_t>(a.rows, device.threads());
    const auto is_new = [&](std::int32_t row) {
        std::atomic_ref<std::uint8_t> mark(seen[row]);
        return mark.load(std::memory_order_relaxed) == 0 && mark.exchange(1, std::memory_order_relaxed) == 0;
    };
    std::vector<std::int32_t> ring{0}, next;
    std::mutex mutex;
    seen[0] = 1;
    for (std::int64_t distance = 0; !ring.empty(); ++distance) {
        if (distance > steps) return true;
        next.clear();
        cpu::for_each_range(std::ssize(ring), device, [&](std::int64_t begin, std::int64_t end) {
            std::vector<std::int32_t> mine;
            for (std::int64_t r = begin; r < end; ++r)
                for (std::int64_t k = a.row_offsets[ring[r]]; k < a.row_offsets[ring[r] + 1]; ++k)
                    if (is_new(a.column_indices[k])) mine.push_back(a.column_indices[k]);
            const std::lock_guard lock(mutex);
            next.insert(next.end(), mine.begin(), mine.end());
        });
        ring.swap(next);
    }
    return false;
}

}  // namespace solver
