#include "preconditioner/complex_factors.hpp"

#include "auto_solve/find_certificate.hpp"
#include "auto_solve/system_solver.hpp"
#include "matrices/generators.hpp"
#include "preconditioner/klu.hpp"
#include "solver/complex.hpp"
#include "solver/numeric/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <string>
#include <utility>
#include <vector>

namespace solver {
namespace {

using Complex = std::complex<double>;
using Entries = std::vector<Entry<Complex>>;
using Dense = std::vector<std::vector<long double>>;

Dense zeros(std::int64_t n) {
    return Dense(static_cast<std::size_t>(n), std::vector<long double>(static_cast<std::size_t>(n)));
}

Dense dense(const CsrMatrix<double>& a, bool with_unit_diagonal = false) {
    Dense d = zeros(a.rows);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        if (with_unit_diagonal) d[i][i] = 1;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) d[i][a.column_indices[k]] = a.values[k];
    }
    return d;
}

template <class Size>
Dense product(const Dense& a, const Dense& b, const Size& size) {
    Dense c = zeros(std::ssize(a));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t k = 0; k < a.size(); ++k)
            for (std::size_t j = 0; j < a.size(); ++j) c[i][j] += size(a[i][k]) * size(b[k][j]);
    return c;
}
Dense product(const Dense& a, const Dense& b) {
    return product(a, b, [](long double x) { return x; });
}

void expect_triangles(const IluFactors<double>& factors) {
    for (std::int64_t i = 0; i < factors.upper.rows; ++i) {
        ASSERT_LT(factors.upper.row_offsets[i], factors.upper.row_offsets[i + 1]);
        EXPECT_EQ(factors.upper.column_indices[factors.upper.row_offsets[i]], i) << "the diagonal comes first";
        if (factors.lower.row_offsets[i] < factors.lower.row_offsets[i + 1]) {
            EXPECT_LT(factors.lower.column_indices[factors.lower.row_offsets[i + 1] - 1], i);
        }
    }
}

/// Every number is a small whole number times 1/4 at least, so that nothing is rounded: pivots whose real or imaginary part is
/// the larger one, alone, or as large as the other.
// The first number of a pair's second row gone by the wrong factor or sign, or rows exchanged in one factor only, fail here.
TEST(ComplexFactors, MakeTheRealFormOfTheProduct) {
    const std::vector<Complex> pivots{{4, 2}, {1, -4}, {8, 0}, {0, 2}, {-2, 2}, {-4, -1}};
    const auto n = static_cast<std::int32_t>(pivots.size());
    Entries lower, upper, unit;
    for (std::int32_t i = 0; i < n; ++i) {
        unit.push_back({i, i, 1});
        upper.push_back({i, i, pivots[i]});
        for (std::int32_t j = 0; j < n; ++j) {
            const Complex z((i * 5 + j * 3) % 7 - 3, (i * 2 + j * 5) % 5 - 2);  // parts that are 0 among them
            if (j != i && (i + j) % 4 != 3) (j < i ? lower : upper).push_back({i, j, z});
        }
    }
    unit.insert(unit.end(), lower.begin(), lower.end());
    const auto of_lower = csr_from_entries<Complex>(n, n, lower), of_upper = csr_from_entries<Complex>(n, n, upper);
    const PairedFactors found = real_factors(of_lower, of_upper);
    EXPECT_EQ(found.first_row, (std::vector<std::int32_t>{0, 1, 0, 1, 0, 0}));
    expect_triangles(found.factors);
    const Dense k = product(dense(real_form(csr_from_entries<Complex>(n, n, unit).view())), dense(real_form(of_upper.view())));
    const Dense made = product(dense(found.factors.lower, true), dense(found.factors.upper));
    for (std::int32_t i = 0; i < 2 * n; ++i) EXPECT_EQ(made[i], k[i - i % 2 + (i % 2 ^ found.first_row[i / 2])]) << i;
    for (const CsrMatrix<double>* factor : {&found.factors.lower, &found.factors.upper})
        for (const double value : factor->values) EXPECT_NE(value, 0);
}

TEST(ComplexFactors, OrderPairs) {
    const std::vector<std::int32_t> order{2, 0, 1}, first{1, 0, 1};
    EXPECT_EQ(in_pairs(order), (std::vector<std::int32_t>{4, 5, 0, 1, 2, 3}));
    EXPECT_EQ(in_pairs(order, first), (std::vector<std::int32_t>{5, 4, 0, 1, 3, 2}));
}

CsrMatrix<double> generated(const char* name, Complex factor) {
    auto a = matrices::find_generator(name)->make_complex();
    for (Complex& z : a.values) z *= factor;
    return real_form(a.view());
}

/// Complex elimination errs by at most sqrt(2) gamma_(k + 4) |L| |U| by moduli (Higham, Accuracy and Stability, lemma 3.5 in
/// theorem 9.3), which are at most the sums of parts, k the numbers of a row; making pairs real adds 3 u to each of |L'| and
/// |U'|, and again as much where numbers cancel. Together below 8 (2 k + 8) u |L'| |U'| by pairs of columns.
TEST(ComplexFactors, OfKluMakeThePreparedMatrix) {
    for (const char* name : {"helmholtz_9", "power_network_60", "wilson_2_2_0.1"})
        for (const Complex factor : {Complex(1, 0), Complex(0, 1), Complex(3, 4)}) {
            SCOPED_TRACE(name);
            const CsrMatrix<double> a = generated(name, factor);
            const Preparation preparation = prepare(a.view(), Ordering::amd);
            const auto made = factor_klu<double>(a.view(), preparation, 0);
            EXPECT_EQ(made.elimination, Elimination::complex);
            expect_triangles(made.factors);
            const Dense b = dense(prepared_matrix(a.view(), made.preparation));
            const Dense lower = dense(made.factors.lower, true), upper = dense(made.factors.upper);
            const Dense found = product(lower, upper), sizes = product(lower, upper, [](long double x) { return std::abs(x); });
            for (std::size_t i = 0; i < b.size(); ++i) {
                const auto k = static_cast<double>(made.factors.lower.row_offsets[i + 1] - made.factors.lower.row_offsets[i]);
                const double bound = 8 * (2 * k + 8) * unit_roundoff<double>;
                for (std::size_t j = 0; j < b.size(); ++j)
                    EXPECT_LE(std::abs(found[i][j] - b[i][j]), bound * (sizes[i][j - j % 2] + sizes[i][j - j % 2 + 1])) << i;
            }
            const auto entry_by_entry = factor_klu<double>(a.view(), preparation, 0, Elimination::real);
            EXPECT_EQ(entry_by_entry.elimination, Elimination::real);
        }
}

TEST(ComplexFactors, AreMadeOfRealFormsAlone) {
    const auto real = matrices::find_generator("convection_diffusion_8")->make();
    EXPECT_EQ(factor_klu<double>(real.view(), prepare(real.view(), Ordering::amd), 0).elimination, Elimination::real);
    CsrMatrix<double> other = generated("helmholtz_6", 1);
    other.values[4] *= 1.5;
    EXPECT_EQ(factor_klu<double>(other.view(), prepare(other.view(), Ordering::amd), 0).elimination, Elimination::real);
}

// Columns that depend on others, in complex numbers: the second is i times the first.
TEST(ComplexFactors, AreRefusedWhereTheMatrixIsSingular) {
    const Complex i(0, 1);
    const auto a = csr_from_entries<Complex>(2, 2, Entries{{0, 0, 1}, {0, 1, i}, {1, 0, 2}, {1, 1, 2.0 * i}});
    const CsrMatrix<double> k = real_form(a.view());
    EXPECT_THROW(factor_klu<double>(k.view(), prepare(k.view(), Ordering::amd), 0), InvalidArgument);
}

/// The bound of errors of factors holds of real elimination, so that proofs make their own factors whatever the solve had.
TEST(ComplexFactors, AreNotWhatProofsStandOn) {
    const CsrMatrix<double> a = generated("helmholtz_8", 1);
    const SpmvPlan<double> plan(a.view(), Device::cpu(1));
    const std::vector<double> b(static_cast<std::size_t>(a.rows), 1.0);
    std::vector<double> x(b.size());
    SolveOptions options{.preconditioner = PreconditionerKind::klu};
    options.iteration.complex_scalars = true;
    SystemSolver<double> solver(plan, options);
    solver.solve({{b, x, {}}});
    ASSERT_NE(solver.complete_factors(), nullptr);
    ASSERT_EQ(solver.complete_factors()->elimination(), Elimination::complex);
    const Certificate found = find_certificate<double>(plan, solver, options).certificate;
    EXPECT_TRUE(found.is_proof()) << found.reason;
    EXPECT_EQ(found.reason, "complete factors");
    EXPECT_EQ(found.reach, certify<double>(plan, {}).reach);
}

}  // namespace
}  // namespace solver
