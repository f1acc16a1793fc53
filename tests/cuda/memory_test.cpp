#include "solver/cuda/memory.hpp"

#include "matrices/stencils.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/cuda.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"
#include "support/on_cuda.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace solver {
namespace {

class CudaMemory : public testing::OnCuda {};

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

// Promise: cuda/memory.hpp, "`size` elements from `begin` on"
TEST_F(CudaMemory, IsLentInParts) {
    const std::vector<double> values{1, 2, 3, 4, 5};
    const cuda::DeviceArray<double> whole(0, values, "a test");
    for (int again = 0; again < 2; ++again) {
        const auto part = whole.part(1, 3);
        EXPECT_EQ(part.data(), whole.data() + 1);
        std::vector<double> found(3);
        part.copy_to(found);
        EXPECT_EQ(found, (std::vector<double>{2, 3, 4}));
    }
    std::vector<double> found(5);
    whole.copy_to(found);
    EXPECT_EQ(found, values);
}

// Promise: cuda/csr.hpp, "A copy of a matrix in the memory of a device."
// Promise: cuda/csr.hpp, "Other values in the same pattern; views stay valid."
TEST_F(CudaMemory, HoldsACopyOfAMatrixThatTakesOtherValues) {
    CsrMatrix<double> a{2, 2, {0, 1, 3}, {1, 0, 1}, {1, 2, 3}};
    cuda::DeviceCsrMatrix<double> copy(0, a);
    const cuda::DeviceCsrView<double> view = copy.view();
    const std::vector<double> ones{1, 1}, others{5, 6, 7};
    const cuda::DeviceArray<double> x(0, ones, "x"), y(0, 2, "y");
    const cuda::SpmvPlan<double> plan(view, SpmvKernel::automatic);
    const auto product = [&] {
        std::vector<double> found(2);
        plan.multiply({.x = x.data(), .y = y.data()}, Accuracy::exact);
        y.copy_to(found);
        return found;
    };
    a.values = {9, 9, 9};
    EXPECT_EQ(product(), (std::vector<double>{1, 5}));
    copy.update_values(others);
    EXPECT_EQ(product(), (std::vector<double>{5, 13}));
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
