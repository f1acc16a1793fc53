#pragma once

/// M = diag(A).

#include "core/exact_sum.hpp"
#include "core/huge_pages.hpp"
#include "cpu/complex_quotient.hpp"
#include "cpu/elementwise.hpp"
#include "preconditioner/check.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preconditioner.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// a_ij, repeated entries summed with one rounding; 0 where none is stored. `entries` is working memory.
template <class T>
T entry_at(const CsrView<T>& a, std::int64_t i, std::int64_t j, std::vector<T>& entries) {
    entries.clear();
    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
        if (a.column_indices[k] == j) entries.push_back(a.values[k]);
    return entries.size() == 1 ? entries[0] : exact_sum<T>(entries);
}

/// For a diagonal entry that is zero.
[[noreturn]] inline void throw_zero_diagonal(std::int64_t row, bool is_missing, const char* of_matrix = "") {
    throw InvalidArgument(fmt::format(
        "preconditioner jacobi: the diagonal entry of row {}{} (counted from 1) is {}, and Jacobi divides by it; reorder the "
        "rows so that no diagonal entry is zero, or use none",
        row + 1, of_matrix, is_missing ? "missing" : "zero"));
}

/// The diagonal, repeated entries summed with one rounding. Throws InvalidArgument where an element is missing or zero.
template <class T>
std::vector<T> nonzero_diagonal(const CsrView<T>& a, const Device& device) {
    auto diagonal = zeros<T>(a.rows, device.threads());
    std::atomic<bool> has_zeros{false};
    cpu::for_each_range(a.rows, device, [&](std::int64_t begin, std::int64_t end) {
        std::vector<T> entries;
        for (std::int64_t i = begin; i < end; ++i) {
            diagonal[i] = entry_at(a, i, i, entries);
            if (diagonal[i] == T(0)) has_zeros = true;
        }
    });
    if (!has_zeros) return diagonal;
    const std::int64_t row = std::ranges::find(diagonal, T(0)) - diagonal.begin();
    std::vector<T> entries;
    entry_at(a, row, row, entries);
    throw_zero_diagonal(row, entries.empty());
}

/// The diagonal of a complex matrix whose real form is `a`: real and imaginary parts in turn, repeated ones summed with one
/// rounding. Throws InvalidArgument where both parts of an element are missing or zero; rows count as the complex matrix's.
template <class T>
std::vector<T> nonzero_complex_diagonal(const CsrView<T>& a, const Device& device) {
    auto diagonal = zeros<T>(a.rows, device.threads());
    cpu::for_each_range(a.rows, device, [&](std::int64_t begin, std::int64_t end) {
        std::vector<T> entries;
        for (std::int64_t i = begin; i < end; ++i) diagonal[i] = entry_at(a, i, i - i % 2, entries);
    });
    for (std::int64_t i = 0; i < a.rows; i += 2)
        if (diagonal[i] == T(0) && diagonal[i + 1] == T(0)) throw_zero_diagonal(i / 2, false, " of the complex matrix");
    return diagonal;
}

/// M = diag(A), real.
template <class T>
class Jacobi final : public Preconditioner<T> {
public:
    Jacobi(const CsrView<T>& a, const Device& device) : Jacobi(nonzero_diagonal(a, device), device) {}

    /// Of diagonals without zeros.
    Jacobi(std::vector<T> diagonal, const Device& device)
        : device_(device), rows_(diagonal.size()), on_host_(std::move(diagonal)) {}
    Jacobi(cuda::DeviceArray<T> diagonal, const Device& device)
        : device_(device), rows_(static_cast<std::size_t>(diagonal.size())), on_device_(std::move(diagonal)) {}

    void apply(std::span<const T> r, std::span<T> z, Accuracy) const override {
        check_vectors<T>("jacobi", rows_, r, z);
        const T* rs = r.data();
        const T* diagonal = on_host().data();
        cpu::update(z, device_, [=](T, std::int64_t i) { return div_rn(rs[i], diagonal[i]); });
    }

    bool is_symmetric() const override { return true; }
    bool is_complex_symmetric() const override { return true; }

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

/// M = diag(A) of complex numbers whose parts take turns.
template <class T>
class ComplexJacobi final : public Preconditioner<T> {
public:
    /// Of a diagonal without zeros.
    ComplexJacobi(std::vector<T> diagonal, const Device& device) : device_(device), diagonal_(std::move(diagonal)) {}

    void apply(std::span<const T> r, std::span<T> z, Accuracy) const override {
        check_vectors<T>("jacobi", diagonal_.size(), r, z);
        const std::int64_t numbers = std::ssize(diagonal_) / 2;
        cpu::for_each_range(numbers, device_, [&](std::int64_t begin, std::int64_t end) {
            const std::int64_t first = 2 * begin;
            cpu::divide_complex(2 * (end - begin), r.data() + first, diagonal_.data() + first, z.data() + first);
        });
    }

    /// Only without imaginary parts, and those are a Jacobi's.
    bool is_symmetric() const override { return false; }
    bool is_complex_symmetric() const override { return true; }

    std::unique_ptr<cuda::DevicePreconditioner<T>> on_device(int device) const override {
        return cuda::make_complex_jacobi<T>(device, diagonal_);
    }

private:
    Device device_;
    std::vector<T> diagonal_;
};

/// Of a matrix in the host's memory; of complex numbers if it is their real form. Without imaginary parts on the diagonal the
/// quotients are real ones.
template <class T>
std::unique_ptr<Preconditioner<T>> make_jacobi(const CsrView<T>& a, const Device& device, bool of_complex_numbers) {
    if (of_complex_numbers) {
        std::vector<T> diagonal = nonzero_complex_diagonal(a, device);
        for (std::size_t i = 1; i < diagonal.size(); i += 2)
            if (diagonal[i] != T(0)) return std::make_unique<ComplexJacobi<T>>(std::move(diagonal), device);
    }
    return std::make_unique<Jacobi<T>>(a, device);
}

}  // namespace solver
