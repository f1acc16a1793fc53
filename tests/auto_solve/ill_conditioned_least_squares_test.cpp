#include "solver/least_squares.hpp"

#include "solver/csr_matrix.hpp"
#include "solver/views.hpp"
#include "support/least_squares.hpp"
#include "support/linear_systems.hpp"

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace solver {
namespace {

using namespace testing;

/// Row i has 1, t, t^2, ... of t = from + i step.
CsrMatrix<double> powers(std::int32_t points, std::int32_t coefficients, double from, double step) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < points; ++i)
        for (std::int32_t j = 0; j < coefficients; ++j) entries.push_back({i, j, std::pow(from + i * step, j)});
    return csr_from_entries<double>(points, coefficients, entries);
}

/// ||D (x - x*)|| / ||D x*||, D the norms of the columns and x* the least squares in long double, and the condition number of
/// A D^-1.
struct ErrorAndCondition {
    long double of_x, condition;
};

ErrorAndCondition error_of(const CsrMatrix<double>& a, const std::vector<double>& b, const std::vector<double>& x) {
    Matrix scaled = long_dense(a);
    const Vector norms = scaled.colwise().norm();
    for (Eigen::Index j = 0; j < scaled.cols(); ++j) scaled.col(j) /= norms[j];
    const Vector best = scaled.householderQr().solve(long_vector(b)), found = norms.cwiseProduct(long_vector(x));
    const Vector s = Eigen::JacobiSVD<Matrix>(scaled).singularValues();
    return {(found - best).norm() / best.norm(), s[0] / s[s.size() - 1]};
}

/// s |u'r| = |v'A'r| <= ||A'r|| <= sqrt(n) tolerance ||r||, A with columns of norm 1. Singular values from 1 to
/// 1e-6: by a large tolerance LSMR alone does not look for the last ones. With factors it does.
// Promise: least_squares.hpp, "Along the left singular vector of a singular value"
TEST(IllConditionedLeastSquares, BoundsWhatIsLeftAlongEachSingularVector) {
    constexpr std::int32_t rows = 40, columns = 8;
    const std::vector<double> numbers = random_vector<double>(rows * columns, 7), b = random_vector<double>(rows, 8);
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < rows; ++i)
        for (std::int32_t j = 0; j < columns; ++j) {  // columns by pairs that are ever more alike
            const double apart =
                j % 2 == 0 ? 0 : std::pow(1e-2, (j + 1) / 2 - 1) * numbers[static_cast<std::size_t>(i * columns + j)];
            entries.push_back({i, j, numbers[static_cast<std::size_t>(i * columns + j / 2 * 2)] + apart});
        }
    const auto a = csr_from_entries<double>(rows, columns, entries);
    Matrix d = long_dense(a);
    for (const double tolerance : {1e-2, 1e-4, 1e-8})
        for (const std::int64_t memory_limit : {1, 0}) {
            const auto found = find(a, b, {with(Accuracy::exact, tolerance), memory_limit});
            ASSERT_EQ(found.result.status, SolveStatus::converged);
            const Vector r = long_vector(b) - long_dense(a) * long_vector(found.x);
            for (Eigen::Index j = 0; j < columns; ++j) d.col(j) = long_dense(a).col(j).normalized();
            const Eigen::JacobiSVD<Matrix> svd(d, Eigen::ComputeThinU | Eigen::ComputeThinV);
            long double most = 0;
            for (Eigen::Index k = 0; k < columns; ++k) {
                const long double along = std::abs(svd.matrixU().col(k).dot(r)) / r.norm();
                EXPECT_LE(along * svd.singularValues()(k), 1.01 * std::sqrt(8.0) * tolerance);
                most = std::max(most, along);
            }
            EXPECT_EQ(most > 0.1, tolerance > 1e-6 && memory_limit == 1) << most;  // the least singular value is some 1e-6
        }
}

/// The part of r in the range of A, by what rounding x alone makes of it.
long double left_by_rounding(const CsrMatrix<double>& a, const std::vector<double>& b, const std::vector<double>& x) {
    const Matrix d = long_dense(a);
    const Vector r = long_vector(b) - d * long_vector(x), along = d * d.householderQr().solve(r);
    return along.norm() / (0x1p-53L * d.colwise().norm().transpose().cwiseProduct(long_vector(x)).norm());
}

/// exp(t) by polynomials: r is so small that rounding the coefficients moves it out of the right angle by more than the
/// tolerance.
// Promise: least_squares.hpp, "Rounding the elements of x alone may turn r by more"
// Promise: least_squares.hpp, "Where complete factors show that the part of r"
TEST(IllConditionedLeastSquares, ClaimsWhatRoundingXLeaves) {
    constexpr std::int32_t points = 200, coefficients = 8;
    std::vector<Entry<double>> entries;
    std::vector<double> b(points);
    for (std::int32_t i = 0; i < points; ++i) {
        const double t = i / (points - 1.0);
        b[i] = std::exp(t);
        for (std::int32_t j = 0; j < coefficients; ++j) entries.push_back({i, j, std::pow(t, j)});
    }
    const auto a = csr_from_entries<double>(points, coefficients, entries);
    const auto found = find(a, b);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    EXPECT_GT(found.result.normal_residual, 1e-10) << "a case for this";
    EXPECT_LE(left_by_rounding(a, b, found.x), 2.1L);
}

/// Where nothing else can be claimed, a guess that is off by more than rounding is not taken.
TEST(IllConditionedLeastSquares, ClaimsNoMoreThanWhatRoundingXLeaves) {
    const auto a = differences(500);
    const auto b = random_vector<double>(501, 3);
    const Vector best = long_dense(a).householderQr().solve(long_vector(b));
    std::vector<double> guess(500);
    for (std::size_t j = 0; j < guess.size(); ++j)
        guess[j] = static_cast<double>(best[static_cast<Eigen::Index>(j)] * (1 + 1e-10L));
    ASSERT_GT(left_by_rounding(a, b, guess), 1000.0L);
    const auto found = find(a, b, with_factors(1e-16), 1, guess);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    EXPECT_LE(left_by_rounding(a, b, found.x), 2.1L);
}

/// What is left of r along short directions is not: b is fitted to 1e-12 by a matrix of the condition number 1e9.
TEST(IllConditionedLeastSquares, DoesNotClaimWhatIsLeftAlongShortDirections) {
    constexpr Eigen::Index rows = 60, columns = 20;
    std::srand(1);
    const Eigen::MatrixXd u = Eigen::MatrixXd::Random(rows, columns + 1).householderQr().householderQ() *
                              Eigen::MatrixXd::Identity(rows, columns + 1);
    const Eigen::MatrixXd v = Eigen::MatrixXd::Random(columns, columns).householderQr().householderQ();
    Eigen::VectorXd s(columns);
    for (Eigen::Index k = 0; k < columns; ++k) s[k] = std::pow(1e-9, static_cast<double>(k) / (columns - 1));
    const Eigen::MatrixXd d = u.leftCols(columns) * s.asDiagonal() * v.transpose();
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < rows; ++i)
        for (std::int32_t j = 0; j < columns; ++j) entries.push_back({i, j, d(i, j)});
    const auto a = csr_from_entries<double>(rows, columns, entries);
    const Eigen::VectorXd image = d * Eigen::VectorXd::Random(columns);
    const Eigen::VectorXd right = image + 1e-12 * image.norm() * u.col(columns);
    const std::vector<double> b(right.data(), right.data() + rows);
    const auto found = find(a, b, with_factors(1e-14));
    const Vector r = long_vector(b) - long_dense(a) * long_vector(found.x);
    const Vector least = long_vector(b) - long_dense(a) * long_dense(a).householderQr().solve(long_vector(b));
    EXPECT_TRUE(found.result.status != SolveStatus::converged || r.norm() <= 1.01L * least.norm()) << r.norm() / least.norm();
}

/// The last column is so short that its square is not seen in the normal equations, and b needs it.
TEST(IllConditionedLeastSquares, DoesNotClaimWhatNormalEquationsDoNotSee) {
    constexpr std::int32_t points = 60, coefficients = 5;
    for (const unsigned seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U})
        for (const int exponent : {-545, -600, -800}) {
            const auto g = random_vector<double>(points, seed), c = random_vector<double>(coefficients, seed + 100);
            std::vector<Entry<double>> entries;
            std::vector<double> b(points);
            for (std::int32_t i = 0; i < points; ++i) {
                for (std::int32_t j = 0; j < coefficients; ++j) {
                    const double element = std::pow(i / (points - 1.0), j);
                    entries.push_back({i, j, element});
                    b[i] += c[j] * element;
                }
                entries.push_back({i, coefficients, std::ldexp(g[i], exponent)});
                b[i] += g[i];
            }
            const auto a = csr_from_entries<double>(points, coefficients + 1, entries);
            const auto found = find(a, b, with_factors(1e-14));
            const Vector r = long_vector(b) - long_dense(a) * long_vector(found.x);
            EXPECT_TRUE(found.result.status != SolveStatus::converged || r.norm() <= 1e-12L * long_vector(b).norm())
                << exponent << ": " << r.norm();
        }
}

/// What rounding x leaves of r in the range of A moves x by 2 u ||D x|| / s at most, s the least singular value of A D^-1, and
/// so by 2 u kappa of it; the least squares in long double are off by some 2^-64 kappa times the rows. Without factors in pairs
/// these were not found: x was off by all of itself.
// Promise: least_squares.hpp, "Where it shows a singular value below 2^-18"
// Promise: least_squares.hpp, "With factors that show full rank LSMR goes on"
// Promise: least_squares.hpp, "Where G and factors cost less than fifty steps"
TEST(IllConditionedLeastSquares, FitsPolynomialsWhoseNormalEquationsDoubleCannotHold) {
    constexpr std::int32_t points = 60;
    std::vector<double> smooth(points);
    for (std::int32_t i = 0; i < points; ++i) smooth[i] = std::exp(std::sin(5.0 * i / (points - 1)));
    std::vector<double> noisy = random_vector<double>(points, 3);
    for (std::int32_t i = 0; i < points; ++i) noisy[i] = smooth[i] + 1e-3 * noisy[i];
    for (const std::int32_t coefficients : {9, 13, 15, 17})
        for (const auto& b : {smooth, noisy}) {
            const auto a = powers(points, coefficients, 0, 1.0 / (points - 1));
            const auto found = find(a, b);
            EXPECT_EQ(found.result.status, SolveStatus::converged) << coefficients;
            EXPECT_LE(found.result.iterations, 20) << coefficients;
            const ErrorAndCondition error = error_of(a, b, found.x);
            EXPECT_LE(error.of_x, (2 * 0x1p-53L + points * 0x1p-64L) * error.condition) << coefficients;
            EXPECT_EQ(found.x, find(a, b, with_factors(), 2).x);
        }
}

/// Which LSMR alone finds to the tolerance, in more steps: of the error bound as above.
// Promise: least_squares.hpp, "Where G and factors cost less than fifty steps"
TEST(IllConditionedLeastSquares, FindsAsMuchOfDenseMatricesThatAreNotIllConditioned) {
    const auto numbers = random_vector<double>(200 * 80, 1), b = random_vector<double>(200, 2);
    const Eigen::MatrixXd a = Eigen::Map<const Eigen::MatrixXd>(numbers.data(), 200, 80);
    std::vector<Entry<double>> entries;
    for (std::int32_t j = 0; j < 80; ++j)
        for (std::int32_t i = 0; i < 200; ++i) entries.push_back({i, j, a(i, j)});
    const DenseView<double> view{200, 80, 1, 200, a.data()};
    const SpmvPlan<double> plan(view, Device::cpu(1)), transposed(view.transposed(), Device::cpu(1));
    std::vector<double> x(80);
    const auto result = least_squares<double>(plan, transposed, b, x, with_factors());
    EXPECT_EQ(result.status, SolveStatus::converged);
    EXPECT_LE(result.iterations, 5);
    const ErrorAndCondition error = error_of(csr_from_entries<double>(200, 80, entries), b, x);
    EXPECT_LE(error.of_x, (2 * 0x1p-53L + 200 * 0x1p-64L) * error.condition);
}

/// t^5 of the years 1900 to 2020 by its coefficients: columns from 1 to 1e16, and alike but for 1e-9 of them.
TEST(IllConditionedLeastSquares, FitsPolynomialsInAnyUnits) {
    constexpr std::int32_t points = 121;
    const auto a = powers(points, 6, 1900, 1);
    const auto b = random_vector<double>(points, 3);
    const auto found = find(a, b);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    const Matrix d = long_dense(a);
    // in t - 1960, by which the columns are far from alike
    const Matrix around = long_dense(powers(points, 6, -60, 1));
    const Vector least = long_vector(b) - around * around.householderQr().solve(long_vector(b));
    EXPECT_LE((long_vector(b) - d * long_vector(found.x)).norm(), (1 + 1e-9L) * least.norm());
}

/// Wide: A A' has the condition, and x the least norm.
TEST(IllConditionedLeastSquares, FindsTheLeastNormOfWideMatrices) {
    const auto a = transpose(powers(60, 14, 0, 1.0 / 59).view());
    const auto b = random_vector<double>(14, 5);
    const auto found = find(a, b);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    const Eigen::HouseholderQR<Matrix> qr(long_dense(a).transpose());  // x = Q R^-T b
    const Matrix r = qr.matrixQR().topRows(14).triangularView<Eigen::Upper>();
    Vector in_range = Vector::Zero(60);
    in_range.head(14) = r.transpose().triangularView<Eigen::Lower>().solve(long_vector(b));
    const Vector expected = qr.householderQ() * in_range;
    EXPECT_LE((long_vector(found.x) - expected).norm(), 1e-8L * expected.norm());
}

// Promise: least_squares.hpp, "Where these are too dear, or a singular value"
// Promise: least_squares.hpp, "G is A'A and D 2^-36"
/// A column of a lost rank is known by what A maps its null vector to, not by small pivots alone.
TEST(IllConditionedLeastSquares, TellsLostRankFromAnAwkwardCondition) {
    auto a = powers(60, 12, 0, 1.0 / 59);
    const auto b = random_vector<double>(60, 3);
    std::vector<Entry<double>> entries;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
            entries.push_back({static_cast<std::int32_t>(i), a.column_indices[k], a.values[k]});
            if (a.column_indices[k] < 2)
                entries.push_back({static_cast<std::int32_t>(i), 12 + a.column_indices[k], a.values[k]});
        }
    const auto twice = csr_from_entries<double>(60, 14, entries);
    const auto found = find(twice, b);
    for (std::size_t j = 0; j < 2; ++j)  // of least norm
        EXPECT_NEAR(found.x[j], found.x[12 + j], 1e-6 * std::abs(found.x[j])) << j;
}

/// Factors come first, and are not made for nothing.
TEST(IllConditionedLeastSquares, LooksAtTheGuessWhereNoStepIsAllowed) {
    const auto a = differences(5);
    std::vector<double> b(6);
    const std::vector<double> guess{1, 2, 3, 4, 5};
    SpmvPlan<double>(a, Device::cpu(1)).multiply(1, guess, 0, b, Accuracy::exact);
    LeastSquaresOptions options = with_factors();
    options.iteration.max_iterations = 0;
    const auto found = find(a, b, options, 1, guess);
    EXPECT_EQ(found.result.status, SolveStatus::converged);
    EXPECT_EQ(found.result.relative_residual, 0);
    EXPECT_EQ(found.x, guess);
    const auto of_zero = find(a, std::vector<double>(6), options, 1, guess);
    EXPECT_EQ(of_zero.result.status, SolveStatus::converged);
    EXPECT_EQ(of_zero.x, std::vector<double>(5));
}

// Promise: least_squares.hpp, "What ends it before, leaves the claim"
/// It goes on beyond the tolerance; what ends it before rounding does leaves the claim as it is.
TEST(IllConditionedLeastSquares, ClaimsWhatMetTheToleranceWhateverEndsIt) {
    const auto a = powers(60, 9, 0, 1.0 / 59);
    const auto b = random_vector<double>(60, 3);
    LeastSquaresOptions options = with_factors(1e-6);
    for (const std::int64_t steps : {2, 3, 4}) {
        options.iteration.max_iterations = steps;
        const auto found = find(a, b, options);
        EXPECT_EQ(found.result.status, SolveStatus::converged) << steps;
        EXPECT_LE(found.result.normal_residual, 1e-6) << steps;
        EXPECT_LE(found.result.iterations, steps);
    }
}

/// A row of zeros makes r what no x changes, and so does not tell which x is near.
TEST(IllConditionedLeastSquares, TakesRowsOfZerosOfAWideMatrix) {
    for (const bool is_stored : {false, true}) {
        const auto wide = transpose(powers(12, 3, 0, 1.0 / 11).view());
        std::vector<Entry<double>> entries;
        for (std::int64_t i = 0; i < wide.rows; ++i)
            for (std::int64_t k = wide.row_offsets[i]; k < wide.row_offsets[i + 1]; ++k)
                entries.push_back({static_cast<std::int32_t>(i), wide.column_indices[k], wide.values[k]});
        if (is_stored) entries.push_back({3, 5, 0});
        auto a = csr_from_entries<double>(4, 12, entries);
        const std::vector<double> b{1, 2, 3, 1e-6};
        const auto found = find(a, b);
        EXPECT_EQ(found.result.status, SolveStatus::converged) << is_stored;
        const auto without = find(wide, {1, 2, 3});
        for (std::size_t j = 0; j < 12; ++j) EXPECT_NEAR(found.x[j], without.x[j], 1e-8 * std::abs(without.x[0])) << j;
    }
}

/// More than rounding lets it claim was asked for: what rounding put beside the range of A' is taken out all the same.
TEST(IllConditionedLeastSquares, IsOfLeastNormWhereRankIsLostAndTheToleranceIsNotMet) {
    for (const unsigned seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
        const auto a = matrix_of_rank(49, 50, 50, seed);
        const auto b = random_vector<double>(50, seed);
        const auto found = find(a, b, with_factors(1e-16));
        const Eigen::JacobiSVD<Matrix> svd(long_dense(a), Eigen::ComputeThinU | Eigen::ComputeThinV);
        const Vector s = svd.singularValues();
        Vector along = svd.matrixU().transpose() * long_vector(b);
        for (Eigen::Index k = 0; k < along.size(); ++k) along[k] = k < 49 ? along[k] / s[k] : 0;
        const Vector least = svd.matrixV() * along;
        const long double condition = s[0] / s[48];
        EXPECT_LE((long_vector(found.x) - least).norm(), 4 * 0x1p-53L * condition * condition * least.norm()) << condition;
    }
}

}  // namespace
}  // namespace solver
