#pragma once

/// A preconditioner of the prepared matrix as one of the matrix itself.

#include "cpu/elementwise.hpp"
#include "preconditioner/check.hpp"
#include "preconditioner/factor_hash.hpp"
#include "preconditioner/scratch_pool.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// z = D_c P_c M^-1 P_r D_r r, where M ~ P_r D_r A D_c P_c. Scaling is exact: powers of two.
template <class T>
class Prepared final : public Preconditioner<T> {
public:
    /// `inner` is M, made for prepared_matrix(A, preparation). `name` is for messages and stays the caller's.
    Prepared(const char* name, const Preparation& preparation, std::unique_ptr<Preconditioner<T>> inner, const Device& device)
        : name_(name),
          device_(device),
          inner_(std::move(inner)),
          row_order_(preparation.row_order),
          column_order_(preparation.column_order),
          row_scales_(powers_of_two(preparation.row_exponents, row_order_)),
          column_scales_(powers_of_two(preparation.column_exponents, column_order_)),
          scratch_(static_cast<std::int64_t>(row_order_.size())) {}

    void apply(std::span<const T> r, std::span<T> z, Accuracy accuracy) const override {
        check_lengths(name_, row_order_.size(), r.size(), z.size());
        typename ScratchPool<T>::Loan prepared_r(scratch_), prepared_z(scratch_);
        cpu::update(std::span<T>(*prepared_r), device_, [&](T, std::int64_t k) { return r[row_order_[k]] * row_scales_[k]; });
        inner_->apply(*prepared_r, *prepared_z, accuracy);
        const T* from = (*prepared_z).data();
        cpu::for_each_range(static_cast<std::int64_t>(z.size()), device_, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t l = begin; l < end; ++l) z[column_order_[l]] = from[l] * column_scales_[l];
        });
    }

    std::int64_t factor_entries() const override { return inner_->factor_entries(); }

    /// Of what stands around the factors, too.
    std::uint64_t factor_hash() const override {
        Hash hash;
        hash.add(inner_->factor_hash());
        for (std::size_t k = 0; k < row_order_.size(); ++k) {
            hash.add(static_cast<std::uint64_t>(row_order_[k]));
            hash.add(static_cast<std::uint64_t>(column_order_[k]));
            hash.add(static_cast<std::uint64_t>(std::ilogb(row_scales_[k])));
            hash.add(static_cast<std::uint64_t>(std::ilogb(column_scales_[k])));
        }
        return hash.value();
    }

private:
    static std::vector<T> powers_of_two(const std::vector<std::int32_t>& exponents, const std::vector<std::int32_t>& order) {
        std::vector<T> powers;
        powers.reserve(order.size());
        for (const std::int32_t index : order) powers.push_back(std::ldexp(T(1), exponents[index]));
        return powers;
    }

    const char* name_;
    Device device_;
    std::unique_ptr<Preconditioner<T>> inner_;
    std::vector<std::int32_t> row_order_;
    std::vector<std::int32_t> column_order_;
    std::vector<T> row_scales_;  // in the order of the prepared matrix, as are the columns'
    std::vector<T> column_scales_;
    mutable ScratchPool<T> scratch_;
};

}  // namespace solver
