#pragma once

/// M = diag(A).

#include "core/exact_sum.hpp"
#include "core/huge_pages.hpp"
#include "cpu/elementwise.hpp"
#include "preconditioner/check.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preconditioner.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// a_ii, repeated entries summed with one rounding; 0 where none is stored. `entries` is working memory.
template <class T>
T diagonal_entry(const CsrView<T>& a, std::int64_t i, std::vector<T>& entries) {
    entries.clear();
    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
        if (a.column_indices[k] == i) entries.push_back(a.values[k]);
    return entries.size() == 1 ? entries[0] : exact_sum<T>(entries);
}

/// The diagonal, repeated entries summed with one rounding. Throws InvalidArgument where an element is missing or zero.
template <class T>
std::vector<T> nonzero_diagonal(const CsrView<T>& a, const Device& device) {
    auto diagonal = zeros<T>(a.rows, device.threads());
    std::atomic<bool> has_zeros{false};
    cpu::for_each_range(a.rows, device, [&](std::int64_t begin, std::int64_t end) {
        std::vector<T> entries;
        for (std::int64_t i = begin; i < end; ++i) {
            diagonal[i] = diagonal_entry(a, i, entries);
            if (diagonal[i] == T(0)) has_zeros = true;
        }
    });
    if (!has_zeros) return diagonal;
    const std::int64_t row = std::ranges::find(diagonal, T(0)) - diagonal.begin();
    std::vector<T> entries;
    diagonal_entry(a, row, entries);
    throw InvalidArgument(fmt::format(
        "preconditioner jacobi: the diagonal entry of row {} (counted from 1) is {}, and Jacobi divides by it; reorder the "
        "rows so that no diagonal entry is zero, or use none",
        row + 1, entries.empty() ? "missing" : "zero"));
}

template <class T>
class Jacobi final : public Preconditioner<T> {
public:
    Jacobi(const CsrView<T>& a, const Device& device)
        : device_(device), rows_(static_cast<std::size_t>(a.rows)), on_host_(nonzero_diagonal(a, device)) {}

    /// Of a diagonal without zeros.
    Jacobi(cuda::DeviceArray<T> diagonal, const Device& device)
        : device_(device), rows_(static_cast<std::size_t>(diagonal.size())), on_device_(std::move(diagonal)) {}

    void apply(std::span<const T> r, std::span<T> z, Accuracy) const override {
        check_lengths("jacobi", rows_, r.size(), z.size());
        const T* rs = r.data();
        const T* diagonal = on_host().data();
        cpu::update(z, device_, [=](T, std::int64_t i) { return div_rn(rs[i], diagonal[i]); });
    }

    bool is_symmetric() const override { return true; }

    std::unique_ptr<cuda::DevicePreconditioner<T>> on_device(int device) const override {
        if (on_device_.size() > 0 && on_device_.device() == device)
            return cuda::make_jacobi<T>(device, std::span<const T>(on_device_.data(), rows_));
        return cuda::make_jacobi<T>(device, on_host());
    }

private:
    /// The diagonal of a device's matrix comes here when first asked for.
    const std::vector<T>& on_host() const {
        std::call_once(fetched_, [&] {
            if (on_device_.size() == 0) return;
            on_host_ = zeros<T>(on_device_.size(), device_.threads());
            on_device_.copy_to(on_host_);
        });
        return on_host_;
    }

    Device device_;
    std::size_t rows_;
    cuda::DeviceArray<T> on_device_;
    mutable std::once_flag fetched_;
    mutable std::vector<T> on_host_;
};

}  // namespace solver
