#pragma once

/// A preconditioner of the prepared matrix as one of the matrix itself.

#include "cpu/elementwise.hpp"
#include "preconditioner/check.hpp"
#include "preconditioner/factor_hash.hpp"
#include "preconditioner/scratch_pool.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// z = D_c P_c M^-1 P_r D_r r, where M ~ P_r D_r A D_c P_c. Scaling is exact: powers of two.
template <class T>
class Prepared : public Preconditioner<T> {
public:
    /// `inner` is M, made for prepared_matrix(A, preparation), where A may be of higher precision than T. `name` is for
    /// messages and stays the caller's.
    Prepared(const char* name, const Preparation& preparation, std::unique_ptr<Preconditioner<T>> inner, const Device& device)
        : name_(name),
          device_(device),
          inner_(std::move(inner)),
          row_order_(preparation.row_order),
          column_order_(preparation.column_order),
          row_exponents_(in_order(preparation.row_exponents, row_order_)),
          column_exponents_(in_order(preparation.column_exponents, column_order_)),
          scratch_(static_cast<std::int64_t>(row_order_.size())) {}

    void apply(std::span<const T> r, std::span<T> z, Accuracy accuracy) const override {
        check_vectors<T>(name_, row_order_.size(), r, z);
        typename ScratchPool<T>::Loan prepared_r(scratch_), prepared_z(scratch_);
        cpu::update(std::span<T>(*prepared_r), device_,
                    [&](T, std::int64_t k) { return scaled(r[row_order_[k]], row_exponents_[k]); });
        inner_->apply(*prepared_r, *prepared_z, accuracy);
        const T* from = (*prepared_z).data();
        cpu::for_each_range(static_cast<std::int64_t>(z.size()), device_, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t l = begin; l < end; ++l) z[column_order_[l]] = scaled(from[l], column_exponents_[l]);
        });
    }

    std::int64_t factor_entries() const override { return inner_->factor_entries(); }

    double pivot_ratio() const override { return inner_->pivot_ratio(); }

    /// Of what stands around the factors, too.
    std::uint64_t factor_hash() const override {
        Hash hash;
        hash.add(inner_->factor_hash());
        for (std::size_t k = 0; k < row_order_.size(); ++k) {
            hash.add(static_cast<std::uint64_t>(row_order_[k]));
            hash.add(static_cast<std::uint64_t>(column_order_[k]));
            hash.add(static_cast<std::uint64_t>(row_exponents_[k]));
            hash.add(static_cast<std::uint64_t>(column_exponents_[k]));
        }
        return hash.value();
    }

    std::unique_ptr<cuda::DevicePreconditioner<T>> on_device(int device) const override {
        auto inner = inner_->on_device(device);
        if (inner == nullptr) return nullptr;
        return cuda::make_prepared<T>(device, std::move(inner), row_order_, row_exponents_, column_order_, column_exponents_);
    }

protected:
    const Preconditioner<T>& inner() const { return *inner_; }

private:
    /// In double, which holds every exponent of a preparation.
    static T scaled(T x, std::int16_t exponent) {
        constexpr int bias = 1023, mantissa_bits = 52;
        const auto power = std::bit_cast<double>(static_cast<std::uint64_t>(bias + exponent) << mantissa_bits);
        return static_cast<T>(static_cast<double>(x) * power);
    }

    static std::vector<std::int16_t> in_order(const std::vector<std::int32_t>& exponents,
                                              const std::vector<std::int32_t>& order) {
        std::vector<std::int16_t> result;
        result.reserve(order.size());
        for (const std::int32_t index : order) result.push_back(static_cast<std::int16_t>(exponents[index]));
        return result;
    }

    const char* name_;
    Device device_;
    std::unique_ptr<Preconditioner<T>> inner_;
    std::vector<std::int32_t> row_order_;
    std::vector<std::int32_t> column_order_;
    std::vector<std::int16_t> row_exponents_;  // in the order of the prepared matrix, as are the columns'
    std::vector<std::int16_t> column_exponents_;
    mutable ScratchPool<T> scratch_;
};

}  // namespace solver
