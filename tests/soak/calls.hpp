#pragma once

#include <cstdint>
#include <filesystem>
#include <random>

namespace solver::soak {

/// Makes one call of the library after another, each chosen at random: what, on which matrix, of which size, in which mode,
/// with how many threads, and whether it is to fail.
class Calls {
public:
    /// Files go to `folder`.
    Calls(std::uint64_t seed, std::filesystem::path folder) : random_(seed), folder_(std::move(folder)) {}

    /// All that it made is gone when it returns.
    void make_one();

    std::int64_t made() const { return made_; }
    std::int64_t refused() const { return refused_; }  ///< by an exception that the caller must expect

private:
    template <class T>
    void make();

    std::mt19937_64 random_;
    std::filesystem::path folder_;
    std::int64_t made_ = 0;
    std::int64_t refused_ = 0;
};

}  // namespace solver::soak
