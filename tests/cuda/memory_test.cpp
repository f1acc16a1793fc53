#include "solver/cuda/memory.hpp"

#include "matrices/stencils.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/cuda.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace solver {
namespace {

class CudaMemory : public ::testing::Test {
protected:
    void SetUp() override {
        if (cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
    }
};

// Promise: cuda/memory.hpp, "Memory that this library may still have on a device"
TEST_F(CudaMemory, CountsWhatWasFreedAsFree) {
    constexpr std::int64_t bytes = std::int64_t{1} << 28;
    const auto piece = [] { return cuda::DeviceArray<char>(0, bytes, "a piece"); };
    piece();
    const std::int64_t before = cuda::free_bytes(0);
    {
        const auto held = piece();
        EXPECT_LE(cuda::free_bytes(0), before - bytes);
    }
    EXPECT_EQ(cuda::free_bytes(0), before);
}

std::vector<double> solution(const SpmvPlan<double>& a) {
    const std::vector<double> b(static_cast<std::size_t>(a.rows()), 1.0);
    std::vector<double> x(b.size());
    SolveOptions options{.preconditioner = PreconditionerKind::amg};
    options.iteration.accuracy = Accuracy::exact;
    EXPECT_EQ(solve<double>(a, b, x, {}, options).result().status, SolveStatus::converged);
    return x;
}

/// A solve captures a graph. Memory that another thread frees at that time must not break it, as a wait for the device by
/// cudaDeviceSynchronize does.
// Promise: cuda/memory.hpp, "Freeing it waits for the device, as cudaFree does"
TEST_F(CudaMemory, IsFreedWhileAnotherThreadCapturesAGraph) {
    const CsrMatrix<double> matrix = matrices::poisson2d(40);
    const SpmvPlan<double> a(matrix, Device::cuda());
    const std::vector<double> expected = solution(a);
    std::atomic<bool> done{false};
    std::thread other([&] {
        while (!done) cuda::DeviceArray<char>(0, 1000, "a piece");
    });
    for (int i = 0; i < 30; ++i) EXPECT_EQ(solution(a), expected);
    done = true;
    other.join();
}

}  // namespace
}  // namespace solver
