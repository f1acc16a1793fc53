#pragma once

/// Where vectors lie and work on them runs: this rank's processor, or its CUDA device on PETSc's stream.

#include "solver/cuda.hpp"
#include "solver/device.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace petscsolver {

/// Whether both PETSc and the library were built with CUDA.
#if defined(PETSCSOLVER_CUDA)
inline constexpr bool has_device_types = true;
#else
inline constexpr bool has_device_types = false;
#endif

/// One rank beside others on a machine: its work is its own thread's.
inline solver::Device one_thread() { return solver::Device::cpu(1); }

struct Place {
    int device = -1;  ///< none for the processor
    solver::cuda::Stream stream = nullptr;

    bool on_device() const { return device >= 0; }
    bool operator==(const Place& other) const { return device == other.device; }  ///< streams may be changed
};

/// From a place to the host, for which it waits.
template <class T>
void copy_to_host(const Place& place, const T* from, std::span<T> to) {
    if (place.on_device())
        solver::cuda::detail::copy_to_host(place.device, to.data(), from, static_cast<std::int64_t>(to.size_bytes()),
                                           place.stream);
    else
        std::copy(from, from + to.size(), to.begin());
}

/// An array at a place.
template <class T>
class PlacedArray {
public:
    PlacedArray() = default;
    PlacedArray(const Place& place, std::span<const T> from, const char* purpose) {
        if (place.on_device())
            there_ = solver::cuda::DeviceArray<T>(place.device, from, purpose, place.stream);
        else
            here_.assign(from.begin(), from.end());
    }

    /// Zeros on the processor, anything on a device.
    PlacedArray(const Place& place, std::size_t size, const char* purpose) {
        if (place.on_device())
            there_ = solver::cuda::DeviceArray<T>(place.device, static_cast<std::int64_t>(size), purpose);
        else
            here_.resize(size);
    }

    /// As many elements as there are, from the host.
    void copy_from(const Place& place, std::span<const T> from) {
        if (place.on_device())
            there_.copy_from(from, place.stream);
        else
            std::ranges::copy(from, here_.begin());
    }

    std::size_t size() const { return here_.size() + static_cast<std::size_t>(there_.size()); }
    T* data() { return there_.data() != nullptr ? there_.data() : here_.data(); }
    const T* data() const { return there_.data() != nullptr ? there_.data() : here_.data(); }

private:
    std::vector<T> here_;
    solver::cuda::DeviceArray<T> there_;
};

/// Memory of a device that other processes may map, as an MPI that knows of devices does; pieces of the library's pool they
/// cannot. Throws ResourceLimit where there is too little. Only where has_device_types.
std::shared_ptr<void> shared_device_memory(int device, std::size_t bytes, const char* purpose);

/// An array at a place that MPI may send from and receive into.
template <class T>
class HaloArray {
public:
    HaloArray() = default;
    /// Zeros on the processor, anything on a device.
    HaloArray(const Place& place, std::int64_t size, const char* purpose) : size_(size) {
        if constexpr (has_device_types)
            if (place.on_device()) there_ = shared_device_memory(place.device, bytes(), purpose);
        if (!place.on_device()) here_.resize(static_cast<std::size_t>(size));
    }

    std::int64_t size() const { return size_; }
    T* data() { return there_ ? static_cast<T*>(there_.get()) : here_.data(); }

private:
    std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }

    std::int64_t size_ = 0;
    std::vector<T> here_;
    std::shared_ptr<void> there_;
};

}  // namespace petscsolver
