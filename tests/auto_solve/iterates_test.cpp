#include "auto_solve/iterates.hpp"

#include "solver/csr_matrix.hpp"
#include "solver/preconditioner.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace solver {
namespace {

constexpr double unit = 0x1p-53;

/// One unknown, A = (a), and what may have become of its x since the beginning.
class OneUnknown {
public:
    OneUnknown(double a, double b, const KrylovOptions& options, double guess = 0.25)
        : a_(csr_from_entries<double>(1, 1, std::vector<Entry<double>>{{0, 0, a}})),
          plan_(a_.view(), Device::cpu(1)),
          b_{b},
          x_{guess},
          iterates_(plan_, {Unknown<double>{.b = b_, .x = x_}}, options) {}

    /// The x that is gone on from, after one with this residual.
    double after(double x, double residual) {
        x_[0] = x;
        iterates_.start_over_if_too_large(0, residual);
        return x_[0];
    }

    double& x() { return x_[0]; }
    Iterates<double>& iterates() { return iterates_; }

private:
    CsrMatrix<double> a_;
    SpmvPlan<double> plan_;
    std::vector<double> b_, x_;
    Iterates<double> iterates_;
};

TEST(Iterates, BeginAtZeroWhereThereIsSomethingToDo) {
    EXPECT_TRUE(OneUnknown(1, 1, {}, 0).iterates().begin_at_zero());
    EXPECT_TRUE(OneUnknown(1, 1, {}, -0.0).iterates().begin_at_zero());
    EXPECT_FALSE(OneUnknown(1, 0, {}, 0).iterates().begin_at_zero()) << "x solves it";
    EXPECT_FALSE(OneUnknown(1, 1, {}, 0x1p-1074).iterates().begin_at_zero());
}

TEST(Iterates, KeepNothingThatHasNoResidual) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    OneUnknown unknown(1, 1, {});
    unknown.iterates().keep_if_best(0, none);
    EXPECT_EQ(unknown.iterates().restore_best(0, 0.5), 0.5);
    unknown.x() = 0.75;
    unknown.iterates().keep_if_best(0, 0.25);
    unknown.x() = 0.5;
    unknown.iterates().keep_if_best(0, none);
    EXPECT_EQ(unknown.iterates().restore_best(0, 0.5), 0.25);
    EXPECT_EQ(unknown.x(), 0.75);
}

/// Where u |a x| alone is above the tolerance times |b|, by a factor of 2, and below it.
TEST(Iterates, StartOverWhereRoundingXMissesTheTolerance) {
    for (const double a : {1e-3, 1.0, 1e5})
        for (const double b : {1e-6, 1.0, 1e6}) {
            constexpr double tolerance = 1e-10;
            OneUnknown unknown(a, -b, {.tolerance = tolerance});
            const double largest = tolerance * b / (unit * a);
            EXPECT_EQ(unknown.after(-largest / 2, 0.1), -largest / 2) << a << ' ' << b;
            EXPECT_EQ(unknown.after(-largest * 2, 0.1), 0.25) << a << ' ' << b;
        }
}

// Promise: solve.hpp, "Solves A x = b; x holds the initial guess"
TEST(Iterates, GoBackToTheBestXThatWasGivenUp) {
    OneUnknown unknown(1, 1, {.tolerance = 1e-10});
    EXPECT_EQ(unknown.after(1e20, 0.5), 0.25);
    EXPECT_EQ(unknown.after(2e20, 0.125), 0.25);
    EXPECT_EQ(unknown.after(3e20, 0.25), 0.25);
    unknown.x() = 7;
    EXPECT_EQ(unknown.iterates().restore_best(0, 0.0625), 0.0625) << "the present one is better";
    EXPECT_EQ(unknown.x(), 7);
    EXPECT_EQ(unknown.iterates().restore_best(0, 0.2), 0.125);
    EXPECT_EQ(unknown.x(), 2e20);
}

/// The next attempt begins at x without x_low, which may be worse than where the pair had got to.
// Promise: solve.hpp, "Solves A x = b; x holds the initial guess"
TEST(Iterates, GoBackToTheBestPair) {
    const CsrMatrix<float> a = csr_from_entries<float>(1, 1, std::vector<Entry<float>>{{0, 0, 3}});
    const SpmvPlan<float> plan(a.view(), Device::cpu(1));
    const std::vector<float> b{1};
    std::vector<float> x{1.0F / 3}, low{0x1p-30F};
    Iterates<float> iterates(plan, {Unknown<float>{.b = b, .x = x, .x_low = low}}, {});
    iterates.keep_pair(0, 0x1p-28);
    x = low = {0.25};
    iterates.keep_pair(0, 0.5);
    EXPECT_EQ(iterates.restore_best(0, 0x1p-29), 0x1p-29) << "the present one is better";
    EXPECT_EQ(iterates.restore_best(0, 0x1p-28), 0x1p-28) << "the present one is as good";
    EXPECT_EQ(x[0], 0.25F);
    EXPECT_EQ(iterates.restore_best(0, 0.125), 0x1p-28);
    EXPECT_EQ(x[0], 1.0F / 3);
    EXPECT_EQ(low[0], 0x1p-30F);
}

/// Zeros are not kept, and are gone back to with their sign.
TEST(Iterates, StartOverFromAGuessOfZeros) {
    for (const double zero : {0.0, -0.0}) {
        OneUnknown unknown(1, 1, {.tolerance = 1e-10}, zero);
        const double x = unknown.after(1e20, 0.5);
        EXPECT_EQ(x, 0);
        EXPECT_EQ(std::signbit(x), std::signbit(zero));
    }
}

/// Its residual is not less than itself.
TEST(Iterates, GoBackToTheXThatWasGivenUpLast) {
    OneUnknown unknown(1, 1, {.tolerance = 1e-10});
    EXPECT_EQ(unknown.after(1e20, 0.5), 0.25);
    EXPECT_EQ(unknown.iterates().restore_best(0, 0.5), 0.5);
    EXPECT_EQ(unknown.x(), 1e20);
}

TEST(Iterates, KeepAnXWhereNoneWasGivenUp) {
    OneUnknown unknown(1, 1, {.tolerance = 1e-10});
    EXPECT_EQ(unknown.after(1, 0.5), 1);
    EXPECT_EQ(unknown.iterates().restore_best(0, 0.5), 0.5);
    EXPECT_EQ(unknown.x(), 1);
}

TEST(Iterates, EstimateTheErrorOfXByACorrection) {
    const CsrMatrix<double> a{1, 1, {0, 1}, {0}, {4}};
    OneUnknown unknown(4, 9, {}, 2);
    const auto m = make_preconditioner<double>(PreconditionerKind::jacobi, a, Accuracy::exact, Device::cpu(1));
    EXPECT_EQ(unknown.iterates().estimated_error(0, *m, Accuracy::exact), 0.125);  // (9 - 4 * 2) / 4 / 2
    EXPECT_EQ(unknown.iterates().rounding(0), unit * 8 / 9);
}

/// On ||b - A x||: the absolute one divided by ||b||, where that is the larger.
TEST(Iterates, TakeTheLargerOfTheTolerances) {
    EXPECT_EQ(OneUnknown(1, 4, {.tolerance = 0.125}).iterates().tolerance(0), 0.125);
    EXPECT_EQ(OneUnknown(1, 4, {.tolerance = 0.125, .absolute_tolerance = 2}).iterates().tolerance(0), 0.5);
    EXPECT_EQ(OneUnknown(1, 4, {.tolerance = 0.125, .absolute_tolerance = 0.25}).iterates().tolerance(0), 0.125);
    EXPECT_EQ(OneUnknown(1, 0, {.tolerance = 0.125, .absolute_tolerance = 2}).iterates().least_tolerance(), 0.125);
}

}  // namespace
}  // namespace solver
