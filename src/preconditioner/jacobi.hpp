#pragma once

/// M = diag(A).

#include "core/exact_sum.hpp"
#include "cpu/elementwise.hpp"
#include "preconditioner/check.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preconditioner.hpp"

#include <cstdint>
#include <vector>

namespace solver {

/// The diagonal, repeated entries summed with one rounding. Throws InvalidArgument where an element is missing or zero.
template <class T>
std::vector<T> nonzero_diagonal(const CsrView<T>& a) {
    std::vector<T> diagonal(static_cast<std::size_t>(a.rows));
    std::vector<T> entries;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        entries.clear();
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] == i) entries.push_back(a.values[k]);
        diagonal[i] = entries.size() == 1 ? entries[0] : exact_sum<T>(entries);
        if (diagonal[i] == 0)
            throw InvalidArgument(fmt::format(
                "preconditioner jacobi: the diagonal entry of row {} (counted from 1) is {}, and Jacobi divides by it; "
                "reorder the rows so that no diagonal entry is zero, or use none",
                i + 1, entries.empty() ? "missing" : "zero"));
    }
    return diagonal;
}

template <class T>
class Jacobi final : public Preconditioner<T> {
public:
    Jacobi(const CsrView<T>& a, const Device& device) : device_(device), diagonal_(nonzero_diagonal(a)) {}

    void apply(std::span<const T> r, std::span<T> z, Accuracy) const override {
        check_lengths("jacobi", diagonal_.size(), r.size(), z.size());
        const T* rs = r.data();
        const T* diagonal = diagonal_.data();
        cpu::update(z, device_, [=](T, std::int64_t i) { return div_rn(rs[i], diagonal[i]); });
    }

    bool is_symmetric() const override { return true; }

    std::unique_ptr<cuda::DevicePreconditioner<T>> on_device(int device) const override {
        return cuda::make_jacobi<T>(device, diagonal_);
    }

private:
    Device device_;
    std::vector<T> diagonal_;
};

}  // namespace solver
