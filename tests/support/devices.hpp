#pragma once

/// The devices that a test of a public function runs on, besides the processor.

#include "solver/cuda/runtime.hpp"
#include "solver/device.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace solver::testing {

/// The first and the last; none where there is none.
inline std::vector<Device> cuda_devices() {
    std::vector<Device> devices;
    const int count = cuda::device_count();
    if (count > 0) devices.push_back(Device::cuda(0));
    if (count > 1) devices.push_back(Device::cuda(count - 1));
    return devices;
}

namespace {

/// Once in every file of tests that go through cuda_devices().
TEST(CudaDevices, AreTestedToo) {
    if (cuda_devices().empty())
        GTEST_SKIP() << "no CUDA device: the " << ::testing::UnitTest::GetInstance()->total_test_count() - 1
                     << " other tests of this program run on the processor alone";
}

}  // namespace

}  // namespace solver::testing
