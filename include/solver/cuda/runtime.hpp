#pragma once

/// What there is of CUDA on this machine, streams, and what goes wrong.
///
/// Work is put on the caller's stream and is not waited for, unless a function says so; results stay on the device. Plans and
/// reducers allocate nothing after their construction, so that their calls can be captured into a CUDA graph. Whatever device
/// is current when these functions are called is so afterwards.
///
/// Errors: NotSupported in a library built without CUDA, ResourceLimit where the device's memory does not suffice, with what
/// was needed and free, InvalidArgument for what a function refuses, CudaError for the rest, with the call and what it was for.
/// What goes wrong in a kernel is reported, as always in CUDA, by a later call that waits.

#include "solver/error.hpp"

#include <cstdint>
#include <string>

struct CUstream_st;

namespace solver::cuda {

/// cudaStream_t; nullptr is the default stream.
using Stream = CUstream_st*;

/// A call of the CUDA runtime failed.
class CudaError : public Error {
public:
    using Error::Error;
};

/// What there is of CUDA in this library and on this machine. Versions are 13000 for 13.0.
struct Platform {
    bool built_in = false;
    int runtime_version = 0;  ///< which the library was built with; 0 without CUDA
    int driver_version = 0;   ///< the newest CUDA that the driver knows; 0 where there is no driver
    int devices = 0;
    std::string problem;  ///< the driver's words for why there are no devices
};
Platform platform();

/// 0 where there is no device, no driver, or this is a build without CUDA.
int device_count() noexcept;

/// What sums, dot products, norms and sparse products of floats add up in, in compensated and exact: doubles, or expansions of
/// floats where doubles are much slower than floats. Cannot be seen in a bit of exact.
enum class FloatSums { in_double, in_float };

struct DeviceDescription {
    std::string name;
    int multiprocessors = 0;
    int compute_capability = 0;  ///< 90 for 9.0
    std::int64_t level2_bytes = 0;
    std::int64_t memory_bytes = 0;
    int floats_per_double = 0;  ///< operations on floats in the time of one on doubles; 2 where doubles are fast
    FloatSums float_sums = FloatSums::in_double;  ///< by that number, or by SOLVER_FLOAT_SUMS=double|float in the environment
};
DeviceDescription describe(int device);

/// Whether the library holds code that this device can run. Begins to use the device.
bool has_code_for(int device);

/// Waits until all work on the stream is done.
void synchronize(int device, Stream stream);

namespace detail {
Stream create_stream(int device);
void destroy_stream(int device, Stream stream) noexcept;
}  // namespace detail

/// A stream that no other waits for.
class OwnedStream {
public:
    explicit OwnedStream(int device) : device_(device), stream_(detail::create_stream(device)) {}
    OwnedStream(const OwnedStream&) = delete;
    OwnedStream& operator=(const OwnedStream&) = delete;
    ~OwnedStream() { detail::destroy_stream(device_, stream_); }

    Stream get() const { return stream_; }

private:
    int device_;
    Stream stream_;
};

}  // namespace solver::cuda
