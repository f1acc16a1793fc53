#include "kernels/preconditioner.hpp"
#include "matrices/generators.hpp"
#include "solver/bicgstab.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/preconditioner.hpp"

#include <gtest/gtest.h>

#include "support/adversarial.hpp"
#include "support/expected.hpp"
#include "support/on_cuda.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace solver {
namespace {

using testing::Random;

template <class T>
class CudaAmg : public testing::OnCuda {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaAmg, ValueTypes);

template <class T>
CsrMatrix<T> generated(const std::string& name) {
    return convert<T, double>(matrices::find_generator(name).value().make());
}

template <class T>
std::unique_ptr<Preconditioner<T>> amg_of(const CsrMatrix<T>& a) {
    return make_preconditioner<T>(PreconditionerKind::amg, a, Accuracy::exact, Device::cpu());
}

template <class T>
std::vector<T> applied(cuda::DevicePreconditioner<T>& m, std::span<const T> r, Accuracy accuracy, cuda::Gate gate = {}) {
    const cuda::DeviceArray<T> on_device_r(0, r, "test");
    const cuda::DeviceArray<T> z(0, std::vector<T>(r.size(), T(7)), "test");
    cuda::apply_if_open(m, on_device_r.data(), z.data(), accuracy, nullptr, gate);
    std::vector<T> result(r.size());
    z.copy_to(result);
    return result;
}

template <class T>
std::vector<T> random_vector(Random& random, std::int64_t n, int exponent = 0) {
    std::vector<T> x;
    for (std::int64_t i = 0; i < n; ++i) x.push_back(random.number<T>(exponent + static_cast<int>(random.between(-3, 3))));
    return x;
}

template <class T>
void expect_bits_of_cpu(const CsrMatrix<T>& a, const std::vector<T>& r) {
    const auto on_host = amg_of(a);
    const auto on_device = on_host->on_device(0);
    ASSERT_NE(on_device, nullptr);
    std::vector<T> z(r.size());
    on_host->apply(r, z, Accuracy::exact);
    for (int i = 0; i < 2; ++i)  // the second one finds what the first left in its working memory
        EXPECT_EQ(testing::differences<T>(applied<T>(*on_device, r, Accuracy::exact), z), "");
    for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated})
        EXPECT_EQ(testing::differences<T>(applied<T>(*on_device, r, accuracy), applied<T>(*on_device, r, accuracy)), "");
}

// Promise: reproducibility.md, "multigrid, Schur complement"
TYPED_TEST(CudaAmg, GivesTheBitsOfTheCpu) {
    using T = TypeParam;
    Random random(1);
    for (const char* name : {"poisson2d_10", "poisson2d_150", "poisson3d_40", "stencil27_20", "convection_diffusion_100"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<T> a = generated<T>(name);
        expect_bits_of_cpu<T>(a, random_vector<T>(random, a.rows));
    }
}

/// The last level is then only smoothed.
TYPED_TEST(CudaAmg, GivesTheBitsOfTheCpuWithoutCoarserLevels) {
    using T = TypeParam;
    Random random(2);
    CsrMatrix<T> diagonal{3000, 3000, {0}, {}, {}};
    for (std::int32_t i = 0; i < 3000; ++i) {
        diagonal.column_indices.push_back(i);
        diagonal.values.push_back(T(1 + i % 5));
        diagonal.row_offsets.push_back(i + 1);
    }
    expect_bits_of_cpu<T>(diagonal, random_vector<T>(random, 3000));
    EXPECT_NE(amg_of(CsrMatrix<T>{})->on_device(0), nullptr);
}

TEST(CudaAmgOfDoubles, ScalesAsTheCpuDoes) {
    if (cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
    Random random(3);
    const CsrMatrix<double> a = generated<double>("poisson2d_100");
    for (const int exponent : {-1050, -900, 0, 900}) expect_bits_of_cpu(a, random_vector<double>(random, a.rows, exponent));
    expect_bits_of_cpu(a, std::vector<double>(static_cast<std::size_t>(a.rows)));
    CsrMatrix<double> large = a;  // beyond the range of floats: a cycle in double
    for (double& value : large.values) value *= 0x1p300;
    expect_bits_of_cpu(large, random_vector<double>(random, a.rows));
}

TYPED_TEST(CudaAmg, DoesNothingWhereItsGateIsClosed) {
    using T = TypeParam;
    Random random(4);
    const CsrMatrix<T> a = generated<T>("poisson2d_60");
    const std::vector<T> r = random_vector<T>(random, a.rows);
    const cuda::DeviceArray<std::int32_t> stage(0, std::vector<std::int32_t>{5}, "test");
    const auto m = amg_of(a)->on_device(0);
    const std::vector<T> right = applied<T>(*m, r, Accuracy::exact);
    const std::vector<T> untouched(r.size(), T(7));
    EXPECT_EQ(testing::differences<T>(applied<T>(*m, r, Accuracy::exact, {stage.data(), ~(1u << 5)}), untouched), "");
    EXPECT_EQ(testing::differences<T>(applied<T>(*m, r, Accuracy::exact, {stage.data(), 1u << 5}), right), "");
}

/// Captured in the graph of the whole iteration.
TYPED_TEST(CudaAmg, SolvesWithTheBitsOfTheCpu) {
    using T = TypeParam;
    for (const char* name : {"poisson3d_30", "convection_diffusion_80"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<T> a = generated<T>(name);
        const auto m = amg_of(a);
        const std::vector<T> b(static_cast<std::size_t>(a.rows), T(1));
        const BicgstabOptions options{
            .accuracy = Accuracy::exact, .tolerance = sizeof(T) == 4 ? 1e-5 : 1e-10, .max_iterations = 50};
        std::vector<T> on_host(b.size()), on_device(b.size());
        const SolveResult expected = bicgstab<T>(SpmvPlan<T>(a, Device::cpu()), *m, b, on_host, {}, options);
        const SolveResult result = bicgstab<T>(SpmvPlan<T>(a, Device::cuda()), *m, b, on_device, {}, options);
        if (sizeof(T) == 8) {  // in single x itself may be too coarse
            EXPECT_EQ(expected.status, SolveStatus::converged);
        }
        EXPECT_EQ(result.status, expected.status);
        EXPECT_EQ(result.iterations, expected.iterations);
        EXPECT_EQ(testing::differences<T>(on_device, on_host), "");
    }
}

}  // namespace
}  // namespace solver
