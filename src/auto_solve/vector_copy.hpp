#pragma once

/// Copies of the caller's vectors.

#include "core/huge_pages.hpp"
#include "cpu/elementwise.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/device.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace solver {

/// By the threads of a device.
template <class T>
std::vector<T> copied(std::span<const T> x, const Device& device) {
    std::vector<T> copy = zeros<T>(std::ssize(x), device.threads());
    cpu::update(std::span(copy), device, [=](T, std::int64_t i) { return x[i]; });
    return copy;
}

/// Whether x, in the host's memory, is +0 throughout.
template <class T>
bool is_all_zero(std::span<const T> x, const Device& device) {
    std::atomic<bool> all{true};
    cpu::for_each_range(std::ssize(x), device, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end && all.load(std::memory_order_relaxed); ++i)
            if (x[i] != T(0) || std::signbit(x[i])) all = false;
    });
    return all;
}

/// In the memory in which the vector lies: the host's, or that of the device where it is `on_device`. Zeros in the host's
/// memory, which most solves begin with, take none.
template <class T>
class VectorCopy {
public:
    VectorCopy() = default;
    VectorCopy(std::span<const T> x, const Device& device, bool on_device) {
        if (on_device)
            on_device_ = cuda::DeviceArray<T>(device.index(), x, "a copy of x");
        else if (is_all_zero(x, device))
            is_zero_ = true;
        else
            on_host_ = copied(x, device);
    }

    bool empty() const { return !is_zero_ && on_host_.empty() && on_device_.size() == 0; }

    void restore(std::span<T> x) const {
        if (is_zero_)
            std::fill(x.begin(), x.end(), T(0));
        else if (on_device_.size() > 0)
            on_device_.copy_to(x);
        else
            std::copy(on_host_.begin(), on_host_.end(), x.begin());
    }

private:
    bool is_zero_ = false;
    std::vector<T> on_host_;
    cuda::DeviceArray<T> on_device_;
};

/// A copy in the host's memory, of a vector there or in that of the device where it is `on_device`.
template <class T>
std::vector<T> fetched(std::span<const T> x, const Device& device, bool on_device) {
    if (!on_device) return copied(x, device);
    auto here = zeros<T>(std::ssize(x), device.threads());
    cuda::detail::copy_to_host(device.index(), here.data(), x.data(), static_cast<std::int64_t>(x.size_bytes()), nullptr);
    return here;
}

}  // namespace solver
