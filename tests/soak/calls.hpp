#pragma once

#include "solver/device.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <utility>

namespace solver::soak {

/// Makes one call of the library after another, each chosen at random: what, on which matrix, of which size, in which mode,
/// with how many threads, and whether it is to fail.
class Calls {
public:
    /// Files go to `folder`. With a CUDA device most calls that can use it do, else all use the processor.
    Calls(std::uint64_t seed, std::filesystem::path folder, std::optional<Device> cuda)
        : random_(seed), folder_(std::move(folder)), cuda_(cuda) {}

    /// All that it made is gone when it returns.
    void make_one();

    std::int64_t made() const { return made_; }
    std::int64_t refused() const { return refused_; }  ///< by an exception that the caller must expect

private:
    template <class T>
    void make();
    Device some_device();

    std::mt19937_64 random_;
    std::filesystem::path folder_;
    std::optional<Device> cuda_;
    std::int64_t made_ = 0;
    std::int64_t refused_ = 0;
};

}  // namespace solver::soak
