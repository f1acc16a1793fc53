#pragma once

/// Sums and dots on every device, and what they should be.

#include "solver/reduce.hpp"
#include "support/devices.hpp"
#include "support/expected.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace solver::testing {

/// The suite of all of tests/operations/reduce/: one class, since gpu_tests links those programs into one.
template <class T>
class Reduce : public ::testing::Test {};

/// Numbers of threads among which none may change a bit.
inline const std::vector<Device>& processors() {
    static const std::vector<Device> all = {Device::cpu(1), Device::cpu(2), Device::cpu(7)};
    return all;
}

template <class T>
ExpectedSum<T> expected_dot(Span<T> x, Span<T> y) {
    ExpectedSum<T> expected;
    for (std::size_t i = 0; i < x.size(); ++i) expected.add_product(x[i], y[i]);
    return expected;
}

template <class T>
ExpectedSum<T> expected_sum(Span<T> x) {
    const std::vector<T> ones(x.size(), T(1));
    return expected_dot<T>(x, ones);
}

/// reduction(accuracy, device) on every target, with every number of threads, and on every CUDA device: exact gives the
/// expected bits, the others keep their bounds and give the same bits again and with any number of threads.
template <class T, class Reduction>
void expect_kept(const ExpectedSum<T>& expected, const Reduction& reduction) {
    const auto expect_on = [&](const std::vector<Device>& devices) {
        for (const Accuracy accuracy : all_accuracies) {
            const T found = reduction(accuracy, devices.front());
            EXPECT_TRUE(expected.allows(found, accuracy))
                << to_string(devices.front()) << ", " << to_string(accuracy) << ": " << ::testing::PrintToString(found)
                << " instead of " << expected.rounded();
            for (const Device& device : devices)
                EXPECT_TRUE(same_bits(found, reduction(accuracy, device)))
                    << to_string(device) << ", " << to_string(accuracy) << ", " << device.threads();
        }
    };
    for_each_target([&] { expect_on(processors()); });
    for (const Device& device : cuda_devices()) expect_on({device});
}

template <class T>
void expect_dot_kept(Span<T> x, Span<T> y) {
    expect_kept(expected_dot<T>(x, y), [&](Accuracy accuracy, const Device& device) { return dot(x, y, accuracy, device); });
}

template <class T>
void expect_sum_kept(Span<T> x) {
    expect_kept(expected_sum<T>(x), [&](Accuracy accuracy, const Device& device) { return sum(x, accuracy, device); });
}

/// Lengths around multiples of any vector length, of four vectors, of the block of 4096, and where threads are worth their
/// while.
inline std::vector<std::size_t> edge_lengths() {
    std::vector<std::size_t> lengths(140);
    std::iota(lengths.begin(), lengths.end(), 0U);
    for (const std::size_t n : {255, 256, 257, 4095, 4096, 4097, 8191, 8193, 12287, 12288, 12289, 32768, 120001})
        lengths.push_back(n);
    return lengths;
}

}  // namespace solver::testing
