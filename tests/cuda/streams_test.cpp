/// What waits for the caller's stream and what does not, and that work goes there.

#include "matrices/stencils.hpp"
#include "solver/cuda.hpp"
#include "solver/solver.hpp"
#include "solver/solver_cuda.h"
#include "support/on_cuda.hpp"

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include <chrono>
#include <cmath>
#include <complex>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace solver {
namespace {

using cuda::DeviceArray;
using cuda::OwnedStream;
using cuda::Stream;
using Complex = std::complex<double>;

/// Holds back what is put on a stream from now on, until it is opened; for two seconds at most, so that who waits goes on.
class Gate {
public:
    Gate(int device, Stream stream) : device_(device), stream_(stream) {
        const auto keep = [](void* gate) { static_cast<Gate*>(gate)->wait(); };
        if (cudaLaunchHostFunc(stream, keep, this) != cudaSuccess) throw cuda::CudaError("the gate");
    }
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;
    ~Gate() {
        open();
        cuda::synchronize(device_, stream_);
    }

    void open() {
        const std::lock_guard lock(mutex_);
        is_open_ = true;
        opened_.notify_all();
    }
    /// Whether it holds anything back still.
    bool is_shut() {
        const std::lock_guard lock(mutex_);
        return !was_passed_;
    }

private:
    void wait() {
        std::unique_lock lock(mutex_);
        opened_.wait_for(lock, std::chrono::seconds(2), [&] { return is_open_; });
        was_passed_ = true;
    }

    int device_;
    Stream stream_;
    std::mutex mutex_;
    std::condition_variable opened_;
    bool is_open_ = false;
    bool was_passed_ = false;
};

/// Its lower triangle, with the diagonal.
CsrMatrix<double> lower_of(const CsrMatrix<double>& a) {
    std::vector<Entry<double>> entries;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] <= i) entries.push_back({static_cast<std::int32_t>(i), a.column_indices[k], a.values[k]});
    return csr_from_entries<double>(a.rows, a.columns, entries);
}

std::vector<Complex> complex_of(const std::vector<double>& x) { return {x.begin(), x.end()}; }

struct Destroy {
    void operator()(solver_cuda_matrix* matrix) const { solver_cuda_matrix_destroy(matrix); }
    void operator()(solver_cuda_workspace* workspace) const { solver_cuda_workspace_destroy(workspace); }
};

/// Data on a device, and what there is to call with them.
struct OnADevice {
    struct Call {
        std::string name;
        std::function<void(Stream)> run;
    };

    explicit OnADevice(int index) : device(index) {}

    solver_csr csr() const {
        const cuda::DeviceCsrView<double>& view = a.view();
        return {
            sizeof(solver_csr),          SOLVER_DOUBLE,       8,           4,       1, view.rows, view.columns, view.nonzeros,
            view.row_offsets.address(0), view.column_indices, view.values, nullptr, 0};
    }
    std::unique_ptr<solver_cuda_matrix, Destroy> new_matrix_of_c(Stream stream) const {
        solver_cuda_matrix* made = nullptr;
        const solver_csr described = csr();
        EXPECT_EQ(solver_cuda_matrix_create(&described, device, stream, &made), SOLVER_OK) << solver_last_error();
        return std::unique_ptr<solver_cuda_matrix, Destroy>(made);
    }
    std::unique_ptr<solver_cuda_workspace, Destroy> new_workspace_of_c() const {
        solver_cuda_workspace* made = nullptr;
        EXPECT_EQ(solver_cuda_workspace_create(device, &made), SOLVER_OK) << solver_last_error();
        return std::unique_ptr<solver_cuda_workspace, Destroy>(made);
    }

    /// What only puts work on the stream, which writes to `y`.
    std::vector<Call> that_do_not_wait();
    /// What returns when the work on the stream is done.
    std::vector<Call> that_wait();

    int device;
    CsrMatrix<double> matrix = matrices::poisson2d(20);
    CsrMatrix<double> lower = lower_of(matrix);
    CsrMatrix<Complex> complex{matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices,
                               complex_of(matrix.values)};
    std::vector<double> ones = std::vector<double>(static_cast<std::size_t>(matrix.rows), 1.0);
    std::vector<double> host = ones;

    cuda::DeviceCsrMatrix<double> a{device, matrix};
    DeviceArray<double> x{device, ones, "x"};
    DeviceArray<Complex> complex_x{device, complex_of(ones), "x"};
    DeviceArray<double> y{device, 4 * matrix.rows, "y"};  // room for any result
    cuda::SpmvPlan<double> products{a.view(), SpmvKernel::automatic};
    cuda::SpmvPlan<Complex> complex_products{cuda::DeviceCsrMatrix<Complex>(device, complex).view(), SpmvKernel::automatic};
    cuda::TriangularSolvePlan<double> triangle{device, lower, Triangle::lower, Diagonal::stored};
    cuda::Reducer reducer{device};
    cuda::PartialReducer partial_reducer{device};
    cuda::Multiplier multiplier{device};
    cuda::NonnegativeMultiplier nonnegative{device};
    std::unique_ptr<cuda::DevicePreconditioner<double>> jacobi = cuda::make_jacobi<double>(device, ones);
    std::unique_ptr<solver_cuda_matrix, Destroy> matrix_of_c = new_matrix_of_c(nullptr);
    std::unique_ptr<solver_cuda_workspace, Destroy> workspace_of_c = new_workspace_of_c();
    SpmvPlan<double> plan{matrix, Device::cuda(device)};
};

std::vector<OnADevice::Call> OnADevice::that_do_not_wait() {
    constexpr Accuracy exact = Accuracy::exact;
    const std::int64_t n = x.size();
    return {
        {"a product", [=, this](Stream stream) { products.multiply({.x = x.data(), .y = y.data()}, exact, stream); }},
        {"a complex product",
         [=, this](Stream stream) {
             complex_products.multiply({.alpha = {1, 2}, .x = complex_x.data(), .y = reinterpret_cast<Complex*>(y.data())},
                                       exact, stream);
         }},
        {"a triangular solve", [=, this](Stream stream) { triangle.solve(x.data(), y.data(), exact, stream); }},
        {"a dot product",
         [=, this](Stream stream) { reducer.reduce(cuda::Reduction::dot, n, x.data(), x.data(), exact, y.data(), stream); }},
        {"dot products",
         [=, this](Stream stream) {
             const cuda::Factors<double> of[] = {{x.data(), x.data()}, {x.data(), x.data()}};
             reducer.dots(n, of, exact, y.data(), stream);
         }},
        {"an expansion",
         [=, this](Stream stream) {
             reducer.expand(cuda::Reduction::sum, n, x.data(), nullptr, reinterpret_cast<Expansion<double>*>(y.data()), stream);
         }},
        {"shares of a dot product",
         [=, this](Stream stream) {
             const cuda::Factors<double> of[] = {{x.data(), x.data()}};
             partial_reducer.dots(n, of, reinterpret_cast<PartialSum<double>*>(y.data()), stream);
         }},
        {"a preconditioner", [=, this](Stream stream) { jacobi->apply(x.data(), y.data(), exact, stream); }},
        {"zeros", [=, this](Stream stream) { y.fill_with_zeros(stream); }},
        {"a product from C",
         [=, this](Stream stream) {
             EXPECT_EQ(solver_cuda_spmv(matrix_of_c.get(), 1, x.data(), 0, y.data(), SOLVER_EXACT, stream), SOLVER_OK);
         }},
        {"a residual from C",
         [=, this](Stream stream) {
             EXPECT_EQ(solver_cuda_residual(matrix_of_c.get(), x.data(), x.data(), nullptr, y.data(), SOLVER_EXACT, stream),
                       SOLVER_OK);
         }},
        {"a sum from C",
         [=, this](Stream stream) {
             EXPECT_EQ(solver_cuda_sum(workspace_of_c.get(), SOLVER_DOUBLE, n, x.data(), SOLVER_EXACT, y.data(), stream),
                       SOLVER_OK);
         }},
    };
}

std::vector<OnADevice::Call> OnADevice::that_wait() {
    const auto dense = [&] { return DenseView<double>{20, 20, 1, 20, x.data()}; };
    const auto result = [&] { return MutableDenseView<double>{20, 20, 1, 20, y.data()}; };
    return {
        {"synchronize", [=, this](Stream stream) { cuda::synchronize(device, stream); }},
        {"a copy to the device", [=, this](Stream stream) { x.copy_from(ones, stream); }},
        {"a copy to the host", [=, this](Stream stream) { x.copy_to(host, stream); }},
        {"a copy of a matrix", [=, this](Stream stream) { cuda::DeviceCsrMatrix<double>(device, matrix, stream); }},
        {"new values", [=, this](Stream stream) { a.update_values(matrix.values, stream); }},
        {"a check of a matrix", [=, this](Stream stream) { cuda::check(a.view(), stream); }},
        {"a plan of products", [=, this](Stream stream) { cuda::SpmvPlan<double>(a.view(), SpmvKernel::adaptive, stream); }},
        {"rows not certified", [=, this](Stream stream) { products.rows_not_certified(stream); }},
        {"a report on a dense product", [=, this](Stream stream) { multiplier.report(stream); }},
        {"a product of nonnegative matrices",
         [=, this](Stream stream) {
             nonnegative.gemm(GemmTask<double>{1, dense(), dense(), 0, result()}, {}, stream);
         }},
        {"a solve",
         [=, this](Stream stream) {
             cuda::solve<double>(plan, {x.data(), y.data()}, {}, stream);
         }},
        {"a matrix from C", [=, this](Stream stream) { new_matrix_of_c(stream); }},
        {"a matrix for solves from C",
         [=, this](Stream stream) {
             solver_matrix* made = nullptr;
             const solver_csr described = csr();
             EXPECT_EQ(solver_cuda_csr_create(&described, device, stream, &made), SOLVER_OK);
             solver_matrix_destroy(made);
         }},
    };
}

class CudaStreams : public testing::OnCuda {};

// Promise: cuda/runtime.hpp, "Work is put on the caller's stream and is not waited for, unless"
// Promise: cuda/runtime.hpp, "A stream that no other waits for."
// Promise: cuda/partial.hpp, "Work is put on the caller's stream and is not waited for."
// Promise: solver_cuda.h, "`stream` is a cudaStream_t of the device, NULL the default stream;"
TEST_F(CudaStreams, AreGivenWorkThatNobodyWaitsFor) {
    OnADevice data(0);
    const OwnedStream stream(0), other(0);
    const std::vector<double> unset(static_cast<std::size_t>(data.y.size()), std::numeric_limits<double>::quiet_NaN());
    std::vector<double> found(unset.size());
    for (const auto& [name, run] : data.that_do_not_wait()) {
        SCOPED_TRACE(name);
        run(stream.get());  // loads what it needs
        data.y.copy_from(unset, stream.get());
        Gate gate(0, stream.get());
        run(stream.get());
        EXPECT_TRUE(gate.is_shut());
        data.y.copy_to(found, other.get());
        EXPECT_TRUE(gate.is_shut());
        EXPECT_TRUE(std::isnan(found[0])) << "it was made elsewhere";
        gate.open();
        data.y.copy_to(found, stream.get());
        EXPECT_FALSE(std::isnan(found[0]));
    }
}

// Promise: cuda/runtime.hpp, "Waits until all work on the stream is done."
// Promise: cuda/memory.hpp, "Both wait for the stream, so that"
// Promise: cuda/csr.hpp, "Waits for the stream."
// Promise: cuda/spmv.hpp, "Waits for the stream."
// Promise: cuda/gemm.hpp, "Waits for the stream."
// Promise: cuda/nonnegative_gemm.hpp, "Waits until the inputs have been looked at"
// Promise: solver_cuda.h, "Waits for the stream."
TEST_F(CudaStreams, AreWaitedForWhereThatIsSaid) {
    OnADevice data(0);
    const OwnedStream stream(0);
    for (const auto& [name, run] : data.that_wait()) {
        SCOPED_TRACE(name);
        run(stream.get());
        Gate gate(0, stream.get());
        std::thread opener([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            gate.open();
        });
        run(stream.get());
        EXPECT_FALSE(gate.is_shut());
        opener.join();
    }
}

// Promise: cuda/runtime.hpp, "Whatever device is current when these functions are called"
TEST_F(CudaStreams, OfAnotherDeviceLeaveTheCurrentOneAsItIs) {
    if (cuda::device_count() < 2) GTEST_SKIP() << "one CUDA device";
    const int last = cuda::device_count() - 1;
    for (const int current : {0, last}) {
        ASSERT_EQ(cudaSetDevice(current), cudaSuccess);
        OnADevice data(last - current);
        const OwnedStream stream(last - current);
        for (auto calls : {data.that_do_not_wait(), data.that_wait()})
            for (const auto& [name, run] : calls) {
                run(stream.get());
                int found = -1;
                EXPECT_EQ(cudaGetDevice(&found), cudaSuccess);
                EXPECT_EQ(found, current) << name;
            }
    }
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

}  // namespace
}  // namespace solver
