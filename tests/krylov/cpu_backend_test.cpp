#include "krylov/cpu_backend.hpp"

#include "krylov/pauses.hpp"
#include "krylov/run.hpp"
#include "krylov/task.hpp"
#include "support/linear_systems.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

namespace solver {
namespace {

using namespace testing;

/// A diagonal matrix of order 2 and b, both of small integers, so that every operation below is exact.
template <class T>
struct TwoUnknowns {
    CsrMatrix<T> a = csr_from_entries<T>(2, 2, std::vector<Entry<T>>{{0, 0, T(2)}, {1, 1, T(4)}});
    std::vector<T> b{T(10), T(-20)};
    SpmvPlan<T> plan{a, Device::cpu(1)};
    std::unique_ptr<Preconditioner<T>> m =
        make_preconditioner<T>(PreconditionerKind::jacobi, a, Accuracy::exact, Device::cpu(1));
};

template <class T>
class CpuBackendTest : public ::testing::Test {
public:
    CpuSolverBackend<T> backend(bool as_pair) { return {products_, *system_.m, system_.b, as_pair, Accuracy::exact}; }

protected:
    TwoUnknowns<T> system_;
    MatrixProducts<T> products_{system_.plan};
};

using FloatingPoints = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CpuBackendTest, FloatingPoints);

// How large the rounding errors of x may have made b - A x decides when the recurrence is replaced.
TYPED_TEST(CpuBackendTest, WeighsEveryElementOfXInWhatItsRoundingMayCost) {
    using T = TypeParam;
    const auto backend = this->backend(false);
    auto x = backend.solution();
    backend.load(std::vector<T>{T(3), T(-2)}, x);
    EXPECT_EQ(backend.rounding_terms({T(1), T(2)}, x), 5);  // sqrt(3^2 + 4^2)
    EXPECT_EQ(backend.rounding_terms({T(1), T(0)}, x), 3);
    EXPECT_EQ(backend.rounding_terms({T(0), T(1)}, x), 2);
}

TYPED_TEST(CpuBackendTest, CountsNoRoundingOfAPair) {
    using T = TypeParam;
    const auto backend = this->backend(true);
    auto x = backend.solution();
    backend.load(std::vector<T>{T(3), T(-2)}, x);
    EXPECT_EQ(backend.rounding_terms({T(1), T(2)}, x), 0);
}

TYPED_TEST(CpuBackendTest, KeepsInAPairWhatXLoses) {
    using T = TypeParam;
    const T tiny = std::ldexp(T(1), -2 * std::numeric_limits<T>::digits + 4);
    for (const bool as_pair : {false, true}) {
        const auto backend = this->backend(as_pair);
        auto x = backend.solution();
        backend.load(std::vector<T>{T(5), T(-5)}, x);
        backend.add_to_solution(2, {tiny, T(1)}, x);
        EXPECT_EQ(x.x, (std::vector<T>{T(5), T(-3)}));
        EXPECT_EQ(x.low, as_pair ? (std::vector<T>{2 * tiny, T(0)}) : std::vector<T>());
        std::vector<T> high(2), low(as_pair ? 2 : 0);
        backend.store(x, high, low);
        EXPECT_EQ(high, x.x);
        EXPECT_EQ(low, x.low);
    }
}

TYPED_TEST(CpuBackendTest, LeavesOfBWhatXAndItsLowerHalfDoNotExplain) {
    using T = TypeParam;
    const auto backend = this->backend(true);
    auto x = backend.solution();
    x = {{T(4), T(-6)}, {T(0.5), T(-0.25)}};
    auto r = backend.residual_vector();
    backend.residual(1, x, r);
    this->products_.run();
    EXPECT_EQ(r, (std::vector<T>{T(1), T(5)}));
    backend.residual(4, x, r);
    this->products_.run();
    EXPECT_EQ(r, (std::vector<T>{T(4), T(20)}));
    auto scaled = backend.vector();
    backend.take(0.125, r, scaled);
    EXPECT_EQ(scaled, (std::vector<T>{T(0.5), T(2.5)}));
}

TYPED_TEST(CpuBackendTest, AsksBothHalvesOfXWhetherTheyAreFinite) {
    using T = TypeParam;
    const auto backend = this->backend(true);
    auto x = backend.solution();
    EXPECT_TRUE(backend.is_finite(x));
    for (auto* half : {&x.x, &x.low})
        for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()}) {
            (*half)[1] = bad;
            EXPECT_FALSE(backend.is_finite(x)) << bad;
            (*half)[1] = 0;
        }
    x = {{T(1), T(2)}, {T(3), T(4)}};
    backend.set_zero(x);
    EXPECT_EQ(x.x, (std::vector<T>{T(0), T(0)}));
    EXPECT_EQ(x.low, (std::vector<T>{T(0), T(0)}));
}

// The recurrence in float, what it is told of b - A x and adds to x in double.
// Promise: bicgstab.hpp, "Mixed precision: the iteration runs in single"
TEST(CpuMixedBackend, HoldsXAndItsResidualInDouble) {
    TwoUnknowns<double> system;
    TwoUnknowns<float> in_float;
    MatrixProducts<double> products(system.plan);
    MatrixProducts<float> products_in_float(in_float.plan);
    const CpuMixedBackend backend(products, products_in_float, *in_float.m, system.b, Accuracy::exact);
    auto x = backend.solution();
    backend.load(std::vector<double>{5, -5}, x);
    EXPECT_EQ(backend.rounding_terms({1.0F, 1.0F}, x), 0);
    backend.add_to_solution(0x1p-30, {1.0F, -2.0F}, x);
    EXPECT_EQ(x, (std::vector<double>{5 + 0x1p-30, -5 - 0x1p-29}));  // floats would keep 5 and -5
    auto r = backend.residual_vector();
    backend.residual(1, x, r);
    products.run();
    EXPECT_EQ(r, (std::vector<double>{-0x1p-29, 0x1p-27}));
    auto scaled = backend.vector();
    backend.take(0x1p29, r, scaled);
    EXPECT_EQ(scaled, (std::vector<float>{-1.0F, 4.0F}));
}

/// What the columns wanted when a callback threw is forgotten: the next solve has the bits of a system's first one.
TEST(KrylovSystem, SolvesAgainAfterAnException) {
    const auto problem = testing::convection_diffusion<double>(12, 0.3);
    const SpmvPlan<double> plan(problem.a, Device::cpu(1));
    const auto m = make_preconditioner<double>(PreconditionerKind::none, problem.a, Accuracy::exact, Device::cpu(1));
    const auto solve_both = [&](KrylovSystem<double>& system, const KrylovOptions& options) {
        std::vector<double> x(problem.b.size()), y(problem.b.size());
        const std::vector<Unknown<double>> unknowns{{problem.b, x}, {problem.b, y}};
        system.run(KrylovMethod::bicgstab, *m, unknowns, options, pauses_of(options));
        return x;
    };
    KrylovOptions options = testing::with(Accuracy::exact);
    KrylovSystem<double> first(plan, plan), second(plan, plan);
    const std::vector<double> expected = solve_both(first, options);
    options.callback = [](const Iteration& iteration) {
        if (iteration.number == 3 && iteration.column == 1) throw std::runtime_error("enough");
        return true;
    };
    EXPECT_THROW(solve_both(second, options), std::runtime_error);
    options.callback = {};
    EXPECT_EQ(solve_both(second, options), expected);
}

}  // namespace
}  // namespace solver
