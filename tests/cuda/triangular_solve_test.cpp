#include "kernels/triangular.hpp"

#include "matrices/generators.hpp"
#include "preconditioner/ilu0.hpp"
#include "solver/complex.hpp"
#include "solver/cuda/memory.hpp"

#include <gtest/gtest.h>

#include "support/on_cuda.hpp"
#include "support/triangles.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <vector>

namespace solver {
namespace {

using testing::adversarial_system;
using testing::broken_promises;
using testing::nan_value;
using testing::Random;
using testing::random_rows;
using testing::random_vector;
using testing::Span;
using testing::Terms;
using testing::TriangularRows;
using testing::wide_rows;

template <class T>
class CudaTriangularSolve : public testing::OnCuda {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaTriangularSolve, ValueTypes);

template <class T>
std::vector<T> host_copy(const cuda::DeviceArray<T>& array) {
    std::vector<T> copy(static_cast<std::size_t>(array.size()));
    array.copy_to(copy);
    return copy;
}

/// By a plan, or by what it is made of.
template <class T, class Plan>
std::vector<T> solved(const Plan& plan, Span<T> b, Accuracy accuracy) {
    const cuda::DeviceArray<T> on_device_b(0, b, "test");
    const cuda::DeviceArray<T> x(0, std::vector<T>(b.size(), nan_value<T>), "test");
    plan.solve(on_device_b.data(), x.data(), accuracy);
    return host_copy(x);
}

template <class T>
std::vector<T> solved_in_place(const cuda::TriangularSolvePlan<T>& plan, Span<T> b, Accuracy accuracy) {
    const cuda::DeviceArray<T> x(0, b, "test");
    plan.solve(x.data(), x.data(), accuracy);
    return host_copy(x);
}

/// The CPU's bits in exact, and in every mode the same bits each time.
template <class T>
void expect_bits_of_cpu(const CsrMatrix<T>& a, Triangle triangle, Diagonal diagonal, Span<T> b) {
    std::vector<T> expected(b.size());
    TriangularSolvePlan<T>(a, triangle, diagonal, Device::cpu()).solve(b, expected, Accuracy::exact);
    const cuda::TriangularSolvePlan<T> plan(0, a, triangle, diagonal);
    EXPECT_EQ(testing::differences<T>(solved(plan, b, Accuracy::exact), expected), "");
    std::vector<T> on_host(b.begin(), b.end());
    TriangularSolvePlan<T>(a, triangle, diagonal, Device::cuda()).solve(on_host, on_host, Accuracy::exact);
    EXPECT_EQ(testing::differences<T>(on_host, expected), "") << "vectors of the host";
    for (const Accuracy accuracy : all_accuracies) {
        const std::vector<T> first = solved(plan, b, accuracy);
        EXPECT_EQ(testing::differences<T>(solved(plan, b, accuracy), first), "") << "again, " << to_string(accuracy);
        EXPECT_EQ(testing::differences<T>(solved_in_place(plan, b, accuracy), first), "") << "in place";
    }
}

template <class T>
void expect_solved(const TriangularRows<T>& a, Diagonal diagonal, Span<T> b) {
    SCOPED_TRACE(::testing::Message() << (a.triangle == Triangle::lower ? "lower" : "upper")
                                      << (diagonal == Diagonal::unit ? ", unit" : ""));
    const CsrMatrix<T> csr = a.csr(diagonal);
    expect_bits_of_cpu(csr, a.triangle, diagonal, b);
    const cuda::TriangularSolvePlan<T> plan(0, csr, a.triangle, diagonal);
    for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated})
        EXPECT_EQ(broken_promises<T>(a, diagonal, b, solved(plan, b, accuracy), accuracy), "");
}

/// Lower and, by reversal, upper; stored and unit.
template <class T>
void expect_all_solved(const TriangularRows<T>& a, Span<T> b) {
    const TriangularRows<T> upper = a.reversed();
    const std::vector<T> upper_b(b.rbegin(), b.rend());
    for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit}) {
        expect_solved(a, diagonal, b);
        expect_solved<T>(upper, diagonal, upper_b);
    }
}

// Promise: cuda/triangular_solve.hpp, "The promises are those of solver::TriangularSolvePlan"
// Promise: cuda/triangular_solve.hpp, "Solves A x = b."
TYPED_TEST(CudaTriangularSolve, KeepsItsPromisesForAnyNumberOfRows) {
    using T = TypeParam;
    Random random(1);
    for (const std::int64_t n : {0, 1, 2, 3, 31, 33, 65, 120}) {
        SCOPED_TRACE(n);
        expect_all_solved<T>(random_rows<T>(random, n, n), random_vector<T>(random, n));
    }
}

TYPED_TEST(CudaTriangularSolve, KeepsItsPromisesForRowsOfAllLengths) {
    using T = TypeParam;
    Random random(2);
    expect_all_solved<T>(random_rows<T>(random, 900, 70), random_vector<T>(random, 900));
    expect_all_solved<T>(random_rows<T>(random, 9000, 5), random_vector<T>(random, 9000));
}

TYPED_TEST(CudaTriangularSolve, KeepsItsPromisesForRowsThatAreSplit) {
    using T = TypeParam;
    Random random(3);
    TriangularRows<T> a = random_rows<T>(random, 5000, 2);
    for (const std::int64_t i : {300, 1025, 2047, 2049, 4097, 4999}) {
        a.beside[i].clear();
        for (std::int32_t j = 0; j < i; ++j) a.beside[i].emplace_back(j, random.number<T>(-12));
    }
    expect_all_solved<T>(a, random_vector<T>(random, 5000));
}

template <class T>
Span<T> parts_of(const std::vector<std::complex<T>>& z) {
    return real_view(std::span<const std::complex<T>>(z));
}

/// By vectors on the device; b where it lies, if in place.
template <class T>
std::vector<std::complex<T>> complex_solved(const cuda::TriangularSolvePlan<std::complex<T>>& plan,
                                            const std::vector<std::complex<T>>& b, Accuracy accuracy, bool in_place) {
    using C = std::complex<T>;
    const cuda::DeviceArray<C> on_device_b(0, b, "test"), other(0, std::vector<C>(b.size(), C(7, 7)), "test");
    const cuda::DeviceArray<C>& x = in_place ? on_device_b : other;
    plan.solve(on_device_b.data(), x.data(), accuracy);
    return host_copy(x);
}

/// The processor's bits in exact, and in every mode the same bits each time, in place too, and for vectors of the host.
template <class T>
void expect_complex_bits_of_cpu(const TriangularRows<T>& a, Diagonal diagonal, Random& random) {
    using C = std::complex<T>;
    const CsrMatrix<T> real = a.csr(diagonal);
    CsrMatrix<C> csr{real.rows, real.columns, real.row_offsets, real.column_indices, {}};
    for (const T value : real.values) csr.values.emplace_back(value, random.coin() ? value / 3 : T(0));
    std::vector<C> b;
    for (std::int64_t i = 0; i < a.size(); ++i) b.emplace_back(random.number<T>(0), random.number<T>(0));
    const auto by_host = [&](const Device& device, Accuracy accuracy) {
        std::vector<C> x = b;
        TriangularSolvePlan<C>(csr.view(), a.triangle, diagonal, device).solve(x, x, accuracy);
        return x;
    };
    const auto expect_same = [](const std::vector<C>& found, const std::vector<C>& expected, const char* what) {
        EXPECT_EQ(testing::differences<T>(parts_of(found), parts_of(expected)), "") << what;
    };
    const cuda::TriangularSolvePlan<C> plan(0, csr.view(), a.triangle, diagonal);
    for (const Accuracy accuracy : all_accuracies) {
        SCOPED_TRACE(to_string(accuracy));
        const std::vector<C> x = complex_solved(plan, b, accuracy, false);
        expect_same(complex_solved(plan, b, accuracy, false), x, "again");
        expect_same(complex_solved(plan, b, accuracy, true), x, "in place");
        expect_same(by_host(Device::cuda(), accuracy), x, "vectors of the host");
        if (accuracy == Accuracy::exact) expect_same(x, by_host(Device::cpu(), accuracy), "processor");
    }
}

// Promise: complex.hpp, "The bits do not depend on the number of threads"
// Promise: cuda/triangular_solve.hpp, "T is float, double or std::complex of one."
TYPED_TEST(CudaTriangularSolve, OfComplexNumbersHasTheBitsOfTheProcessor) {
    using T = TypeParam;
    Random random(12);
    TriangularRows<T> split = random_rows<T>(random, 5000, 2);
    for (const std::int64_t i : {300, 1025, 2049, 4999}) {
        split.beside[i].clear();
        for (std::int32_t j = 0; j < i; ++j) split.beside[i].emplace_back(j, random.number<T>(-12));
    }
    for (const TriangularRows<T>& a :
         {random_rows<T>(random, 0, 1), random_rows<T>(random, 1, 1), random_rows<T>(random, 33, 33),
          random_rows<T>(random, 900, 70), random_rows<T>(random, 9000, 5), wide_rows<T>(random, 30'000, 9000, 70), split})
        for (const bool upper : {false, true})
            for (const Diagonal diagonal : {Diagonal::stored, Diagonal::unit}) {
                SCOPED_TRACE(::testing::Message()
                             << a.size() << (upper ? ", upper" : ", lower") << (diagonal == Diagonal::unit ? ", unit" : ""));
                expect_complex_bits_of_cpu<T>(upper ? a.reversed() : a, diagonal, random);
            }
}

// Promise: cuda/triangular_solve.hpp, "Throws InvalidArgument from 2^29 complex rows on"
TYPED_TEST(CudaTriangularSolve, OfComplexNumbersCountsRowsIn32Bits) {
    using C = std::complex<TypeParam>;
    CsrView<C> large;
    large.rows = large.columns = std::int64_t{1} << 29;
    EXPECT_THROW((cuda::TriangularSolvePlan<C>(0, large, Triangle::lower, Diagonal::unit)), InvalidArgument);
}

TYPED_TEST(CudaTriangularSolve, KeepsItsPromisesForWideLevels) {
    using T = TypeParam;
    Random random(10);
    for (const std::int64_t width : {16, 700, 9000}) {
        SCOPED_TRACE(width);
        const std::int64_t n = 3 * width + random.between(1, width);
        expect_all_solved<T>(wide_rows<T>(random, n, width, 8), random_vector<T>(random, n));
        expect_all_solved<T>(wide_rows<T>(random, n, width, 70), random_vector<T>(random, n));
    }
}

TYPED_TEST(CudaTriangularSolve, KeepsItsPromisesForAChainOfAllRows) {
    using T = TypeParam;
    Random random(14);
    TriangularRows<T> a;
    for (std::int32_t i = 0; i < 20'000; ++i) {
        a.beside.emplace_back();
        if (i > 0) a.beside.back().emplace_back(i - 1, random.number<T>(0));
        a.pivot.push_back(random.number<T>(1));
    }
    expect_all_solved<T>(a, random_vector<T>(random, a.size()));
}

TYPED_TEST(CudaTriangularSolve, GivesTheBitsOfTheCpuForADenseLastRow) {
    using T = TypeParam;
    Random random(15);
    TriangularRows<T> a = wide_rows<T>(random, 100'000, 50'000, 3);
    a.beside.emplace_back();
    for (std::int32_t j = 0; j < 100'000; ++j) a.beside.back().emplace_back(j, random.number<T>(-12));
    a.pivot.push_back(T(3));
    const std::vector<T> b = random_vector<T>(random, a.size());
    expect_bits_of_cpu<T>(a.csr(Diagonal::stored), Triangle::lower, Diagonal::stored, b);
    expect_bits_of_cpu<T>(a.reversed().csr(Diagonal::stored), Triangle::upper, Diagonal::stored, b);
}

TYPED_TEST(CudaTriangularSolve, RoundsAdversarialRowsOnceAndDividesThem) {
    using T = TypeParam;
    Random random(4);
    std::vector<Terms<T>> sums;
    for (const auto& made : testing::adversarial_classes<T>())
        for (int trial = 0; trial < 40; ++trial)
            sums.push_back(made.make(random, static_cast<std::size_t>(random.between(8, trial < 30 ? 60 : 300))));
    for (const auto& made : testing::adversarial_classes<T>()) sums.push_back(made.make(random, 3000));
    const auto [a, b] = adversarial_system(random, sums);
    expect_all_solved<T>(a, b);
}

/// Which are solved by blocks from 256 rows on: blocks that end within their last warp and with it, rows that no filter
/// decides.
TYPED_TEST(CudaTriangularSolve, KeepsItsPromisesForFullTriangles) {
    using T = TypeParam;
    Random random(20);
    for (const std::int64_t n : {255, 256, 257, 288, 320, 351, 700}) {
        SCOPED_TRACE(n);
        expect_all_solved<T>(random_rows<T>(random, n, n).filled(), random_vector<T>(random, n));
    }
    TriangularRows<T> a = random_rows<T>(random, 1100, 0);
    for (std::int32_t i = 0; i < 1100; ++i)
        for (std::int32_t j = 0; j < i; ++j) a.beside[i].emplace_back(j, random.number<T>(-12));
    expect_all_solved<T>(a, random_vector<T>(random, 1100));
    for (int trial = 0; trial < 12; ++trial) {
        std::vector<Terms<T>> sums;
        for (const auto& made : testing::adversarial_classes<T>())
            sums.push_back(made.make(random, static_cast<std::size_t>(random.between(8, 70))));
        auto [adversarial, b] = adversarial_system(random, sums);
        ASSERT_GE(adversarial.size(), 256);
        adversarial.pivot.assign(b.size(), T(1));  // a quotient that overflows makes NaNs of all that follow
        expect_all_solved<T>(adversarial.filled(), b);
    }
}

TYPED_TEST(CudaTriangularSolve, PassesInfAndNanOnInFullTriangles) {
    using T = TypeParam;
    Random random(21);
    for (const T special : {std::numeric_limits<T>::infinity(), std::copysign(nan_value<T>, T(-1))}) {
        const TriangularRows<T> a = random_rows<T>(random, 400, 9).filled();
        std::vector<T> b = random_vector<T>(random, 400);
        b[300] = special;
        expect_all_solved<T>(a, b);
    }
}

TYPED_TEST(CudaTriangularSolve, PassesInfAndNanOnToTheRowsThatDependOnThemAlone) {
    using T = TypeParam;
    Random random(6);
    for (const T special : {std::numeric_limits<T>::infinity(), std::copysign(nan_value<T>, T(-1))}) {
        TriangularRows<T> a = random_rows<T>(random, 3000, 40);
        std::vector<T> b = random_vector<T>(random, 3000);
        b[150] = special;
        b[2000] = special;
        a.beside[60].back().second = special;
        expect_all_solved<T>(a, b);
    }
}

TYPED_TEST(CudaTriangularSolve, DoesNotHangOnTheNanThatMarksWhatIsNotSolved) {
    using T = TypeParam;
    Random random(16);
    const TriangularRows<T> a = random_rows<T>(random, 500, 4);
    std::vector<T> b = random_vector<T>(random, 500);
    std::memset(b.data(), 0xFF, 100 * sizeof(T));
    const CsrMatrix<T> csr = a.csr(Diagonal::stored);
    const cuda::TriangularSolvePlan<T> plan(0, csr, Triangle::lower, Diagonal::stored);
    for (const Accuracy accuracy : all_accuracies)
        EXPECT_TRUE(testing::same_bits(solved<T>(plan, b, accuracy)[0], nan_value<T>));
    expect_bits_of_cpu<T>(csr, Triangle::lower, Diagonal::stored, b);
}

TYPED_TEST(CudaTriangularSolve, OfPlansOfDifferentSizesSolvesWithEach) {
    using T = TypeParam;
    Random random(19);
    const TriangularRows<T> rows[] = {wide_rows<T>(random, 1'500'000, 700'000, 2), random_rows<T>(random, 100, 5)};
    const CsrMatrix<T> matrices[] = {rows[0].csr(Diagonal::stored), rows[1].csr(Diagonal::stored)};
    const std::vector<T> b[] = {random_vector<T>(random, rows[0].size()), random_vector<T>(random, rows[1].size())};
    const cuda::TriangularSolvePlan<T> plans[] = {{0, matrices[0], Triangle::lower, Diagonal::stored},
                                                  {0, matrices[1], Triangle::lower, Diagonal::stored}};
    for (const int i : {0, 1, 0}) {
        std::vector<T> right(b[i].size());
        TriangularSolvePlan<T>(matrices[i], Triangle::lower, Diagonal::stored, Device::cpu())
            .solve(b[i], right, Accuracy::exact);
        EXPECT_EQ(testing::differences<T>(solved<T>(plans[i], b[i], Accuracy::exact), right), "");
    }
}

template <class T>
void expect_closed_and_open(const TriangularRows<T>& a, const std::vector<T>& b) {
    const CsrMatrix<T> csr = a.csr(Diagonal::stored);
    const cuda::TriangularSystem<T> system(0, csr, Triangle::lower, Diagonal::stored);
    const cuda::DeviceArray<std::int32_t> stage(0, std::vector<std::int32_t>{3}, "test");
    const cuda::DeviceArray<T> x(0, b, "test");
    const std::vector<T> right = solved<T>(system, b, Accuracy::exact);
    for (int i = 0; i < 3; ++i) {
        system.solve(x.data(), x.data(), Accuracy::exact, nullptr, {stage.data(), ~(1u << 3)});
        EXPECT_EQ(testing::differences<T>(host_copy(x), b), "") << "closed";
        EXPECT_EQ(testing::differences<T>(solved<T>(system, b, Accuracy::exact), right), "") << "after it was closed";
    }
    system.solve(x.data(), x.data(), Accuracy::exact, nullptr, {stage.data(), 1u << 3});
    EXPECT_EQ(testing::differences<T>(host_copy(x), right), "") << "open";
}

TYPED_TEST(CudaTriangularSolve, DoesNothingWhereItsGateIsClosed) {
    using T = TypeParam;
    Random random(17);
    for (const TriangularRows<T>& a : {random_rows<T>(random, 5000, 6), random_rows<T>(random, 300, 6).filled()})
        expect_closed_and_open<T>(a, random_vector<T>(random, a.size()));
}

TYPED_TEST(CudaTriangularSolve, GivesTheBitsOfTheCpuForFactorsOfGeneratedMatrices) {
    using T = TypeParam;
    Random random(18);
    for (const char* name : {"stencil27_30", "poisson2d_300", "poisson3d_40", "convection_diffusion_200", "dc2_like"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<T> a = convert<T, double>(matrices::find_generator(name).value().make());
        const IluFactors<T> factors = factor_ilu0<T>(a, Accuracy::fast);
        const std::vector<T> b = random_vector<T>(random, a.rows);
        expect_bits_of_cpu<T>(factors.lower, Triangle::lower, Diagonal::unit, b);
        expect_bits_of_cpu<T>(factors.upper, Triangle::upper, Diagonal::stored, b);
    }
}

}  // namespace
}  // namespace solver
