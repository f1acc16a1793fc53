#pragma once

/// The vectors of a solve where its attempts run.

#include "auto_solve/vector_copy.hpp"
#include "krylov/run.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/device.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// Whether vectors of the host are better on the device of A while its attempts run: they are few, by the memory that is free.
template <class T>
bool suit_device(const SpmvPlan<T>& a, std::span<const Unknown<T>> unknowns) {
    if (a.on_device() == nullptr || a.dense() != nullptr || unknowns.empty() || unknowns.front().on_device) return false;
    constexpr std::int64_t most_part = 16;    // of what is free: attempts keep other vectors and copies of these
    constexpr std::int64_t vectors_each = 3;  // b, x and x_low
    const std::int64_t bytes = vectors_each * std::ssize(unknowns) * a.rows() * static_cast<std::int64_t>(sizeof(T));
    return bytes <= cuda::free_bytes(a.device().index()) / most_part;
}

/// Copies of the caller's vectors in the memory of a device.
template <class T>
class VectorsOnDevice {
public:
    VectorsOnDevice(const Device& device, std::vector<Unknown<T>> of_host) : of_host_(std::move(of_host)) {
        for (const Unknown<T>& unknown : of_host_) copies_.emplace_back(device, unknown);
    }

    std::vector<Unknown<T>> unknowns() const {
        std::vector<Unknown<T>> result;
        for (const Copy& copy : copies_)
            result.push_back({{copy.b.data(), size(copy.b)}, part(copy.x), part(copy.x_low), true});
        return result;
    }

    /// Writes x and x_low to the caller's.
    void bring_back() const {
        for (std::size_t j = 0; j < copies_.size(); ++j) {
            copies_[j].x.copy_to(of_host_[j].x);
            if (!of_host_[j].x_low.empty()) copies_[j].x_low.copy_to(of_host_[j].x_low);
        }
    }

private:
    struct Copy {
        Copy(const Device& device, const Unknown<T>& of_host)
            : b(device.index(), of_host.b, "b"), x(guess(device, of_host.x)), x_low(device.index(), of_host.x_low, "x_low") {}

        /// Zeros, which most solves begin with, need not cross the bus.
        static cuda::DeviceArray<T> guess(const Device& device, std::span<const T> x) {
            if (!is_all_zero(x, device)) return {device.index(), x, "x"};
            cuda::DeviceArray<T> zeros(device.index(), std::ssize(x), "x");
            zeros.fill_with_zeros();
            return zeros;
        }

        cuda::DeviceArray<T> b;
        cuda::DeviceArray<T> x;
        cuda::DeviceArray<T> x_low;
    };

    static std::size_t size(const cuda::DeviceArray<T>& x) { return static_cast<std::size_t>(x.size()); }
    static std::span<T> part(const cuda::DeviceArray<T>& x) { return {x.data(), size(x)}; }

    std::vector<Unknown<T>> of_host_;
    std::vector<Copy> copies_;
};

}  // namespace solver
