#pragma once

/// A sparse matrix on a CUDA device: a copy of the host's, or the caller's where it lies.

#include "cuda/spmv.hpp"
#include "operations/csr_storage.hpp"
#include "solver/error.hpp"

#include <memory>
#include <utility>

namespace solver {

template <class T>
class DeviceStorage final : public MatrixStorage<T> {
public:
    /// `a`: of a matrix that was given on the device only the sizes.
    DeviceStorage(const CsrView<T>& a, std::shared_ptr<cuda::SpmvOnDevice<T>> on_device)
        : a_(a), on_device_(std::move(on_device)) {}

    void multiply(std::span<const SpmvTask<T>> tasks, Accuracy accuracy) const override {
        on_device_->multiply(tasks, accuracy);
    }

    std::shared_ptr<const MatrixStorage<T>> with_values(std::span<const T> values) const override {
        if (!on_device_->is_a_copy())
            throw InvalidArgument(
                "update_values: the matrix is read where it was given, on a CUDA device; change it there and make a new plan");
        on_device_->update_values(values);
        auto updated = std::make_shared<DeviceStorage>(*this);
        updated->a_.values = values;
        return updated;
    }

    SpmvDescription describe(const std::string& reason) const override {
        if (on_device_->packed() == nullptr) return describe_csr(a_, reason);
        const PackedDescription packed = on_device_->packed()->describe(nullptr);
        return {SpmvStorage::packed, packed.bytes_a_nonzero, "packed, " + reason + ": " + packed.text};
    }

    std::int64_t rows() const override { return a_.rows; }
    std::int64_t columns() const override { return a_.columns; }
    const CsrView<T>& matrix() const override { return on_device_->is_a_copy() ? a_ : on_device_->on_host(); }
    std::shared_ptr<cuda::SpmvOnDevice<T>> on_device() const override { return on_device_; }

private:
    CsrView<T> a_;
    std::shared_ptr<cuda::SpmvOnDevice<T>> on_device_;
};

}  // namespace solver
