#pragma once

/// Where work runs.

#include <cstdint>
#include <string>

namespace solver {

/// A CPU with a number of threads, or a CUDA device. A value: copy it freely.
class Device {
public:
    enum class Kind { cpu, cuda };

    /// This machine's processor. 0 threads means one for each processor the process may use, by its affinity
    /// and by the quota of its control group (cgroup).
    /// Throws InvalidArgument if threads is negative or above 4096.
    static Device cpu(int threads = 0);

    /// CUDA device `index`, counted from 0. Throws NotSupported that says why there is none: a library built without CUDA, no
    /// driver or one that is too old, no such device, a device that the library has no code for.
    static Device cuda(int index = 0);

    /// CUDA device 0 where there is one that can be used, else the processor with all its threads.
    static Device best();

    Kind kind() const { return kind_; }
    int threads() const { return threads_; }  ///< 1 or more; beside a CUDA device, for what is left to the processor
    int index() const { return index_; }      ///< the CUDA device; 0 on a CPU

private:
    Device(Kind kind, int threads, int index) : kind_(kind), threads_(threads), index_(index) {}

    Kind kind_;
    int threads_;
    int index_;
};

/// "cpu" or "cuda:0".
std::string to_string(const Device& device);

/// What a report says of a device.
struct DeviceDescription {
    std::string name;  ///< as its maker calls it: "NVIDIA H200", or the processor
    std::int64_t memory_bytes = 0;
};
DeviceDescription describe(const Device& device);

/// What there is of CUDA in this library and on this machine, in one line: "built with 13.0; the driver knows 13.0; cuda:0
/// NVIDIA H200", or why there is none. Says where a device adds up floats in floats, its doubles being slow.
std::string describe_cuda();

}  // namespace solver
