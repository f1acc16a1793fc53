#pragma once

/// Memory on a CUDA device.

#include "solver/cuda/runtime.hpp"
#include "solver/error.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

namespace solver::cuda {

namespace detail {
void* allocate(int device, std::int64_t bytes, const char* purpose);
void release(int device, void* memory) noexcept;
void copy_to_device(int device, void* to, const void* from, std::int64_t bytes, Stream stream);
void copy_to_host(int device, void* to, const void* from, std::int64_t bytes, Stream stream);
void fill_with_zeros(int device, void* memory, std::int64_t bytes, Stream stream);
}  // namespace detail

/// Memory that this library may still have on a device, in bytes: what is nobody's, and what was freed and is kept for the next
/// piece, up to a sixteenth of the device's memory. Throws CudaError.
std::int64_t free_bytes(int device);

/// Memory on a device, for anything that can be copied byte by byte. Freeing it waits for the device, as cudaFree
/// does.
template <class T>
class DeviceArray {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    DeviceArray() = default;
    /// What is there is not defined. `purpose` is for the message where there is too little memory: "the values of a matrix".
    DeviceArray(int device, std::int64_t size, const char* purpose)
        : device_(device),
          size_(size),
          data_(static_cast<T*>(detail::allocate(device, size * static_cast<std::int64_t>(sizeof(T)), purpose))) {}
    DeviceArray(int device, std::span<const T> host, const char* purpose, Stream stream = nullptr)
        : DeviceArray(device, static_cast<std::int64_t>(host.size()), purpose) {
        copy_from(host, stream);
    }
    DeviceArray(DeviceArray&& other) noexcept { swap(other); }
    DeviceArray& operator=(DeviceArray&& other) noexcept {
        DeviceArray(std::move(other)).swap(*this);
        return *this;
    }
    ~DeviceArray() {
        if (owns_) detail::release(device_, data_);
    }

    /// `size` elements from `begin` on, which stay this array's: it must outlive the part.
    DeviceArray part(std::int64_t begin, std::int64_t size) const {
        DeviceArray some;
        some.device_ = device_;
        some.size_ = size;
        some.data_ = data_ + begin;
        some.owns_ = false;
        return some;
    }

    int device() const { return device_; }
    T* data() const { return data_; }
    std::int64_t size() const { return size_; }
    std::int64_t bytes() const { return size_ * static_cast<std::int64_t>(sizeof(T)); }

    /// The first host.size() elements, from and to the host. Both wait for the stream, so that the host's memory may be used as
    /// soon as they return. Throw DimensionMismatch where there are not as many.
    void copy_from(std::span<const T> host, Stream stream = nullptr) {
        require_room(host.size());
        detail::copy_to_device(device_, data_, host.data(), static_cast<std::int64_t>(host.size_bytes()), stream);
    }
    void copy_to(std::span<T> host, Stream stream = nullptr) const {
        require_room(host.size());
        detail::copy_to_host(device_, host.data(), data_, static_cast<std::int64_t>(host.size_bytes()), stream);
    }
    void fill_with_zeros(Stream stream = nullptr) const { detail::fill_with_zeros(device_, data_, bytes(), stream); }

private:
    void require_room(std::size_t host_size) const {
        if (host_size > static_cast<std::size_t>(size_))
            throw DimensionMismatch("copy between host and cuda:" + std::to_string(device_) + ": the host has " +
                                    std::to_string(host_size) + " elements, the device " + std::to_string(size_));
    }
    void swap(DeviceArray& other) noexcept {
        std::swap(device_, other.device_);
        std::swap(size_, other.size_);
        std::swap(data_, other.data_);
        std::swap(owns_, other.owns_);
    }

    int device_ = 0;
    std::int64_t size_ = 0;
    T* data_ = nullptr;
    bool owns_ = true;
};

}  // namespace solver::cuda
