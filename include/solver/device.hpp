#pragma once

/// Where work runs.

#include <string>

namespace solver {

/// A CPU with a number of threads, or a CUDA device. A value: copy it freely.
class Device {
public:
    enum class Kind { cpu, cuda };

    /// This machine's processor. 0 threads means one for each processor the process may use.
    /// Throws InvalidArgument if threads is negative or above 4096.
    static Device cpu(int threads = 0);

    /// CUDA device `index`. Throws NotSupported where the library was built without CUDA or finds no such device.
    static Device cuda(int index = 0);

    /// CUDA device 0 if there is one, else the processor with all its threads.
    static Device best();

    Kind kind() const { return kind_; }
    int threads() const { return threads_; }  ///< 1 or more on a CPU
    int index() const { return index_; }      ///< the CUDA device; 0 on a CPU

private:
    Device(Kind kind, int threads, int index) : kind_(kind), threads_(threads), index_(index) {}

    Kind kind_;
    int threads_;
    int index_;
};

/// "cpu" or "cuda:0".
std::string to_string(const Device& device);

}  // namespace solver
