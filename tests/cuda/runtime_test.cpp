/// What is told of the machine, of plans and of routes.

#include "solver/cuda/runtime.hpp"

#include "matrices/stencils.hpp"
#include "solver/cuda.hpp"
#include "solver/solver.hpp"
#include "support/on_cuda.hpp"

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <vector>

namespace solver {
namespace {

class CudaRuntime : public testing::OnCuda {};

int attribute(cudaDeviceAttr which) {
    int value = -1;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, which, 0), cudaSuccess);
    return value;
}

// Promise: cuda/runtime.hpp, "which the library was built with;"
// Promise: cuda/runtime.hpp, "the newest CUDA that the driver knows;"
// Promise: cuda/runtime.hpp, "90 for 9.0"
// Promise: cuda/runtime.hpp, "operations on floats in the time of one on doubles;"
// Promise: cuda/runtime.hpp, "2 where doubles are fast"
// Promise: cuda/runtime.hpp, "Whether the library holds code that this device can run."
TEST_F(CudaRuntime, TellsWhatTheMachineIs) {
    const cuda::Platform platform = cuda::platform();
    int driver = 0;
    EXPECT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
    EXPECT_EQ(platform.runtime_version, CUDART_VERSION) << "this test is built with the library";
    EXPECT_EQ(platform.driver_version, driver);
    const cuda::DeviceDescription device = cuda::describe(0);
    EXPECT_EQ(device.compute_capability,
              10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor));
    EXPECT_EQ(device.multiprocessors, attribute(cudaDevAttrMultiProcessorCount));
    EXPECT_EQ(device.floats_per_double, attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio));
    EXPECT_TRUE(cuda::has_code_for(0)) << "the other tests could not run";
}

// Promise: cuda/memory.hpp, "Throws CudaError."
// Promise: cuda/runtime.hpp, "A call of the CUDA runtime failed."
TEST_F(CudaRuntime, NamesTheCallThatFailed) {
    EXPECT_THROW(cuda::free_bytes(cuda::device_count()), cuda::CudaError);
    EXPECT_GT(cuda::free_bytes(0), 0) << "and goes on";
}

/// The first row has every entry.
CsrMatrix<double> with_a_long_row(std::int64_t n) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, 1});
        if (i > 0) entries.push_back({0, i, 1});
    }
    return csr_from_entries<double>(n, n, entries);
}

// Promise: cuda/spmv.hpp, "`automatic` chooses general where no row is much longer"
// Promise: cuda/spmv.hpp, "general or adaptive"
TEST_F(CudaRuntime, TellsWhichKernelWasChosen) {
    const cuda::DeviceCsrMatrix<double> grid(0, matrices::poisson2d(100)), star(0, with_a_long_row(10000));
    EXPECT_EQ(cuda::SpmvPlan<double>(grid.view(), SpmvKernel::automatic).kernel(), SpmvKernel::general);
    EXPECT_EQ(cuda::SpmvPlan<double>(star.view(), SpmvKernel::automatic).kernel(), SpmvKernel::adaptive);
    for (const SpmvKernel kernel : {SpmvKernel::general, SpmvKernel::adaptive})
        EXPECT_EQ(cuda::SpmvPlan<double>(grid.view(), kernel).kernel(), kernel);
}

// Promise: cuda/gemm.hpp, "no element, alpha == 0 or no products:"
// Promise: cuda/gemm.hpp, "C was scaled at most"
// Promise: cuda/gemm.hpp, "register-tiled kernels in the type itself, or of floats in double"
// Promise: cuda/gemm.hpp, "every element by itself, with filtered accumulators"
TEST_F(CudaRuntime, TellsWhichWayADenseProductWent) {
    constexpr std::int64_t n = 40;
    const std::vector<double> ones(n * n, 1.0);
    const cuda::DeviceArray<double> a(0, ones, "A"), c(0, ones, "C");
    cuda::Multiplier multiplier(0);
    const auto route = [&](double alpha, double beta, std::int64_t inner, Accuracy accuracy) {
        const DenseView<double> left{n, inner, 1, n, a.data()}, right{inner, n, 1, n, a.data()};
        multiplier.gemm(GemmTask<double>{alpha, left, right, beta, {n, n, 1, n, c.data()}}, accuracy);
        return multiplier.report().route;
    };
    const auto result = [&] {
        std::vector<double> values(ones.size());
        c.copy_to(values);
        return values;
    };
    EXPECT_EQ(route(0, 3, n, Accuracy::exact), cuda::GemmRoute::nothing);
    EXPECT_EQ(result(), std::vector<double>(n * n, 3.0));
    EXPECT_EQ(route(1, 2, 0, Accuracy::exact), cuda::GemmRoute::nothing) << "no products";
    EXPECT_EQ(result(), std::vector<double>(n * n, 6.0));
    EXPECT_EQ(route(1, 0, n, Accuracy::fast), cuda::GemmRoute::tiled);
    EXPECT_EQ(route(1, 0, 8, Accuracy::exact), cuda::GemmRoute::elements);
    EXPECT_EQ(result(), std::vector<double>(n * n, 8.0));
}

// Promise: cuda/preconditioner.hpp, "The diagonal may lie in the memory of the host or of the device."
TEST_F(CudaRuntime, TakesADiagonalFromTheHostOrTheDevice) {
    const std::vector<double> diagonal{2, 4, 8}, ones{1, 1, 1};
    const cuda::DeviceArray<double> there(0, diagonal, "a diagonal"), r(0, ones, "r"), z(0, 3, "z");
    for (const double* memory : {diagonal.data(), static_cast<const double*>(there.data())}) {
        z.fill_with_zeros();
        cuda::make_jacobi<double>(0, std::span(memory, 3))->apply(r.data(), z.data(), Accuracy::exact, nullptr);
        std::vector<double> found(3);
        z.copy_to(found);
        EXPECT_EQ(found, (std::vector<double>{0.5, 0.25, 0.125}));
    }
}

}  // namespace
}  // namespace solver
