#pragma once

/// No preconditioner: M = I.

#include "preconditioner/check.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/preconditioner.hpp"

#include <algorithm>
#include <cstdint>

namespace solver {

template <class T>
class Identity final : public Preconditioner<T> {
public:
    explicit Identity(std::int64_t rows) : rows_(static_cast<std::size_t>(rows)) {}

    void apply(std::span<const T> r, std::span<T> z, Accuracy) const override {
        check_vectors<T>("none", rows_, r, z);
        std::copy(r.begin(), r.end(), z.begin());
    }

    bool is_identity() const override { return true; }
    bool is_symmetric() const override { return true; }
    bool is_complex_symmetric() const override { return true; }

    std::unique_ptr<cuda::DevicePreconditioner<T>> on_device(int device) const override {
        return cuda::make_identity<T>(device, static_cast<std::int64_t>(rows_));
    }

private:
    std::size_t rows_;
};

}  // namespace solver
