#include "solver/cg.hpp"

#include "solver/cuda.hpp"
#include "solver/error.hpp"
#include "support/environment.hpp"
#include "support/expected.hpp"
#include "support/krylov_on_cuda.hpp"
#include "support/on_cuda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace solver {
namespace {

using namespace testing;

using Kind = PreconditionerKind;

class CudaCg : public testing::OnCuda {};

template <class T>
void expect_cg_with_bits_of_cpu(const CsrView<T>& a, Kind kind, bool pair, std::int64_t max_iterations) {
    const auto m = make_preconditioner<T>(kind, a, Accuracy::exact, Device::cpu());
    expect_bits_of_cpu(a, right_hand_side(a), *m, recorded(Accuracy::exact, max_iterations), pair, KrylovMethod::cg);
}

/// Also with factors that are not symmetric: what is wrong must be wrong in the same way.
TEST_F(CudaCg, GivesTheBitsOfTheCpuInExact) {
    for (const char* name : {"poisson2d_61", "poisson3d_20", "stencil27_12", "convection_diffusion_60"}) {
        const CsrMatrix<double> a = generated(name);
        for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0, Kind::isai}) {
            SCOPED_TRACE(std::string(name) + ", " + std::string(to_string(kind)));
            expect_cg_with_bits_of_cpu<double>(a, kind, false, 200);
            expect_cg_with_bits_of_cpu<double>(a, kind, true, 40);
            expect_cg_with_bits_of_cpu<float>(convert<float>(a.view()), kind, false, 40);
            expect_cg_with_bits_of_cpu<float>(convert<float>(a.view()), kind, true, 200);
        }
    }
    expect_cg_with_bits_of_cpu<double>(generated("dc2_like"), Kind::jacobi, false, 60);
}

TEST_F(CudaCg, GivesTheBitsOfTheCpuInMixedPrecision) {
    const CsrMatrix<double> a = generated("poisson2d_60");
    const CsrMatrix<float> single = convert<float>(a.view());
    const auto m = make_preconditioner<float>(Kind::jacobi, single, Accuracy::exact, Device::cpu());
    const DenseMatrix<double> b = right_hand_sides_of_all_kinds<double>(a.rows, 7);
    const auto solve = [&](const Device& device, DenseMatrix<double>& x) {
        const SpmvPlan<double> plan(a, device);
        return cg(plan, SpmvPlan<float>(single, device), *m, b, x, recorded(Accuracy::exact));
    };
    DenseMatrix<double> expected{a.rows, 7, std::vector<double>(b.values.size())};
    DenseMatrix<double> found = expected;
    const auto on_cpu = solve(Device::cpu(), expected);
    const auto on_device = solve(Device::cuda(), found);
    for (std::size_t j = 0; j < on_cpu.size(); ++j) EXPECT_EQ(difference(on_device[j], on_cpu[j]), "") << "column " << j;
    EXPECT_EQ(differences<double>(found.values, expected.values), "");
    EXPECT_EQ(on_cpu[0].status, SolveStatus::converged);
}

TEST_F(CudaCg, SolvesSystemsOfNoRowsAndOfOne) {
    const CsrMatrix<double> empty{0, 0, {0}, {}, {}};
    const CsrMatrix<double> scalar{1, 1, {0, 1}, {0}, {3}};
    for (const CsrMatrix<double>& a : {empty, scalar})
        for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0})
            for (const bool pair : {false, true}) {
                SCOPED_TRACE(std::to_string(a.rows) + " rows, " + std::string(to_string(kind)) + (pair ? ", a pair" : ""));
                expect_cg_with_bits_of_cpu<double>(a, kind, pair, 40);
                expect_cg_with_bits_of_cpu<float>(convert<float>(a.view()), kind, pair, 40);
            }
}

/// Indefinite at once, later, by M alone, with p'Ap = 0; underflow; zeros; Inf; conditions beyond 1 / u: the decision is the
/// CPU's in exact, and the same in the other modes where it does not depend on rounding.
TEST_F(CudaCg, DecidesAsTheCpuDoes) {
    const double infinity = std::numeric_limits<double>::infinity();
    const CsrMatrix<double> zeros{3, 3, {0, 1, 2, 3}, {0, 1, 2}, {0, 0, 0}};
    const CsrMatrix<double> exchange{2, 2, {0, 1, 2}, {1, 0}, {1, 1}};
    const CsrMatrix<double> negative{3, 3, {0, 1, 2, 3}, {0, 1, 2}, {-1, -2, -3}};
    const CsrMatrix<double> indefinite{3, 3, {0, 1, 2, 3}, {0, 1, 2}, {1, 2, -0.25}};
    const CsrMatrix<double> tiny{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2e-300, 1e-300, 1e-300, 3e-300}};
    const CsrMatrix<double> huge{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2e300, 1e300, 1e300, 3e300}};
    const CsrMatrix<double> infinite{2, 2, {0, 1, 2}, {0, 1}, {infinity, 1}};
    int found_indefinite = 0;
    for (const CsrMatrix<double>& a : {zeros, exchange, negative, indefinite, tiny, huge, infinite}) {
        const auto m = make_preconditioner<double>(Kind::none, a, Accuracy::exact, Device::cpu());
        for (const double scale : {1.0, 1e-290, 1e290, 0.0}) {
            SCOPED_TRACE(::testing::Message() << a.rows << " rows, first entry " << a.values[0] << ", b " << scale);
            std::vector<double> b(static_cast<std::size_t>(a.rows));
            for (std::size_t i = 0; i < b.size(); ++i) b[i] = i == 1 && a.rows == 2 ? 0 : scale * static_cast<double>(1 + i);
            for (const bool pair : {false, true})
                expect_bits_of_cpu<double>(a, b, *m, recorded(Accuracy::exact), pair, KrylovMethod::cg);
            for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated}) {
                const auto on_cpu = solve_on<double>(Device::cpu(), a, b, *m, recorded(accuracy), false, KrylovMethod::cg);
                const auto on_device = solve_on<double>(Device::cuda(), a, b, *m, recorded(accuracy), false, KrylovMethod::cg);
                EXPECT_EQ(on_device.result.status, on_cpu.result.status);
                found_indefinite += on_device.result.status == SolveStatus::indefinite ? 1 : 0;
            }
        }
    }
    EXPECT_GT(found_indefinite, 0);
    for (const Kind kind : {Kind::jacobi, Kind::ilu0})  // r'M^-1 r < 0
        expect_cg_with_bits_of_cpu<double>(negative, kind, false, 40);
}

/// An eigenvalue below zero shows after some steps, in each mode.
TEST_F(CudaCg, SaysOnTheWayThatAMatrixIsIndefinite) {
    CsrMatrix<double> a = generated("poisson2d_40");
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (auto k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] == i) a.values[k] *= 0.99;
    const auto m = make_preconditioner<double>(Kind::jacobi, a, Accuracy::exact, Device::cpu());
    const std::vector<double> b = right_hand_side<double>(a);
    for (const Accuracy accuracy : all_accuracies) {
        const auto solve = solve_on<double>(Device::cuda(), a, b, *m, recorded(accuracy, 2000), false, KrylovMethod::cg);
        EXPECT_EQ(solve.result.status, SolveStatus::indefinite) << to_string(accuracy);
        EXPECT_GT(solve.result.iterations, 1);
        EXPECT_LE(solve.result.relative_residual, 1);
    }
    expect_cg_with_bits_of_cpu<double>(a, Kind::jacobi, false, 2000);
}

TEST_F(CudaCg, ConvergesInEveryModeTheSameWayFromLoopsOfTheDeviceAndOfTheHost) {
    for (const char* name : {"poisson2d_100", "poisson3d_20"}) {
        const CsrMatrix<double> a = generated(name);
        const std::vector<double> b = right_hand_side<double>(a);
        for (const Kind kind : {Kind::jacobi, Kind::isai}) {
            const auto m = make_preconditioner<double>(kind, a, Accuracy::fast, Device::cpu());
            for (const Accuracy accuracy : all_accuracies) {
                SCOPED_TRACE(std::string(name) + ", " + std::string(to_string(kind)) + ", " + std::string(to_string(accuracy)));
                const auto solve = [&](const char* graphs) {
                    const EnvironmentVariable variable("SOLVER_CUDA_GRAPHS", graphs);
                    return solve_on<double>(Device::cuda(), a, b, *m, recorded(accuracy, 1000), false, KrylovMethod::cg);
                };
                const Solve<double> on_device = solve("1");
                const Solve<double> from_host = solve("0");
                if (kind == Kind::jacobi) {
                    EXPECT_EQ(on_device.result.status, SolveStatus::converged);
                    expect_honest({a, b}, on_device, recorded(accuracy));
                }
                EXPECT_EQ(difference(from_host.result, on_device.result), "");
                EXPECT_EQ(differences<double>(from_host.x, on_device.x), "");
            }
        }
    }
}

TEST_F(CudaCg, TakesAPreconditionerThatKnowsNothingOfDevices) {
    struct Halve final : Preconditioner<double> {
        void apply(std::span<const double> r, std::span<double> z, Accuracy) const override {
            for (std::size_t i = 0; i < r.size(); ++i) z[i] = r[i] / 2;
        }
    };
    const CsrMatrix<double> a = generated("poisson2d_40");
    expect_bits_of_cpu<double>(a, right_hand_side<double>(a), Halve(), recorded(Accuracy::exact, 60), false, KrylovMethod::cg);
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
        const auto results = cg<T>(plan, *m, b, x, pair ? &x_low : nullptr, options);
        for (std::int64_t j = 0; j < columns; ++j) {
            SCOPED_TRACE(std::string(to_string(accuracy)) + ", column " + std::to_string(j));
            const auto column_of = [&](const DenseMatrix<T>& of) {
                return std::vector<T>(of.values.begin() + j * a.rows, of.values.begin() + (j + 1) * a.rows);
            };
            Solve<T> alone{{}, std::vector<T>(a.rows), std::vector<T>(pair ? a.rows : 0)};
            alone.result = cg<T>(plan, *m, column_of(b), alone.x, alone.x_low, options);
            EXPECT_EQ(difference(results[static_cast<std::size_t>(j)], alone.result), "");
            EXPECT_EQ(differences<T>(column_of(x), alone.x), "");
            if (pair) {
                EXPECT_EQ(differences<T>(column_of(x_low), alone.x_low), "");
            }
        }
    }
}

TEST_F(CudaCg, SolvesSeveralRightHandSidesEachAsIfAlone) {
    for (const char* name : {"stencil27_12", "poisson2d_7"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<double> a = generated(name);
        for (const Kind kind : {Kind::none, Kind::jacobi, Kind::isai}) {
            expect_columns_as_if_alone<double>(a, kind, 7, false);
            expect_columns_as_if_alone<float>(convert<float>(a.view()), kind, 6, true);
        }
    }
    expect_columns_as_if_alone<double>(generated("poisson2d_20"), Kind::jacobi, 35, false);
}

TEST_F(CudaCg, AsksTheCallbackAtItsIntervals) {
    const CsrMatrix<double> a = generated("poisson2d_60");
    const auto m = make_preconditioner<double>(Kind::jacobi, a, Accuracy::exact, Device::cpu());
    const std::vector<double> b = right_hand_side<double>(a);
    for (const std::int64_t interval : {1, 7, 100}) {
        KrylovOptions options = recorded(Accuracy::exact);
        options.callback_interval = interval;
        options.callback = [](const Iteration& iteration) { return iteration.number < 20; };
        const auto solve = solve_on<double>(Device::cuda(), a, b, *m, options, false, KrylovMethod::cg);
        EXPECT_EQ(solve.result.iterations, (20 + interval - 1) / interval * interval);
    }
}

}  // namespace
}  // namespace solver
