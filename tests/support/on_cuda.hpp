#pragma once

#include "solver/cuda/runtime.hpp"

#include <gtest/gtest.h>

namespace solver::testing {

/// Of tests that need a CUDA device, which are skipped where there is none.
class OnCuda : public ::testing::Test {
protected:
    void SetUp() override {
        if (cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
    }
};

}  // namespace solver::testing
