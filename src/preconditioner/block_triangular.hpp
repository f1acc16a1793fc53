#pragma once

/// Two preconditioners, each of its own rows, and the coupling of the first rows to the second.

#include "core/hash.hpp"
#include "preconditioner/check.hpp"
#include "preconditioner/scratch_pool.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// M = [M_1 U; 0 M_2]: z_2 = M_2^-1 r_2, then z_1 = M_1^-1 (r_1 - U z_2), where U has the rows of M_1 and the columns of M_2.
template <class T>
class BlockTriangular final : public Preconditioner<T> {
public:
    /// `name` is for messages and stays the caller's.
    BlockTriangular(const char* name, std::unique_ptr<Preconditioner<T>> first, CsrMatrix<T> coupling,
                    std::unique_ptr<Preconditioner<T>> second, const Device& device)
        : name_(name),
          first_(std::move(first)),
          coupling_(std::move(coupling)),
          second_(std::move(second)),
          plan_(coupling_, host_of(device)),
          first_rows_(static_cast<std::size_t>(coupling_.rows)),
          between_(coupling_.rows) {}

    BlockTriangular(const BlockTriangular&) = delete;  // the plan looks at the matrix
    BlockTriangular& operator=(const BlockTriangular&) = delete;

    void apply(std::span<const T> r, std::span<T> z, Accuracy accuracy) const override {
        check_vectors<T>(name_, first_rows_ + static_cast<std::size_t>(coupling_.columns), r, z);
        typename ScratchPool<T>::Loan between(between_);
        const std::span<T> second = z.subspan(first_rows_);
        second_->apply(r.subspan(first_rows_), second, accuracy);
        plan_.residual(r.first(first_rows_), second, {}, *between, accuracy);
        first_->apply(*between, z.first(first_rows_), accuracy);
    }

    std::int64_t factor_entries() const override { return first_->factor_entries() + second_->factor_entries(); }

    std::uint64_t factor_hash() const override {
        Hash hash;
        hash.add(first_->factor_hash());
        hash.add(coupling_.view());
        hash.add(second_->factor_hash());
        return hash.value();
    }

    /// Of the first that has any.
    std::vector<LevelSummary> levels() const override {
        std::vector<LevelSummary> levels = first_->levels();
        return levels.empty() ? second_->levels() : levels;
    }

    std::unique_ptr<cuda::DevicePreconditioner<T>> on_device(int device) const override {
        auto first = first_->on_device(device), second = second_->on_device(device);
        if (first == nullptr || second == nullptr) return nullptr;
        return cuda::make_block_triangular<T>(device, std::move(first), coupling_, std::move(second));
    }

private:
    const char* name_;
    std::unique_ptr<Preconditioner<T>> first_;
    CsrMatrix<T> coupling_;
    std::unique_ptr<Preconditioner<T>> second_;
    SpmvPlan<T> plan_;
    std::size_t first_rows_;
    mutable ScratchPool<T> between_;
};

}  // namespace solver
