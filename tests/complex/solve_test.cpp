#include "matrices/generators.hpp"
#include "solver/complex.hpp"
#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/complex_numbers.hpp"
#include "support/devices.hpp"
#include "support/floating_point_environment.hpp"

#include <Eigen/LU>

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace solver {
namespace {

using Complex = std::complex<double>;
using ::testing::AllOf;
using testing::complex_vector;
using testing::cuda_devices;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Random;

CsrMatrix<Complex> made(const std::string& name) { return matrices::find_generator(name).value().make_complex(); }

struct Solved {
    SolveReport report;
    std::vector<Complex> x;
};

Solved solved(const CsrMatrix<Complex>& a, const std::vector<Complex>& b, const Device& device = Device::cpu(1),
              const SolveOptions& options = {}) {
    const SpmvPlan<Complex> plan(a.view(), device);
    std::vector<Complex> x(b.size());
    SolveReport report = solve<Complex>(plan, b, x, {}, options);
    return {std::move(report), std::move(x)};
}

double true_residual(const CsrMatrix<Complex>& a, const std::vector<Complex>& b, const std::vector<Complex>& x) {
    std::vector<Complex> r(b.size());
    SpmvPlan<Complex>(a.view(), Device::cpu(1)).residual(b, x, {}, r, Accuracy::exact);
    return norm2(std::span<const Complex>(r), Accuracy::exact) / norm2(std::span<const Complex>(b), Accuracy::exact);
}

SolveOptions by(KrylovMethod method, PreconditionerKind kind = PreconditionerKind::none) {
    SolveOptions options{.preconditioner = kind, .method = method};
    options.iteration.keep_history = true;
    return options;
}

constexpr std::array methods_with_complex_scalars{KrylovMethod::bicgstab, KrylovMethod::gmres, KrylovMethod::idr,
                                                  KrylovMethod::bicgstab2};

std::vector<double> residuals(const Solved& found) {
    std::vector<double> all;
    for (const Iteration& step : found.report.result().history) all.push_back(step.recursive_residual);
    return all;
}

// Promise: complex.hpp, "Solves A x = b for complex numbers:"
TEST(ComplexSolve, SolvesEveryFamily) {
    Random random(1);
    for (const char* name : {"helmholtz_30", "power_network_500", "wilson_2_4_0.15"}) {
        SCOPED_TRACE(name);
        const auto a = made(name);
        const auto b = complex_vector<double>(random, a.rows);
        const Solved found = solved(a, b);
        EXPECT_EQ(found.report.result().status, SolveStatus::converged);
        EXPECT_LE(true_residual(a, b, found.x), 1e-10);
    }
}

TEST(ComplexSolve, AgreesWithEigen) {
    Random random(2);
    const auto a = made("helmholtz_6");
    const auto b = complex_vector<double>(random, a.rows);
    Eigen::MatrixXcd dense = Eigen::MatrixXcd::Zero(a.rows, a.columns);
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) dense(i, a.column_indices[k]) = a.values[k];
    const Eigen::VectorXcd expected = dense.fullPivLu().solve(Eigen::Map<const Eigen::VectorXcd>(b.data(), a.rows));
    const Solved found = solved(a, b);
    const double size = expected.cwiseAbs().maxCoeff();
    for (std::int64_t i = 0; i < a.rows; ++i) EXPECT_LE(std::abs(found.x[i] - expected[i]), 1e-8 * size);
}

TEST(ComplexSolve, HasTheSameBitsForAnyNumberOfThreadsAndOnADevice) {
    Random random(3);
    std::vector<Device> devices{Device::cpu(3)};
    for (const Device& device : cuda_devices()) devices.push_back(device);
    std::vector<SolveOptions> ways{{}};
    for (const KrylovMethod method : methods_with_complex_scalars) ways.push_back(by(method, PreconditionerKind::jacobi));
    ways.push_back(by(KrylovMethod::cocg, PreconditionerKind::jacobi));
    for (const char* name : {"helmholtz_20", "wilson_2_4_0.15"})
        for (const SolveOptions& options : ways) {
            const auto a = made(name);
            const auto b = complex_vector<double>(random, a.rows);
            const Solved expected = solved(a, b, Device::cpu(1), options);
            for (const Device& device : devices) {
                const Solved found = solved(a, b, device, options);
                EXPECT_EQ(found.x, expected.x) << name << " on " << to_string(device);
                EXPECT_EQ(residuals(found), residuals(expected));
            }
        }
}

Solved solved_times_i(CsrMatrix<Complex> a, std::vector<Complex> b, const SolveOptions& options) {
    for (auto* const numbers : {&a.values, &b})
        for (Complex& z : *numbers) z = {-z.imag(), z.real()};
    return solved(a, b, Device::cpu(1), options);
}

// Promise: complex.hpp, "Multiplying A and b by i"
/// Methods with complex scalars take the same steps for i A and i b, but for the order of roundings; those with real scalars
/// see another spectrum, and take others.
TEST(ComplexSolve, TakesTheSameStepsForMatricesTimesI) {
    Random random(6);
    constexpr std::size_t compared = 12;  // roundings have not grown yet
    for (const char* name : {"helmholtz_10", "wilson_2_2_0.15"})
        for (const KrylovMethod method : methods_with_complex_scalars) {
            SCOPED_TRACE(std::string(name) + " by " + std::string(to_string(method)));
            const auto a = made(name);
            const auto b = complex_vector<double>(random, a.rows);
            const std::vector<double> expected = residuals(solved(a, b, Device::cpu(1), by(method)));
            const std::vector<double> turned = residuals(solved_times_i(a, b, by(method)));
            ASSERT_GE(std::min(expected.size(), turned.size()), compared);
            for (std::size_t k = 0; k < compared; ++k) EXPECT_NEAR(turned[k], expected[k], 1e-9 * expected[k]) << k;
        }
}

/// Where A and b are real nothing is rounded in another order.
TEST(ComplexSolve, HasTheSameBitsForRealMatricesTimesI) {
    const auto a = convert<Complex>(CsrView<double>(matrices::find_generator("convection_diffusion_12").value().make()));
    const std::vector<Complex> b(144, 1);
    for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::gmres}) {
        const Solved expected = solved(a, b, Device::cpu(1), by(method)), turned = solved_times_i(a, b, by(method));
        EXPECT_EQ(expected.report.result().status, SolveStatus::converged);
        EXPECT_EQ(turned.x, expected.x);
        EXPECT_EQ(residuals(turned), residuals(expected));
    }
}

/// As many steps as unknowns suffice, complex ones: real scalars need twice as many.
// Promise: krylov.hpp, "Elements are real and imaginary parts in turn"
TEST(ComplexSolve, EndsAfterAsManyStepsOfGmresAsThereAreUnknowns) {
    Random random(7);
    constexpr std::int64_t n = 14;
    std::vector<Entry<Complex>> entries;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j) entries.push_back({i, j, testing::complex_number<double>(random, 0)});
    const auto a = csr_from_entries<Complex>(n, n, entries);
    const Solved found = solved(a, complex_vector<double>(random, n), Device::cpu(1), by(KrylovMethod::gmres));
    EXPECT_EQ(found.report.result().status, SolveStatus::converged);
    EXPECT_LE(found.report.result().iterations, n);
}

/// Sound with absorption: the eigenvalues lie on one side of the real axis and around 0, those of the real form on both.
// Promise: complex.hpp, "`solve` of solve.hpp for the real system"
// Promise: krylov.hpp, "Elements are real and imaginary parts in turn"
TEST(ComplexSolve, NeedsComplexScalarsForHelmholtz) {
    Random random(8);
    const auto a = made("helmholtz_40");
    const auto b = complex_vector<double>(random, a.rows);
    for (const KrylovMethod method : methods_with_complex_scalars) {
        SolveOptions options = by(method);
        options.iteration.max_iterations = 1500;
        options.iteration.restart = 100;
        EXPECT_EQ(solved(a, b, Device::cpu(1), options).report.result().status, SolveStatus::converged) << to_string(method);
        std::vector<Complex> x(b.size());
        const SpmvPlan<Complex> plan(a.view(), Device::cpu(1));
        const SolveReport real =
            solve<double>(plan.real(), real_view(std::span<const Complex>(b)), real_view(std::span<Complex>(x)), {}, options);
        EXPECT_NE(real.result().status, SolveStatus::converged) << to_string(method);
    }
}

// Promise: krylov.hpp, "Elements are real and imaginary parts in turn"
TEST(ComplexSolve, RefusesComplexScalarsOfAnOddOrder) {
    const CsrMatrix<double> a{1, 1, {0, 1}, {0}, {2}};
    const SpmvPlan<double> plan(a.view(), Device::cpu(1));
    const std::vector<double> b(1, 1.0);
    std::vector<double> x(1);
    SolveOptions options = by(KrylovMethod::bicgstab);
    options.iteration.complex_scalars = true;
    EXPECT_THROW(solve<double>(plan, b, x, {}, options), InvalidArgument);
}

// Promise: complex.hpp, "Preconditioners are made of the real form, but jacobi"
/// Then M^-1 A is the identity; by the real parts it would not be.
TEST(ComplexSolve, TakesOneStepForDiagonalMatricesByJacobi) {
    Random random(9);
    std::vector<Entry<Complex>> entries;
    for (std::int32_t i = 0; i < 60; ++i) entries.push_back({i, i, Complex(random.number<double>(), random.number<double>(3))});
    const auto a = csr_from_entries<Complex>(60, 60, entries);
    const auto b = complex_vector<double>(random, 60);
    for (const KrylovMethod method : methods_with_complex_scalars)
        for (const bool mixed : {false, true}) {
            SolveOptions options = by(method, PreconditionerKind::jacobi);
            options.mixed = mixed;
            const Solved found = solved(a, b, Device::cpu(1), options);
            EXPECT_EQ(found.report.result().status, SolveStatus::converged) << to_string(method);
            if (!mixed) {
                EXPECT_EQ(found.report.result().iterations, 1) << to_string(method);
            }
        }
}

// Promise: preconditioner.hpp, "`solve` sets it where KrylovOptions::complex_scalars"
/// Jacobi's M is not Hermitian here, so that minres refuses all that the automatic choice has.
TEST(ComplexSolve, ClaimsNothingWhereEveryPreconditionerIsRefused) {
    Random random(11);
    std::vector<Entry<Complex>> entries;
    for (std::int32_t i = 0; i < 60; ++i) {
        entries.push_back({i, i, Complex(random.number<double>(1), random.number<double>(1))});
        entries.push_back({i, (i + 7) % 60, Complex(random.number<double>(), 0)});
    }
    const auto a = csr_from_entries<Complex>(60, 60, entries);
    const auto b = complex_vector<double>(random, 60);
    SolveOptions options = by(KrylovMethod::minres);
    options.preconditioner.reset();
    const Solved found = solved(a, b, Device::cpu(1), options);
    EXPECT_NE(found.report.result().status, SolveStatus::converged);
    EXPECT_GT(found.report.result().relative_residual, 0.1);
    EXPECT_EQ(found.report.attempts.back().preconditioner, PreconditionerKind::none);
}

TEST(ComplexSolve, DividesByTheComplexDiagonalOfDenseMatricesToo) {
    Random random(10);
    const auto a = made("power_network_20");
    const auto b = complex_vector<double>(random, a.rows);
    const SolveOptions options = by(KrylovMethod::bicgstab, PreconditionerKind::jacobi);
    const Solved sparse = solved(a, b, Device::cpu(1), options);
    const CsrMatrix<double> parts = real_form(a.view());
    std::vector<double> elements(static_cast<std::size_t>(parts.rows * parts.columns));
    for (std::int64_t i = 0; i < parts.rows; ++i)
        for (std::int64_t k = parts.row_offsets[i]; k < parts.row_offsets[i + 1]; ++k)
            elements[i * parts.columns + parts.column_indices[k]] = parts.values[k];
    const SpmvPlan<double> dense(DenseView<double>{parts.rows, parts.columns, parts.columns, 1, elements.data()},
                                 Device::cpu(1));
    SolveOptions with_complex_scalars = options;
    with_complex_scalars.iteration.complex_scalars = true;
    std::vector<Complex> x(b.size());
    solve<double>(dense, real_view(std::span<const Complex>(b)), real_view(std::span<Complex>(x)), {}, with_complex_scalars);
    EXPECT_EQ(x, sparse.x);
}

// Promise: krylov.hpp, "Those of cg and minres, for Hermitian A, are real"
// Promise: complex.hpp, "K is symmetric where A is Hermitian"
TEST(ComplexSolve, TakesConjugateGradientsForHermitianMatrices) {
    std::vector<Entry<Complex>> entries;
    constexpr std::int32_t n = 50;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, 3});
        if (i + 1 < n) entries.insert(entries.end(), {{i, i + 1, Complex(0, 1)}, {i + 1, i, Complex(0, -1)}});
    }
    const auto a = csr_from_entries<Complex>(n, n, entries);
    const Solved found =
        solved(a, std::vector<Complex>(n, Complex(1, 2)), Device::cpu(1), {.preconditioner = PreconditionerKind::jacobi});
    EXPECT_EQ(found.report.attempts.back().method, KrylovMethod::cg);
    EXPECT_EQ(found.report.result().status, SolveStatus::converged);
}

// Promise: complex.hpp, "Multiplying A and b by i"
TEST(ComplexSolve, OfRealNumbersIsTheRealOne) {
    const CsrMatrix<double> real = matrices::find_generator("convection_diffusion_20").value().make();
    const auto a = convert<Complex>(CsrView<double>(real));
    const std::vector<double> b(400, 1.0);
    for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::gmres}) {  // idr draws complex shadow vectors
        const SolveOptions options = by(method, PreconditionerKind::jacobi);
        std::vector<double> x(400);
        const SolveReport report = solve<double>(SpmvPlan<double>(real.view(), Device::cpu(1)), b, x, {}, options);
        const Solved found = solved(a, std::vector<Complex>(400, 1), Device::cpu(1), options);
        for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(found.x[i], Complex(x[i], 0));
        EXPECT_EQ(residuals(found), residuals({report, {}}));
    }
}

// Promise: complex.hpp, "All of it holds: the automatic choice"
// Promise: complex.hpp, "Proofs speak of the components of real_view(x);"
TEST(ComplexSolve, RoundsEveryComponentOfAProvenSolution) {
    Random random(4);
    const auto a = made("power_network_200");
    const auto b = complex_vector<double>(random, 200);
    std::vector<Complex> first;
    for (const PreconditionerKind kind : {PreconditionerKind::klu, PreconditionerKind::ilut}) {
        SolveOptions options;
        options.guarantee = Guarantee::rounded;
        options.preconditioner = kind;
        const Solved found = solved(a, b, Device::cpu(1), options);
        EXPECT_EQ(found.report.proof().status, ProofStatus::proven) << found.report.proof().reason;
        EXPECT_EQ(found.report.proof().rounded, 400);
        if (first.empty()) first = found.x;
        EXPECT_EQ(found.x, first);
    }
}

// Promise: complex.hpp, "SolutionProof::error_bound alone is by |x_i|"
/// i z = i, whose solution has an imaginary part of 0, and no relative bound of it.
TEST(ComplexSolve, BoundsErrorsByTheModulus) {
    const Complex i(0, 1), third(1.0 / 3, 0);
    const auto a = csr_from_entries<Complex>(2, 2, std::vector<Entry<Complex>>{{0, 0, 3.0 * i}, {1, 1, 3.0}, {1, 0, 1e-3}});
    SolveOptions options;
    options.guarantee = Guarantee::bound;
    const Solved found = solved(a, {i, 1}, Device::cpu(1), options);
    const SolutionProof& proof = found.report.proof();
    ASSERT_EQ(proof.status, ProofStatus::proven);
    EXPECT_GT(proof.error_bound, std::abs(found.x[0] - third));
    EXPECT_LT(proof.error_bound, 1e-9);
    const DenseMatrix<Complex> b{2, 2, {0, 3, i, 1}};
    DenseMatrix<Complex> x{2, 2, std::vector<Complex>(4)};
    const SpmvPlan<Complex> plan(a, Device::cpu(1));
    const std::vector<SolutionProof> proofs = solve<Complex>(plan, b, x, nullptr, options).proofs;
    EXPECT_EQ(proofs[0].error_bound, 0);
    EXPECT_EQ(proofs[1].error_bound, proof.error_bound);
    EXPECT_EQ(solved(a, {0, 3}, Device::cpu(1), options).report.proof().error_bound, 0);
}

// Promise: complex.hpp, "Bounds of |z_i - z*_i|"
// Promise: complex.hpp, "max_i |z_i - z*_i| / |z_i|, proven by the bounds"
// Promise: complex.hpp, "0 where all bounds are; infinite where"
TEST(ComplexSolve, BoundsOfModuliAreAboveThem) {
    constexpr double eta = 5e-324, most = 1.7e308, inf = std::numeric_limits<double>::infinity();
    EXPECT_EQ(bounds_of_moduli(std::vector<double>{0, 0, eta, 0, 3, 4, 0, inf})[0], 0);
    EXPECT_EQ(bounds_of_moduli(std::vector<double>{inf, inf})[0], inf);
    const std::vector<double> parts{3, 4, 3 * 0x1p-1070, 4 * 0x1p-1070, 3 * 0x1p1000, 4 * 0x1p1000, eta, 0};
    const std::vector<double> bounds = bounds_of_moduli(parts), expected{5, 5 * 0x1p-1070, 5 * 0x1p1000, eta};
    for (std::size_t j = 0; j < expected.size(); ++j) {
        EXPECT_GE(bounds[j], expected[j]);
        EXPECT_LE(bounds[j], expected[j] * (1 + 0x1p-39) + 2 * eta);
    }
    EXPECT_GT(bounds_of_moduli(std::vector<double>{eta, eta})[0], eta);
    for (int k = 1; k < 1000; ++k) {
        const double re = 1 + 1.0 / k, im = 3.0 / k;
        const long double bound = bounds_of_moduli(std::vector<double>{re, im})[0];
        EXPECT_GE(bound * bound, static_cast<long double>(re) * re + static_cast<long double>(im) * im) << k;
    }
    EXPECT_GE(complex_error_bound(std::vector<double>{3, 4}, std::vector<double>{most, most}), 5 / (most * 1.5));
    EXPECT_GE(complex_error_bound(std::vector<double>{3, 4}, std::vector<double>{3, 4}), 1);
    EXPECT_LE(complex_error_bound(std::vector<double>{3, 4}, std::vector<double>{3, 4}), 1 + 0x1p-36);
    EXPECT_NEAR(complex_error_bound(std::vector<double>{1, 0, 0, 1, 0, 1}, std::vector<double>{4, 0, 0, 2, 4, 3}), 0.5, 1e-9);
    const std::vector<double> million{1e6 * eta, 0};
    EXPECT_GE(complex_error_bound(million, std::vector<double>{3 * eta, 2 * eta}), 1e6 / 3.6056)
        << "not 4, to which it is rounded";
    EXPECT_GE(complex_error_bound(million, std::vector<double>{eta, 0}), 1e6);
    EXPECT_GT(complex_error_bound(million, std::vector<double>{1e30, 0}), 0);
    EXPECT_EQ(complex_error_bound(std::vector<double>{eta, 0}, std::vector<double>{0, 0}), inf);
    EXPECT_EQ(complex_error_bound(std::vector<double>{0, 0}, std::vector<double>{0, 0}), 0);
}

/// Where subnormal numbers count as 0 a bound that is one would prove that there is no error.
TEST(ComplexSolve, BoundsOfModuliAreDeafToTheCallersFloatingPointEnvironment) {
    const std::vector<double> bounds{5e-324, 0}, parts{1, 2};
    testing::expect_deaf_to_the_environment<double>([&] {
        return std::vector{bounds_of_moduli(bounds), {complex_error_bound(bounds, parts)}};
    });
}

// Promise: complex.hpp, "All of it holds: the automatic choice"
TEST(ComplexSolve, SolvesSeveralColumnsAndSinglePrecisionAsAPair) {
    Random random(5);
    const auto a = convert<std::complex<float>>(CsrView<Complex>(made("power_network_100")));
    const SpmvPlan<std::complex<float>> plan(a.view(), Device::cpu(1));
    DenseMatrix<std::complex<float>> b{100, 2, complex_vector<float>(random, 200)}, x{100, 2, {}}, low{100, 2, {}};
    x.values.resize(200);
    low.values.resize(200);
    const SolveReport report = solve<std::complex<float>>(plan, b, x, &low);
    ASSERT_EQ(report.results.size(), 2u);
    for (const SolveResult& result : report.results) {
        EXPECT_EQ(result.status, SolveStatus::converged);
        EXPECT_LE(result.relative_residual, 1e-10);
    }
    EXPECT_TRUE(std::any_of(low.values.begin(), low.values.end(), [](auto z) { return z != std::complex<float>(); }));
}

/// Row 4, of 20, and row 2 of a proof: what counts rows of the real form says so, what counts complex ones does, too.
TEST(ComplexSolve, SaysWhichRowsItCounts) {
    const std::string explained = "; of those counted here 2i - 1 and 2i are number i of the complex matrix";
    const std::vector<Complex> b(20, {1, 1});
    std::vector<Entry<Complex>> entries;
    for (std::int32_t i = 0; i < 20; ++i) entries.push_back({i, i, {2.0 + i, 1}});
    auto a = csr_from_entries<Complex>(20, 20, entries);
    a.values[3] = {std::numeric_limits<double>::quiet_NaN(), 1};
    EXPECT_THAT(solved(a, b).report.obstacle, AllOf(HasSubstr("entry (7, 7)"), HasSubstr(explained)));
    a.values[3] = 0;
    EXPECT_THAT(solved(a, b).report.obstacle,
                AllOf(HasSubstr("the first is 4 (counted from 1, of the complex matrix)"), Not(HasSubstr(explained))));
    try {
        solved(a, b, Device::cpu(1), by(KrylovMethod::bicgstab, PreconditionerKind::ilu0));
        ADD_FAILURE() << "ILU(0) took a zero on the diagonal";
    } catch (const InvalidArgument& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("row 7 (counted from 1)"), HasSubstr(explained)));
    }
    try {
        solved(a, b, Device::cpu(1), by(KrylovMethod::bicgstab, PreconditionerKind::jacobi));
        ADD_FAILURE() << "Jacobi took a zero on the diagonal";
    } catch (const InvalidArgument& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("row 4 of the complex matrix (counted from 1)"), Not(HasSubstr(explained))));
    }
    SolveOptions too_small = by(KrylovMethod::bicgstab, PreconditionerKind::klu);
    too_small.factors.memory_limit = 1;
    a.values[3] = 1;
    EXPECT_THROW(solved(a, b, Device::cpu(1), too_small), ResourceLimit) << "kinds of errors stay as they are";
    struct Stop : InvalidArgument {
        using InvalidArgument::InvalidArgument;
    };
    SolveOptions stopped;
    stopped.iteration.callback = [](const Iteration&) -> bool { throw Stop("counted from 1"); };
    EXPECT_THROW(solved(a, b, Device::cpu(1), stopped), Stop);
    const CsrMatrix<Complex> twins{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {{1, 1}, {2, 0}, {2, 2}, {4, 0}}};
    const SolveReport proven = solved(twins, {b[0], b[1]}, Device::cpu(1), SolveOptions{.guarantee = Guarantee::bound}).report;
    EXPECT_THAT(proven.obstacle, AllOf(HasSubstr("rows 1 and 3 (counted from 1)"), HasSubstr(explained)));
    EXPECT_EQ(proven.proofs.front().reason, proven.obstacle);
}

TEST(ComplexSolve, SaysWhatDoesNotFit) {
    const auto a = made("helmholtz_3");
    const SpmvPlan<Complex> plan(a.view(), Device::cpu(1));
    std::vector<Complex> b(9), x(8);
    try {
        solve<Complex>(plan, b, x);
        FAIL();
    } catch (const DimensionMismatch& error) {
        EXPECT_STREQ(error.what(), "solve: x has 8 elements, A is 9 x 9; x needs 9");
    }
}

}  // namespace
}  // namespace solver
