#pragma once

/// M = diag(A).

#include "preconditioner/check.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preconditioner.hpp"

#include <cstdint>
#include <vector>

namespace solver {

template <class T>
class Jacobi final : public Preconditioner<T> {
public:
    Jacobi(const CsrView<T>& a, Accuracy, const Device&) : diagonal_(static_cast<std::size_t>(a.rows)) {
        for (std::int64_t i = 0; i < a.rows; ++i) {
            bool stored = false;
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
                if (a.column_indices[k] == i) {
                    diagonal_[i] += a.values[k];
                    stored = true;
                }
            if (!(diagonal_[i] != 0))
                throw InvalidArgument(
                    fmt::format("preconditioner jacobi: the diagonal entry of row {} (counted from 1) is {}; Jacobi divides "
                                "by it; use the preconditioner none",
                                i + 1, stored ? "zero" : "missing"));
        }
    }

    void apply(std::span<const T> r, std::span<T> z, Accuracy) const override {
        check_lengths("jacobi", diagonal_.size(), r.size(), z.size());
        for (std::size_t i = 0; i < z.size(); ++i) z[i] = div_rn(r[i], diagonal_[i]);
    }

private:
    std::vector<T> diagonal_;
};

}  // namespace solver
