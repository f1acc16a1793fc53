#pragma once

/// Copies of the caller's vectors.

#include "solver/cuda/memory.hpp"
#include "solver/device.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace solver {

/// In the memory in which the vector lies: the host's, or that of the device where it is `on_device`.
template <class T>
class VectorCopy {
public:
    VectorCopy() = default;
    VectorCopy(std::span<const T> x, const Device& device, bool on_device) {
        if (on_device)
            on_device_ = cuda::DeviceArray<T>(device.index(), x, "a copy of x");
        else
            on_host_.assign(x.begin(), x.end());
    }

    bool empty() const { return on_host_.empty() && on_device_.size() == 0; }

    void restore(std::span<T> x) const {
        on_device_.copy_to(x.first(static_cast<std::size_t>(on_device_.size())));
        std::copy(on_host_.begin(), on_host_.end(), x.begin());
    }

private:
    std::vector<T> on_host_;
    cuda::DeviceArray<T> on_device_;
};

/// On the host.
template <class T>
std::vector<T> fetched(std::span<const T> x, const Device& device, bool on_device) {
    if (!on_device) return {x.begin(), x.end()};
    std::vector<T> here(x.size());
    cuda::detail::copy_to_host(device.index(), here.data(), x.data(), static_cast<std::int64_t>(x.size_bytes()), nullptr);
    return here;
}

}  // namespace solver
