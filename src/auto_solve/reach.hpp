#pragma once

/// How far the unknowns of a system lie apart.

#include "core/huge_pages.hpp"
#include "core/thread_pool.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace solver {
namespace detail {

/// A search by rings around row 0, in the graph of A from each row to the columns of its entries.
template <class T>
class Rings {
public:
    Rings(const CsrView<T>& a, const Device& device)
        : a_(a), marks_(zeros<std::uint8_t>(a.rows, device.threads())), next_(static_cast<std::size_t>(device.threads())) {
        if (a.rows > 0) ring_.push_back(0), marks_[0] = 1;
    }

    bool is_empty() const { return ring_.empty(); }

    /// To the next ring.
    void advance() {
        constexpr std::int64_t worth_a_thread = 4096;
        const std::int64_t size = std::ssize(ring_);
        const int parts = static_cast<int>(std::clamp<std::int64_t>(size / worth_a_thread, 1, std::ssize(next_)));
        cpu::parallel_for(parts, [&](int part) {
            visit(cpu::share_begin(size, part, parts), cpu::share_begin(size, part + 1, parts), next_[part]);
        });
        ring_.clear();
        for (int part = 0; part < parts; ++part) ring_.insert(ring_.end(), next_[part].begin(), next_[part].end());
    }

private:
    /// A row that two threads meet at once may stand in the next ring twice, which does no harm.
    void visit(std::int64_t begin, std::int64_t end, std::vector<std::int32_t>& next) {
        std::uint8_t* const marks = marks_.data();
        next.clear();
        for (std::int64_t r = begin; r < end; ++r) {
            const std::int32_t row = ring_[r];
            for (std::int64_t k = a_.row_offsets[row]; k < a_.row_offsets[row + 1]; ++k) {
                const std::int32_t j = a_.column_indices[k];
                std::atomic_ref<std::uint8_t> mark(marks[j]);
                if (mark.load(std::memory_order_relaxed) != 0) continue;
                mark.store(1, std::memory_order_relaxed);
                next.push_back(j);
            }
        }
    }

    CsrView<T> a_;
    std::vector<std::uint8_t> marks_;  ///< of rows that have been met
    std::vector<std::int32_t> ring_;
    std::vector<std::vector<std::int32_t>> next_;  ///< of each thread
};

}  // namespace detail

/// Whether some row lies farther than so many steps from row 0 in the graph of A, from each row to the columns of its entries.
/// In a Krylov method from x = 0 without preconditioner, or with Jacobi's, x is p(A) b after `steps` products, p a polynomial
/// of lower degree: that row's b then enters x_0 through the coefficients of p alone, which all rows share. By rings around row
/// 0; ends with the first that is too far. cuda::has_rows_beyond is the same on a CUDA device.
template <class T>
bool has_rows_beyond(const CsrView<T>& a, std::int64_t steps, const Device& device = Device::cpu(1)) {
    detail::Rings<T> rings(a, device);
    for (std::int64_t distance = 0; !rings.is_empty(); ++distance) {
        if (distance > steps) return true;
        rings.advance();
    }
    return false;
}

}  // namespace solver
