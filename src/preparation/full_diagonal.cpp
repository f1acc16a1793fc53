#include "preparation/full_diagonal.hpp"

#include "cpu/elementwise.hpp"
#include "cuda/spmv.hpp"
#include "solver/numeric/rounding.hpp"

#include <atomic>
#include <cstdint>

namespace solver::preparation {

template <class T>
bool has_full_diagonal(const CsrView<T>& a, const Device& device) {
    if (a.rows != a.columns) return false;
    std::atomic<bool> is_full{true};
    cpu::for_each_range(a.rows, device, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end && is_full.load(std::memory_order_relaxed); ++i) {
            bool sorted = true, finite = true, diagonal_seen = false;
            std::int32_t last = -1;
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                const std::int32_t j = a.column_indices[k];
                sorted = sorted && last < j;
                finite = finite && is_finite(a.values[k]);
                diagonal_seen = diagonal_seen || (j == i && a.values[k] != 0);
                last = j;
            }
            if (!sorted || !finite || !diagonal_seen) is_full = false;
        }
    });
    return is_full;
}

template <class T>
bool has_full_diagonal(const SpmvPlan<T>& a) {
    if (a.on_device() != nullptr && a.dense() == nullptr) {
        const cuda::FactsOnDevice& facts = a.on_device()->facts();  // symmetric ones are of sorted rows
        if (facts.is_symmetric) return facts.rows.is_finite && !facts.rows.zeros_on_diagonal && facts.rows.empty_rows == 0;
    }
    return has_full_diagonal(a.matrix(), Device::cpu(a.device().threads()));
}

template bool has_full_diagonal(const CsrView<float>&, const Device&);
template bool has_full_diagonal(const CsrView<double>&, const Device&);
template bool has_full_diagonal(const SpmvPlan<float>&);
template bool has_full_diagonal(const SpmvPlan<double>&);

}  // namespace solver::preparation
