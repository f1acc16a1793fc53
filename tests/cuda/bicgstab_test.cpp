#include "solver/bicgstab.hpp"

#include "solver/cuda/preconditioner.hpp"
#include "solver/cuda/runtime.hpp"
#include "solver/preconditioner.hpp"
#include "solver/reduce.hpp"

#include <gtest/gtest.h>

#include "support/environment.hpp"
#include "support/expected.hpp"
#include "support/krylov_on_cuda.hpp"
#include "support/on_cuda.hpp"
#include "support/real_matrices.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace solver {
namespace {

using namespace testing;

using Kind = PreconditionerKind;

class CudaBicgstab : public testing::OnCuda {};

template <class T>
void expect_bits_of_cpu_with(const CsrView<T>& a, Kind kind, bool pair, std::int64_t max_iterations) {
    std::unique_ptr<Preconditioner<T>> m;
    try {
        m = make_preconditioner<T>(kind, a, Accuracy::exact, Device::cpu(), {.fill_factor = 3});
    } catch (const Error& error) {
        return;  // zero pivots, for instance
    }
    expect_bits_of_cpu(a, right_hand_side(a), *m, recorded(Accuracy::exact, max_iterations), pair);
}

// Promise: cuda/preconditioner.hpp, "Only launches kernels, whose result depends"
// Promise: cuda/triangular_solve.hpp, "One kernel, or two for each 64 rows"
// Promise: cuda/spmv.hpp, "Only launches kernels: it can be captured"
// Promise: cuda/runtime.hpp, "Plans and reducers allocate nothing after"
// Promise: solver_cuda.h, "Products, reductions and triangular solves allocate nothing"
TEST_F(CudaBicgstab, GivesTheBitsOfTheCpuInExact) {
    for (const char* name : {"poisson2d_60", "poisson3d_20", "stencil27_12", "convection_diffusion_60"}) {
        const CsrMatrix<double> a = generated(name);
        for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0, Kind::isai, Kind::ilut, Kind::klu}) {
            SCOPED_TRACE(std::string(name) + ", " + std::string(to_string(kind)));
            expect_bits_of_cpu_with<double>(a, kind, false, 200);
            expect_bits_of_cpu_with<double>(a, kind, true, 40);
            expect_bits_of_cpu_with<float>(convert<float>(a.view()), kind, false, 40);
            expect_bits_of_cpu_with<float>(convert<float>(a.view()), kind, true, 200);
        }
    }
}

TEST_F(CudaBicgstab, GivesTheBitsOfTheCpuForACircuitWithLongRows) {
    const CsrMatrix<double> a = generated("dc2_like");
    expect_bits_of_cpu_with<double>(a, Kind::jacobi, false, 60);
    expect_bits_of_cpu_with<float>(convert<float>(a.view()), Kind::jacobi, true, 60);
}

TEST_F(CudaBicgstab, GivesTheBitsOfTheCpuForRealMatrices) {
    int found = 0;
    for (const char* name : {"memplus", "sherman5", "orsreg_1", "add20", "epb0", "bcsstk16", "west0067", "pde900", "cage5"}) {
        const auto a = testing::real_matrix(name);
        if (!a) continue;
        ++found;
        for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0}) {
            SCOPED_TRACE(std::string(name) + ", " + std::string(to_string(kind)));
            expect_bits_of_cpu_with<double>(*a, kind, false, 150);
            expect_bits_of_cpu_with<float>(convert<float>(a->view()), kind, true, 100);
        }
    }
    if (found == 0) GTEST_SKIP() << "no real matrices";
}

/// A preconditioner by kernels that know nothing of launch predicates, as a user's own.
class WithoutGates final : public Preconditioner<double> {
public:
    explicit WithoutGates(const Preconditioner<double>& m) : m_(m) {}

    void apply(std::span<const double> r, std::span<double> z, Accuracy accuracy) const override { m_.apply(r, z, accuracy); }

    std::unique_ptr<cuda::DevicePreconditioner<double>> on_device(int device) const override {
        class OnDevice final : public cuda::DevicePreconditioner<double> {
        public:
            explicit OnDevice(std::unique_ptr<cuda::DevicePreconditioner<double>> m) : m_(std::move(m)) {}
            void apply(const double* r, double* z, Accuracy accuracy, cuda::Stream stream) override {
                m_->apply(r, z, accuracy, stream);
            }

        private:
            std::unique_ptr<cuda::DevicePreconditioner<double>> m_;
        };
        return std::make_unique<OnDevice>(m_.on_device(device));
    }

private:
    const Preconditioner<double>& m_;
};

TEST_F(CudaBicgstab, GivesTheBitsOfTheCpuWithAUsersPreconditionerOnTheDevice) {
    for (const char* name : {"poisson2d_60", "convection_diffusion_60"}) {
        const CsrMatrix<double> a = generated(name);
        for (const Kind kind : {Kind::jacobi, Kind::ilu0, Kind::isai}) {
            SCOPED_TRACE(std::string(name) + ", " + std::string(to_string(kind)));
            const auto m = make_preconditioner<double>(kind, a, Accuracy::exact, Device::cpu());
            expect_bits_of_cpu<double>(a, right_hand_side<double>(a), WithoutGates(*m), recorded(Accuracy::exact, 300), false);
        }
    }
}

TEST_F(CudaBicgstab, GivesTheBitsOfTheCpuInMixedPrecision) {
    for (const char* name : {"poisson2d_60", "convection_diffusion_60"}) {
        const CsrMatrix<double> a = generated(name);
        const CsrMatrix<float> single = convert<float>(a.view());
        const auto m = make_preconditioner<float>(Kind::jacobi, single, Accuracy::exact, Device::cpu());
        const std::vector<double> b = right_hand_side<double>(a);
        const auto solve = [&](const Device& device) {
            Solve<double> s{{}, std::vector<double>(b.size()), {}};
            s.result =
                bicgstab(SpmvPlan<double>(a, device), SpmvPlan<float>(single, device), *m, b, s.x, recorded(Accuracy::exact));
            return s;
        };
        const Solve<double> expected = solve(Device::cpu());
        const Solve<double> found = solve(Device::cuda());
        EXPECT_EQ(difference(found.result, expected.result), "");
        EXPECT_EQ(testing::differences<double>(found.x, expected.x), "");
    }
}

TEST_F(CudaBicgstab, SolvesSystemsOfNoRowsAndOfOne) {
    const CsrMatrix<double> empty{0, 0, {0}, {}, {}};
    const CsrMatrix<double> scalar{1, 1, {0, 1}, {0}, {3}};
    for (const CsrMatrix<double>& a : {empty, scalar})
        for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0, Kind::isai, Kind::ilut, Kind::klu})
            for (const bool pair : {false, true}) {
                SCOPED_TRACE(std::to_string(a.rows) + " rows, " + std::string(to_string(kind)) + (pair ? ", a pair" : ""));
                expect_bits_of_cpu_with<double>(a, kind, pair, 40);
                expect_bits_of_cpu_with<float>(convert<float>(a.view()), kind, pair, 40);
            }
}

/// Breakdowns, lost dot products, cancelled rows, numbers out of range, special values: every decision is the CPU's.
TEST_F(CudaBicgstab, DecidesAsTheCpuDoes) {
    const double infinity = std::numeric_limits<double>::infinity();
    const CsrMatrix<double> zeros{3, 3, {0, 1, 2, 3}, {0, 1, 2}, {0, 0, 0}};
    const CsrMatrix<double> rotation{2, 2, {0, 1, 2}, {1, 0}, {1, -1}};
    const CsrMatrix<double> tiny{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2e-300, 1e-300, 1e-300, 3e-300}};
    const CsrMatrix<double> huge{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2e300, 1e300, 1e300, 3e300}};
    const CsrMatrix<double> infinite{2, 2, {0, 1, 2}, {0, 1}, {infinity, 1}};
    const CsrMatrix<double> scalar{1, 1, {0, 1}, {0}, {3}};
    const CsrMatrix<double> hilbert{4,
                                    4,
                                    {0, 4, 8, 12, 16},
                                    {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3},
                                    {1, 1 / 2., 1 / 3., 1 / 4., 1 / 2., 1 / 3., 1 / 4., 1 / 5., 1 / 3., 1 / 4., 1 / 5., 1 / 6.,
                                     1 / 4., 1 / 5., 1 / 6., 1 / 7.}};
    for (const CsrMatrix<double>& a : {zeros, rotation, tiny, huge, infinite, scalar, hilbert}) {
        const auto m = make_preconditioner<double>(Kind::none, a, Accuracy::exact, Device::cpu());
        for (const double scale : {1.0, 1e-290, 1e290, 0.0}) {
            SCOPED_TRACE(::testing::Message() << a.rows << " rows, first entry " << a.values[0] << ", b " << scale);
            std::vector<double> b(static_cast<std::size_t>(a.rows));
            for (std::size_t i = 0; i < b.size(); ++i) b[i] = scale * static_cast<double>(1 + i);
            expect_bits_of_cpu<double>(a, b, *m, recorded(Accuracy::exact), false);
            expect_bits_of_cpu<double>(a, b, *m, recorded(Accuracy::exact), true);
            for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated})  // no hang, no false claim
                for (const Device& device : {Device::cpu(), Device::cuda()}) {
                    const auto solve = solve_on<double>(device, a, b, *m, recorded(accuracy));
                    if (solve.result.status == SolveStatus::converged) {
                        EXPECT_LE(solve.result.relative_residual, 1e-10);
                    }
                }
        }
    }
}

TEST_F(CudaBicgstab, ConvergesInEveryModeTheSameWayEachTime) {
    for (const char* name : {"poisson2d_100", "convection_diffusion_100", "dc2_like"}) {
        const CsrMatrix<double> a = generated(name);
        const std::vector<double> b = right_hand_side<double>(a);
        const auto m = make_preconditioner<double>(Kind::jacobi, a, Accuracy::fast, Device::cpu());
        for (const Accuracy accuracy : all_accuracies) {
            SCOPED_TRACE(std::string(name) + ", " + std::string(to_string(accuracy)));
            const auto first = solve_on<double>(Device::cuda(), a, b, *m, recorded(accuracy, 2000));
            EXPECT_EQ(first.result.status, SolveStatus::converged);
            std::vector<double> r(b.size());
            SpmvPlan<double>(a, Device::cpu()).residual(b, first.x, {}, r, Accuracy::exact);
            const double residual = norm2(std::span<const double>(r), Accuracy::exact, Device::cpu()) /
                                    norm2(std::span<const double>(b), Accuracy::exact, Device::cpu());
            EXPECT_LE(residual, 1.0001e-10);
            const auto second = solve_on<double>(Device::cuda(), a, b, *m, recorded(accuracy, 2000));
            EXPECT_EQ(difference(second.result, first.result), "");
            EXPECT_EQ(testing::differences<double>(second.x, first.x), "");
        }
    }
}

/// With SOLVER_CUDA_GRAPHS=0 the host launches every step: the same kernels, hence the same bits in every mode.
TEST_F(CudaBicgstab, GivesTheSameBitsFromALoopOfTheHost) {
    for (const char* name : {"poisson2d_60", "convection_diffusion_60", "dc2_like"}) {
        const CsrMatrix<double> a = generated(name);
        const std::vector<double> b = right_hand_side<double>(a);
        const auto m = make_preconditioner<double>(Kind::jacobi, a, Accuracy::exact, Device::cpu());
        for (const Accuracy accuracy : all_accuracies) {
            SCOPED_TRACE(std::string(name) + ", " + std::string(to_string(accuracy)));
            const auto solve = [&](const char* graphs) {
                const testing::EnvironmentVariable variable("SOLVER_CUDA_GRAPHS", graphs);
                return solve_on<double>(Device::cuda(), a, b, *m, recorded(accuracy));
            };
            const Solve<double> on_device = solve("1");
            const Solve<double> from_host = solve("0");
            EXPECT_EQ(difference(from_host.result, on_device.result), "");
            EXPECT_EQ(testing::differences<double>(from_host.x, on_device.x), "");
        }
    }
}

// Promise: preconditioner.hpp, "Null where there is no such thing"
// Promise: cuda/solve.hpp, "Callbacks and preconditioners of your own see"
TEST_F(CudaBicgstab, TakesAPreconditionerThatKnowsNothingOfDevices) {
    struct Halve final : Preconditioner<double> {
        void apply(std::span<const double> r, std::span<double> z, Accuracy) const override {
            for (std::size_t i = 0; i < r.size(); ++i) z[i] = r[i] / 2;
        }
    };
    const CsrMatrix<double> a = generated("convection_diffusion_40");
    expect_bits_of_cpu<double>(a, right_hand_side<double>(a), Halve(), recorded(Accuracy::exact, 60), false);
}

template <class T>
void expect_columns_as_if_alone(const CsrView<T>& a, Kind kind, std::int64_t columns, bool pair) {
    const auto m = make_preconditioner<T>(kind, a, Accuracy::exact, Device::cpu());
    const DenseMatrix<T> b = right_hand_sides_of_all_kinds<T>(a.rows, columns);
    const SpmvPlan<T> plan(a, Device::cuda());
    for (const Accuracy accuracy : all_accuracies) {
        const KrylovOptions options = recorded(accuracy, 80);
        DenseMatrix<T> x{a.rows, columns, std::vector<T>(b.values.size())};
        DenseMatrix<T> x_low = x;
        const auto results = bicgstab<T>(plan, *m, b, x, pair ? &x_low : nullptr, options);
        for (std::int64_t j = 0; j < columns; ++j) {
            SCOPED_TRACE(std::string(to_string(kind)) + ", " + std::string(to_string(accuracy)) + ", column " +
                         std::to_string(j));
            const auto column_of = [&](const DenseMatrix<T>& of) {
                return std::vector<T>(of.values.begin() + j * a.rows, of.values.begin() + (j + 1) * a.rows);
            };
            Solve<T> alone{{}, std::vector<T>(a.rows), std::vector<T>(pair ? a.rows : 0)};
            alone.result = bicgstab<T>(plan, *m, column_of(b), alone.x, alone.x_low, options);
            EXPECT_EQ(difference(results[static_cast<std::size_t>(j)], alone.result), "");
            EXPECT_EQ(testing::differences<T>(column_of(x), alone.x), "");
            if (pair) {
                EXPECT_EQ(testing::differences<T>(column_of(x_low), alone.x_low), "");
            }
        }
    }
}

TEST_F(CudaBicgstab, SolvesSeveralRightHandSidesEachAsIfAlone) {
    for (const char* name : {"convection_diffusion_40", "stencil27_12", "poisson2d_7"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<double> a = generated(name);
        for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0, Kind::isai}) {
            expect_columns_as_if_alone<double>(a, kind, 7, false);
            expect_columns_as_if_alone<float>(convert<float>(a.view()), kind, 6, true);
        }
    }
    const CsrMatrix<double> a = generated("poisson2d_20");
    for (const std::int64_t columns : {2, 3, 32, 35}) expect_columns_as_if_alone<double>(a, Kind::jacobi, columns, false);
}

TEST_F(CudaBicgstab, SolvesSeveralRightHandSidesOfACircuitWithLongRows) {
    const CsrMatrix<double> a = generated("dc2_like");
    expect_columns_as_if_alone<double>(a, Kind::jacobi, 5, false);
    expect_columns_as_if_alone<float>(convert<float>(a.view()), Kind::jacobi, 5, true);
}

TEST_F(CudaBicgstab, SolvesOtherRightHandSidesThoughOneBreaksDown) {
    constexpr std::int64_t n = 200;
    CsrMatrix<double> a{n, n, {0, 1, 2}, {1, 0}, {1, -1}};
    for (std::int64_t i = 2; i < n; ++i) {
        for (std::int64_t j = std::max<std::int64_t>(2, i - 1); j <= std::min(n - 1, i + 1); ++j) {
            a.column_indices.push_back(static_cast<std::int32_t>(j));
            a.values.push_back(i == j ? 2.3 : i < j ? 0.7 : -1.1);
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    expect_columns_as_if_alone<double>(a, Kind::none, 16, false);
    DenseMatrix<double> b{n, 2, std::vector<double>(2 * n)};
    b.values[0] = 1;      // its image is orthogonal to it
    b.values[n + 5] = 1;  // not so
    DenseMatrix<double> x{n, 2, std::vector<double>(2 * n)};
    const auto m = make_preconditioner<double>(Kind::none, a, Accuracy::exact, Device::cpu());
    const auto results = bicgstab<double>(SpmvPlan<double>(a, Device::cuda()), *m, b, x, nullptr, recorded(Accuracy::exact));
    EXPECT_GT(results[0].restarts, 0);
    EXPECT_EQ(results[1].status, SolveStatus::converged);
    EXPECT_EQ(results[1].restarts, 0);
}

TEST_F(CudaBicgstab, SolvesSeveralRightHandSidesInMixedPrecisionWithTheBitsOfTheCpu) {
    const CsrMatrix<double> a = generated("convection_diffusion_60");
    const CsrMatrix<float> single = convert<float>(a.view());
    const auto m = make_preconditioner<float>(Kind::jacobi, single, Accuracy::exact, Device::cpu());
    const DenseMatrix<double> b = right_hand_sides_of_all_kinds<double>(a.rows, 7);
    const auto solve = [&](const Device& device, DenseMatrix<double>& x) {
        const SpmvPlan<double> plan(a, device);
        return bicgstab(plan, SpmvPlan<float>(single, device), *m, b, x, recorded(Accuracy::exact));
    };
    DenseMatrix<double> expected{a.rows, 7, std::vector<double>(b.values.size())};
    DenseMatrix<double> found = expected;
    const auto on_cpu = solve(Device::cpu(), expected);
    const auto on_device = solve(Device::cuda(), found);
    for (std::size_t j = 0; j < on_cpu.size(); ++j) EXPECT_EQ(difference(on_device[j], on_cpu[j]), "") << "column " << j;
    EXPECT_EQ(testing::differences<double>(found.values, expected.values), "");
}

TEST_F(CudaBicgstab, SolvesDenseSystemsWithTheBitsOfTheCpu) {
    constexpr std::int64_t n = 150;
    DenseMatrix<double> a{n, n, {}};
    for (std::int64_t i = 0; i < n * n; ++i)
        a.values.push_back(i % (n + 1) == 0 ? 12.0 : i % 9 == 0 ? 0.0 : std::sin(static_cast<double>(i)));
    const DenseMatrix<double> b = right_hand_sides_of_all_kinds<double>(n, 5);
    for (const Kind kind : {Kind::none, Kind::ilu0}) {
        const auto m = make_preconditioner<double>(kind, SpmvPlan<double>(a.view(), Device::cpu()).matrix(), Accuracy::exact,
                                                   Device::cpu());
        DenseMatrix<double> expected{n, 5, std::vector<double>(b.values.size())};
        DenseMatrix<double> found = expected;
        const SpmvPlan<double> on_cpu(a.view(), Device::cpu()), on_device(a.view(), Device::cuda());
        const auto right = bicgstab<double>(on_cpu, *m, b, expected, nullptr, recorded(Accuracy::exact));
        const auto results = bicgstab<double>(on_device, *m, b, found, nullptr, recorded(Accuracy::exact));
        for (std::size_t j = 0; j < right.size(); ++j) EXPECT_EQ(difference(results[j], right[j]), "") << "column " << j;
        EXPECT_EQ(testing::differences<double>(found.values, expected.values), "");
        EXPECT_EQ(right[0].status, SolveStatus::converged);
    }
}

TEST_F(CudaBicgstab, StopsOneColumnWhereItsCallbackAsksFor) {
    const CsrMatrix<double> a = generated("poisson2d_60");
    const auto m = make_preconditioner<double>(Kind::jacobi, a, Accuracy::exact, Device::cpu());
    const DenseMatrix<double> b = right_hand_sides_of_all_kinds<double>(a.rows, 3);
    DenseMatrix<double> x{a.rows, 3, std::vector<double>(b.values.size())};
    KrylovOptions options = recorded(Accuracy::exact, 500);
    options.callback = [](const Iteration& iteration) { return iteration.column != 2 || iteration.number < 3; };
    const auto results = bicgstab<double>(SpmvPlan<double>(a, Device::cuda()), *m, b, x, nullptr, options);
    EXPECT_EQ(results[0].status, SolveStatus::converged);
    EXPECT_EQ(results[1].iterations, 0);
    EXPECT_EQ(results[2].status, SolveStatus::iteration_limit);
    EXPECT_EQ(results[2].iterations, 3);
}

// Promise: bicgstab.hpp, "Runs where the plan of A is: on a CUDA"
TEST_F(CudaBicgstab, AsksTheCallbackAtItsIntervals) {
    const CsrMatrix<double> a = generated("poisson2d_60");
    const auto m = make_preconditioner<double>(Kind::jacobi, a, Accuracy::exact, Device::cpu());
    const std::vector<double> b = right_hand_side<double>(a);
    for (const std::int64_t interval : {1, 7, 100}) {
        KrylovOptions options = recorded(Accuracy::exact);
        std::vector<std::int64_t> seen;
        options.callback_interval = interval;
        options.callback = [&](const Iteration& iteration) {
            seen.push_back(iteration.number);
            return iteration.number < 20;
        };
        const auto solve = solve_on<double>(Device::cuda(), a, b, *m, options);
        EXPECT_EQ(solve.result.iterations, (20 + interval - 1) / interval * interval);
        for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], static_cast<std::int64_t>(i));
        EXPECT_EQ(std::ssize(seen), solve.result.iterations + 1);
    }
}

}  // namespace
}  // namespace solver
