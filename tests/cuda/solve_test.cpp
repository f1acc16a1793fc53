#include "solver/cuda/solve.hpp"

#include "solver/bicgstab.hpp"
#include "solver/cg.hpp"
#include "solver/complex.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cuda/spmv.hpp"
#include "solver/cuda/csr.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/cuda/spmv.hpp"
#include "support/empty_rows.hpp"
#include "support/krylov_on_cuda.hpp"
#include "support/on_cuda.hpp"
#include "support/penalty.hpp"
#include "support/products.hpp"
#include "support/real_matrices.hpp"

#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

namespace solver {
namespace {

using namespace testing;

class CudaSolve : public testing::OnCuda {};

template <class T>
std::vector<T> on_host(const cuda::DeviceArray<T>& x) {
    std::vector<T> values(static_cast<std::size_t>(x.size()));
    x.copy_to(values);
    return values;
}

/// b and x on the device, whose columns begin at guesses other than zero.
template <class T>
struct OnDevice {
    explicit OnDevice(const DenseMatrix<T>& b, const DenseMatrix<T>& guess, bool pair)
        : on_device_b(0, b.values, "test"),
          x(0, guess.values, "test"),
          low(0, pair ? static_cast<std::int64_t>(b.values.size()) : 0, "test"),
          task{on_device_b.data(), x.data(), low.data(), b.columns} {
        low.fill_with_zeros();
    }

    cuda::DeviceArray<T> on_device_b, x, low;
    cuda::SolveTask<T> task;
};

template <class T>
DenseMatrix<T> zeros_like(const DenseMatrix<T>& b) {
    return {b.rows, b.columns, std::vector<T>(b.values.size())};
}

/// What solve finds from the host's vectors and from the device's.
template <class T>
void expect_the_same(const CsrView<T>& a, const DenseMatrix<T>& b, const DenseMatrix<T>& guess, bool pair,
                     const SolveOptions& options) {
    const SpmvPlan<T> plan(a, Device::cuda(0));
    DenseMatrix<T> x = guess, low = zeros_like(b);
    const SolveReport expected = solve(plan, b, x, pair ? &low : nullptr, options);
    const OnDevice<T> there(b, guess, pair);
    const SolveReport found = cuda::solve(plan, there.task, options);
    ASSERT_EQ(found.results.size(), expected.results.size());
    for (std::size_t j = 0; j < found.results.size(); ++j) EXPECT_EQ(difference(found.results[j], expected.results[j]), "");
    EXPECT_EQ(found.attempts.size(), expected.attempts.size());
    EXPECT_EQ(differences<T>(on_host(there.x), x.values), "");
    EXPECT_EQ(differences<T>(on_host(there.low), pair ? low.values : std::vector<T>()), "");
}

SolveOptions exact(double tolerance) {
    return {.iteration = {.accuracy = Accuracy::exact, .tolerance = tolerance, .keep_history = true}};
}

TEST_F(CudaSolve, SettlesSmallRowsAsTheProcessorDoes) {
    const Penalty p = penalty_problem(50, 0x1p40);
    const DenseMatrix<double> b{p.a.rows, 1, p.b};
    DenseMatrix<double> here = zeros_like(b), there = here;
    const SolveReport expected = solve<double>(SpmvPlan<double>(p.a, Device::cpu(2)), b, here, nullptr, exact(1e-10));
    const SolveReport found = solve<double>(SpmvPlan<double>(p.a, Device::cuda(0)), b, there, nullptr, exact(1e-10));
    EXPECT_GT(found.attempts.size(), 1u);
    EXPECT_EQ(difference(found.result(), expected.result()), "");
    EXPECT_EQ(differences<double>(there.values, here.values), "");
    expect_the_same<double>(p.a, b, zeros_like(b), false, exact(1e-10));
}

/// A path of 2000 nodes maps constants to zero; b has a mean.
TEST_F(CudaSolve, SolvesForTheCompatiblePartOfB) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i + 1 < 2000; ++i)
        for (const auto& entry : {Entry<double>{i, i, 1}, {i + 1, i + 1, 1}, {i, i + 1, -1}, {i + 1, i, -1}})
            entries.push_back(entry);
    const auto a = csr_from_entries<double>(2000, 2000, entries);
    DenseMatrix<double> b{a.rows, 2, {}};
    for (int i = 0; i < 4000; ++i) b.values.push_back(i % 7);
    const SolveOptions options = exact(1e-10);
    expect_the_same<double>(a.view(), b, zeros_like(b), false, options);
    DenseMatrix<double> here = zeros_like(b), there = zeros_like(b);
    DenseMatrix<double>* const no_low = nullptr;
    const SolveReport expected = solve(SpmvPlan<double>(a, Device::cpu(2)), b, here, no_low, options);
    const SolveReport found = solve(SpmvPlan<double>(a, Device::cuda(0)), b, there, no_low, options);
    EXPECT_EQ(expected.result().status, SolveStatus::stagnated);
    EXPECT_EQ(found.obstacle, expected.obstacle);
    EXPECT_EQ(difference(found.result(), expected.result()), "");
    EXPECT_EQ(there.values, here.values);
}

// Promise: cuda/solve.hpp, "What is promised, the bits and the errors are those"
// Promise: cuda/solve.hpp, "or none; as for bicgstab"
TEST_F(CudaSolve, HasTheBitsOfTheHostsVectors) {
    for (const char* name : {"poisson2d_60", "convection_diffusion_60", "dc2_like"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<double> a = generated(name);
        const std::vector<double> b = right_hand_side(a.view());
        const DenseMatrix<double> column{a.rows, 1, b};
        DenseMatrix<double> guess = column;
        for (double& element : guess.values) element /= 8;
        expect_the_same<double>(a, column, guess, false, exact(1e-10));
        expect_the_same<double>(a, column, guess, true, exact(1e-12));
        SolveOptions mixed = exact(1e-10);
        mixed.mixed = true;
        expect_the_same<double>(a, column, guess, false, mixed);
    }
}

/// A pair of floats that is written as a double is one on every device, and so is the residual that is told of it.
TEST_F(CudaSolve, TellsTheProcessorsResidualOfPairsOfFloats) {
    for (const char* name : {"convection_diffusion_60", "dc2_like"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<double> in_double = generated(name);
        CsrMatrix<float> a{in_double.rows, in_double.columns, in_double.row_offsets, in_double.column_indices, {}};
        a.values.assign(in_double.values.begin(), in_double.values.end());
        const std::vector<double> right = right_hand_side(in_double.view());
        const DenseMatrix<float> b{a.rows, 1, {right.begin(), right.end()}};
        const DenseMatrix<float> zero = zeros_like(b);
        expect_the_same<float>(a, b, zero, true, exact(1e-10));
        DenseMatrix<float> x = zero, low = zero, x_there = zero, low_there = zero;
        const SolveReport expected = solve(SpmvPlan<float>(a, Device::cpu(2)), b, x, &low, exact(1e-10));
        const SolveReport found = solve(SpmvPlan<float>(a, Device::cuda(0)), b, x_there, &low_there, exact(1e-10));
        EXPECT_EQ(difference(found.results.front(), expected.results.front()), "");
        EXPECT_EQ(differences<float>(low_there.values, low.values), "");
    }
}

/// Two columns, as numbers and with proven bounds of their moduli.
// Promise: cuda/solve.hpp, "Of complex numbers: what solver::solve"
TEST_F(CudaSolve, OfComplexNumbersHasTheBitsOfTheHostsVectors) {
    using C = std::complex<double>;
    const std::int64_t n = 300;
    CsrMatrix<C> a{n, n, {0}, {}, {}};
    for (std::int32_t i = 0; i < n; ++i) {
        for (std::int32_t j = std::max(i - 1, 0); j <= std::min<std::int32_t>(i + 1, n - 1); ++j) {
            a.column_indices.push_back(j);
            a.values.push_back(i == j ? C(4, 1) : C(-1, 0.25 * (i % 3)));
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    DenseMatrix<C> b{n, 2, {}};
    for (std::int64_t k = 0; k < 2 * n; ++k) b.values.emplace_back(k % 7 - 3.0, k % 5 + 0.1);
    const cuda::DeviceCsrMatrix<C> there(0, a.view());
    for (const SpmvPlan<C>& plan : {SpmvPlan<C>(a.view(), Device::cuda(0)), SpmvPlan<C>(there.view())})
        for (const Guarantee guarantee : {Guarantee::none, Guarantee::bound}) {
            SolveOptions options = exact(1e-12);
            options.guarantee = guarantee;
            DenseMatrix<C> x = zeros_like(b), low = zeros_like(b);
            const SolveReport expected = solve(plan, b, x, &low, options);
            const OnDevice<C> on_device(b, zeros_like(b), true);
            const SolveReport found = cuda::solve(plan, on_device.task, options);
            EXPECT_TRUE(on_host(on_device.x) == x.values);
            EXPECT_TRUE(on_host(on_device.low) == low.values);
            ASSERT_EQ(found.proofs.size(), expected.proofs.size());
            for (std::size_t j = 0; j < found.proofs.size(); ++j)
                EXPECT_EQ(found.proofs[j].error_bound, expected.proofs[j].error_bound);
        }
}

/// What solve chooses when it is told nothing, and what comes of it.
void expect_the_processors_default(const CsrView<double>& a, const SolveOptions& options = {}) {
    const std::vector<double> b = right_hand_side(a);
    std::vector<double> expected(b.size()), found(b.size());
    const SolveReport here = solve<double>(SpmvPlan<double>(a, Device::cpu()), b, expected, {}, options);
    const SolveReport there = solve<double>(SpmvPlan<double>(a, Device::cuda()), b, found, {}, options);
    EXPECT_EQ(here.profile, CostProfile::processor);
    EXPECT_EQ(there.profile, CostProfile::processor);
    EXPECT_EQ(difference(there.result(), here.result()), "");
    EXPECT_EQ(differences<double>(found, expected), "");
    ASSERT_EQ(there.attempts.size(), here.attempts.size());
    for (std::size_t i = 0; i < here.attempts.size(); ++i) {
        EXPECT_EQ(there.attempts[i].preconditioner, here.attempts[i].preconditioner);
        EXPECT_EQ(there.attempts[i].method, here.attempts[i].method);
        EXPECT_EQ(there.attempts[i].factor_hash, here.attempts[i].factor_hash);
    }
}

/// In exact, which is the default, nothing need be said for equal bits.
// Promise: solve.hpp, "exact: processor on every device."
// Promise: solve.hpp, "In exact, equal profiles give equal bits"
// Promise: solver.h, ""processor", "gpu", or "auto""
// Promise: reproducibility.md, "`solve`, preconditioner chosen"
TEST_F(CudaSolve, HasTheProcessorsBitsByDefault) {
    for (const char* name : {"poisson2d_100", "poisson2d_300", "poisson3d_40", "convection_diffusion_300", "stencil27_30",
                             "stokes2d_120", "anisotropic_rotated_100", "elasticity2d_40", "dc2_like"}) {
        SCOPED_TRACE(name);
        expect_the_processors_default(generated(name).view());
    }
    expect_the_processors_default(generated("poisson2d_100").view(), {.mixed = true});
    for (const bool mixed : {false, true})
        expect_the_processors_default(with_points_apart<double>(200, 0.01, 7).view(), {.mixed = mixed});
}

/// Of the host's vectors, which wait on the device meanwhile.
TEST_F(CudaSolve, BringsBackWhatItFoundAndNothingWhereItThrows) {
    const CsrMatrix<double> a = generated("poisson2d_60");
    DenseMatrix<double> b{a.rows, 1, right_hand_side(a.view())};
    b.values.resize(static_cast<std::size_t>(2 * a.rows), 1);
    b.columns = 2;
    DenseMatrix<double> guess = zeros_like(b);
    for (std::size_t i = 0; i < guess.values.size(); ++i) guess.values[i] = static_cast<double>(i % 7) - 0.1;
    SolveOptions options = exact(1e-14);
    DenseMatrix<double> here = guess, here_low = zeros_like(b), there = guess, there_low = zeros_like(b);
    solve(SpmvPlan<double>(a, Device::cpu()), b, here, &here_low, options);
    solve(SpmvPlan<double>(a, Device::cuda()), b, there, &there_low, options);
    EXPECT_EQ(differences<double>(there.values, here.values), "");
    EXPECT_EQ(differences<double>(there_low.values, here_low.values), "");
    EXPECT_NE(there_low.values, zeros_like(b).values);

    options.preconditioner = PreconditionerKind::schur;
    there = guess;
    EXPECT_THROW(solve<double>(SpmvPlan<double>(a, Device::cuda()), b, there, nullptr, options), InvalidArgument);
    EXPECT_EQ(there.values, guess.values);
}

TEST_F(CudaSolve, HasTheProcessorsBitsByDefaultOnRealMatrices) {
    for (const char* name : {"memplus", "add20", "epb0", "bcsstk18", "orsreg_1", "sherman5", "west0479"}) {
        const auto a = real_matrix(name);
        if (!a) GTEST_SKIP() << "no real matrices here";
        SCOPED_TRACE(name);
        expect_the_processors_default(a->view());
    }
}

TEST_F(CudaSolve, FollowsTheDeviceWhereBitsAreNotPromised) {
    const CsrMatrix<double> a = generated("poisson2d_60");
    const std::vector<double> b = right_hand_side(a.view());
    for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated}) {
        std::vector<double> x(b.size());
        const SolveOptions options{.iteration = {.accuracy = accuracy}};
        EXPECT_EQ(solve<double>(SpmvPlan<double>(a, Device::cuda()), b, x, {}, options).profile, CostProfile::gpu);
    }
}

// Promise: cuda/solve.hpp, "The columns of B and X, one after another"
TEST_F(CudaSolve, SolvesColumnsOfAllKinds) {
    const CsrMatrix<double> a = generated("convection_diffusion_60");
    const DenseMatrix<double> b = right_hand_sides_of_all_kinds<double>(a.rows, 9);
    expect_the_same<double>(a, b, zeros_like(b), false, exact(1e-9));
    SolveOptions absolute = exact(1e-9);
    absolute.iteration.absolute_tolerance = 1e-3;
    expect_the_same<double>(a, b, zeros_like(b), false, absolute);
    const CsrMatrix<float> single = convert<float>(a.view());
    const DenseMatrix<float> of_floats = right_hand_sides_of_all_kinds<float>(a.rows, 9);
    expect_the_same<float>(single, of_floats, zeros_like(of_floats), true, exact(1e-9));
}

/// Which column each step was of.
std::vector<std::int64_t> columns_of_steps(KrylovMethod method, std::int64_t columns) {
    const CsrMatrix<double> a = generated("poisson2d_30");
    const auto m = make_preconditioner<double>(PreconditionerKind::none, a, Accuracy::exact, Device::cuda());
    const DenseMatrix<double> b{a.rows, columns, random_vector<double>(static_cast<std::size_t>(a.rows * columns), 5)};
    DenseMatrix<double> x = zeros_like(b);
    std::vector<std::int64_t> seen;
    KrylovOptions options = recorded(Accuracy::exact, 12);
    options.callback = [&](const Iteration& iteration) {
        seen.push_back(iteration.column);
        return true;
    };
    krylov_solve<double>(method, SpmvPlan<double>(a, Device::cuda()), *m, b, x, nullptr, options);
    return seen;
}

// Promise: bicgstab.hpp, "On a CUDA device as many advance together as its"
TEST_F(CudaSolve, AdvancesThirtyTwoColumnsTogether) {
    const std::vector<std::int64_t> seen = columns_of_steps(KrylovMethod::bicgstab, 40);
    const auto is_of_the_second = [](std::int64_t column) { return column >= 32; };
    const auto second = std::find_if(seen.begin(), seen.end(), is_of_the_second);
    EXPECT_TRUE(std::all_of(second, seen.end(), is_of_the_second));
    EXPECT_LT(std::distance(std::find(seen.begin(), second, 31), second), 32 * 13);
    EXPECT_GT(std::distance(std::find(seen.begin(), second, 31), std::find(seen.rbegin(), seen.rend(), 0).base()), 0);
}

// Promise: krylov_solve.hpp, "On a CUDA device gmres, minres, idr"
TEST_F(CudaSolve, TakesColumnsOfMethodsWithoutFusedStepsOneAfterAnother) {
    for (const KrylovMethod method :
         {KrylovMethod::gmres, KrylovMethod::minres, KrylovMethod::idr, KrylovMethod::bicgstab2, KrylovMethod::cocg}) {
        const std::vector<std::int64_t> seen = columns_of_steps(method, 3);
        EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end())) << to_string(method);
        EXPECT_EQ(seen.back(), 2);
    }
}

/// Nearly singular factors give an x that is too large: the next attempt begins at the caller's guess again, and the best of
/// all is returned.
// Promise: cuda/solve.hpp, "the initial guess on entry, the best iterate"
TEST_F(CudaSolve, GoesBackToTheGuessAndToTheBest) {
    CsrMatrix<double> a = generated("poisson2d_60");
    for (double& value : a.values) value = value > 0 ? value - 0.00530 : value;  // near the smallest eigenvalue
    const std::vector<double> b(static_cast<std::size_t>(a.rows), 1);
    const DenseMatrix<double> column{a.rows, 1, b};
    for (const double tolerance : {1e-12, 1e-17}) expect_the_same<double>(a, column, column, false, exact(tolerance));
}

TEST_F(CudaSolve, TakesPreconditionersThatAreMade) {
    const CsrMatrix<double> a = generated("poisson2d_60");
    const DenseMatrix<double> b{a.rows, 1, right_hand_side(a.view())};
    const SpmvPlan<double> plan(a, Device::cuda(0));
    const auto m = make_preconditioner<double>(PreconditionerKind::jacobi, a, Accuracy::exact, Device::cuda(0));
    for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::cg}) {
        const OnDevice<double> there(b, zeros_like(b), false);
        const KrylovOptions options = recorded(Accuracy::exact);
        const auto found = method == KrylovMethod::cg ? cuda::cg(plan, *m, there.task, options)
                                                      : cuda::bicgstab(plan, *m, there.task, options);
        const Solve<double> expected = solve_on<double>(Device::cpu(), a, b.values, *m, options, false, method);
        EXPECT_EQ(difference(found.front(), expected.result), "") << to_string(method);
        EXPECT_EQ(differences<double>(on_host(there.x), expected.x), "") << to_string(method);
    }
}

/// Offsets of both widths; preconditioners see the copy in the host's memory.
// Promise: spmv.hpp, "A matrix that lies on a CUDA device"
// Promise: spmv.hpp, "A copy in the host's memory is made when first"
// Promise: spmv.hpp, "In the host's memory."
TEST_F(CudaSolve, TakesMatricesThatLieOnTheDeviceAsTheyAre) {
    const CsrMatrix<double> a = generated("convection_diffusion_60");
    const WithNarrowOffsets<double> narrow(a);
    const DenseMatrix<double> b{a.rows, 1, right_hand_side(a.view())};
    for (const CsrView<double>& view : {a.view(), narrow.view()}) {
        const cuda::DeviceCsrMatrix<double> there(0, view);
        for (const SpmvStorage storage : {SpmvStorage::csr, SpmvStorage::packed}) {
            const SpmvPlan<double> plan(there.view(), SpmvOptions{.storage = storage});
            EXPECT_EQ(plan.on_device()->matrix().values, there.view().values);
            EXPECT_EQ(plan.describe().storage, storage);
            const OnDevice<double> task(b, zeros_like(b), false);
            const SolveReport found = cuda::solve(plan, task.task, exact(1e-12));
            std::vector<double> x(b.values.size());
            const SolveReport expected = solve<double>(SpmvPlan<double>(a, Device::cuda(0)), b.values, x, {}, exact(1e-12));
            EXPECT_EQ(difference(found.results.front(), expected.results.front()), "");
            EXPECT_EQ(differences<double>(on_host(task.x), x), "");
            const CsrView<double>& back = plan.matrix();
            EXPECT_TRUE(std::ranges::equal(back.row_offsets, a.row_offsets));
            EXPECT_TRUE(std::ranges::equal(back.column_indices, a.column_indices));
            EXPECT_TRUE(std::ranges::equal(back.values, a.values));
        }
    }
}

// Promise: spmv.hpp, "Checked there; nothing that writes it"
// Promise: spmv.hpp, "Throws InvalidArgument, and what cuda.hpp says."
// Promise: spmv.hpp, "Not for a dense matrix, nor for one that was given"
TEST_F(CudaSolve, RefusesMatricesOnTheDeviceThatAreNone) {
    const CsrMatrix<double> a = generated("poisson2d_4");
    const cuda::DeviceCsrMatrix<double> there(0, a);
    cuda::DeviceCsrView<double> narrower = there.view();
    narrower.columns = 15;
    EXPECT_THROW(SpmvPlan<double>{narrower}, InvalidArgument);
    SpmvPlan<double> plan(there.view());
    EXPECT_THAT([&] { plan.update_values(a.values); },
                ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr("change it there and make a new plan")));
}

/// The right-hand side is still being made when solve is called.
// Promise: cuda/solve.hpp, "Wait until what is on the stream is done"
// Promise: solver_cuda.h, "Waits until what is on the stream is done"
TEST_F(CudaSolve, WaitsForTheCallersStream) {
    const CsrMatrix<double> a = generated("poisson2d_60");
    const std::vector<double> ones(static_cast<std::size_t>(a.rows), 1);
    const cuda::OwnedStream stream(0);
    const cuda::DeviceCsrMatrix<double> matrix(0, a);
    const cuda::SpmvPlan<double> product(matrix.view(), SpmvKernel::automatic);
    cuda::DeviceArray<double> x(0, ones, "test"), b(0, a.rows, "test");
    b.fill_with_zeros();
    cuda::synchronize(0, nullptr);
    for (int i = 0; i < 2000; ++i) product.multiply({.x = x.data(), .y = b.data()}, Accuracy::exact, stream.get());
    const SpmvPlan<double> plan(a, Device::cuda(0));
    const cuda::DeviceArray<double> found(0, a.rows, "test");
    found.fill_with_zeros();
    cuda::synchronize(0, nullptr);
    const SolveReport report = cuda::solve<double>(plan, {b.data(), found.data()}, exact(1e-10), stream.get());
    EXPECT_GT(report.result().iterations, 0);  // a right-hand side of zeros needs none
    EXPECT_EQ(report.result().status, SolveStatus::converged);
}

// Promise: cuda/solve.hpp, "Throw InvalidArgument where the plan was not made"
TEST(CudaSolveRefuses, PlansOfTheProcessor) {
    const CsrMatrix<double> a = generated("poisson2d_4");
    const SpmvPlan<double> plan(a, Device::cpu());
    std::vector<double> x(16);
    EXPECT_THAT(
        [&] {
            cuda::solve<double>(plan, {x.data(), x.data()});
        },
        ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr("solve: the vectors lie on a CUDA device")));
    const auto m = make_preconditioner<double>(PreconditionerKind::none, a, Accuracy::exact);
    EXPECT_THAT(
        [&] {
            cuda::bicgstab<double>(plan, *m, {x.data(), x.data()});
        },
        ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr("bicgstab: the vectors lie")));
}

// Promise: cuda/solve.hpp, "Throw InvalidArgument where the plan was not made"
TEST_F(CudaSolve, RefusesWhatIsNotThere) {
    const CsrMatrix<double> a = generated("poisson2d_4");
    const SpmvPlan<double> plan(a, Device::cuda(0));
    const cuda::DeviceArray<double> x(0, 16, "test");
    EXPECT_THAT(
        [&] {
            cuda::solve<double>(plan, {nullptr, x.data()});
        },
        ::testing::ThrowsMessage<InvalidArgument>("solve: b is null; expected 16 elements in the memory of cuda:0"));
    EXPECT_THAT(
        [&] {
            cuda::solve<double>(plan, {x.data(), nullptr});
        },
        ::testing::ThrowsMessage<InvalidArgument>("solve: x is null; expected 16 elements in the memory of cuda:0"));
    EXPECT_THROW(cuda::solve<double>(plan, {x.data(), x.data(), nullptr, -1}), InvalidArgument);
    const cuda::DeviceArray<double> columns(0, 48, "test");
    EXPECT_THAT(
        [&] {
            cuda::solve<double>(plan, {columns.data(), columns.data() + 16, nullptr, 2});
        },
        ::testing::ThrowsMessage<InvalidArgument>(::testing::HasSubstr("solve: x overlaps b in memory")));
}

}  // namespace
}  // namespace solver
