#pragma once

/// Triangular factors, and the preconditioner that solves with them.

#include "preconditioner/check.hpp"
#include "preconditioner/factor_hash.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/preconditioner.hpp"
#include "solver/triangular_solve.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace solver {

template <class T>
struct IluFactors {
    CsrMatrix<T> lower;  ///< strictly lower; its diagonal of ones is not stored
    CsrMatrix<T> upper;  ///< with the diagonal; columns are sorted in both
};

/// z = U^-1 (L^-1 r)
template <class T>
class LuPreconditioner final : public Preconditioner<T> {
public:
    /// `name` is for messages and stays the caller's.
    LuPreconditioner(const char* name, IluFactors<T> factors, const Device& device)
        : name_(name),
          factors_(std::move(factors)),
          lower_(factors_.lower, Triangle::lower, Diagonal::unit, host_of(device)),
          upper_(factors_.upper, Triangle::upper, Diagonal::stored, host_of(device)) {}

    LuPreconditioner(const LuPreconditioner&) = delete;  // the plans look at the factors
    LuPreconditioner& operator=(const LuPreconditioner&) = delete;

    void apply(std::span<const T> r, std::span<T> z, Accuracy accuracy) const override {
        check_vectors<T>(name_, static_cast<std::size_t>(factors_.upper.rows), r, z);
        lower_.solve(r, z, accuracy);
        upper_.solve(z, z, accuracy);
    }

    const IluFactors<T>& factors() const { return factors_; }

    std::int64_t factor_entries() const override { return factors_.lower.nonzeros() + factors_.upper.nonzeros(); }
    std::uint64_t factor_hash() const override { return hash_of(factors_.lower.view(), factors_.upper.view()); }

    double pivot_ratio() const override {
        double smallest = std::numeric_limits<double>::infinity(), largest = 0;
        for (std::int64_t i = 0; i < factors_.upper.rows; ++i) {
            const double pivot = static_cast<double>(magnitude(factors_.upper.values[factors_.upper.row_offsets[i]]));
            smallest = std::min(smallest, pivot);
            largest = std::max(largest, pivot);
        }
        return largest > 0 ? smallest / largest : 1;
    }

    std::unique_ptr<cuda::DevicePreconditioner<T>> on_device(int device) const override {
        return cuda::make_lu<T>(device, factors_.lower, factors_.upper);
    }

private:
    const char* name_;
    IluFactors<T> factors_;
    TriangularSolvePlan<T> lower_;
    TriangularSolvePlan<T> upper_;
};

}  // namespace solver
