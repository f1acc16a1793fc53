#include "guarantee/comparison_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/bounds.hpp"

namespace solver::guarantee {
namespace {

/// 1 / w <= weight for every w that was rounded to what is given.
TEST(ComparisonMatrix, WeighsByWhatSumsWereBeforeRounding) {
    Random random(4);
    std::vector<double> v, w;
    std::vector<Rational> exact;
    for (int k = 0; k < 20000; ++k) {
        v.push_back(random.wide(-10, 10));
        w.push_back(random.wide(-10, 10));
        const double half_ulp = (w.back() - std::nextafter(w.back(), 0.0)) / 2;
        exact.push_back(Rational(w.back()) - Rational(half_ulp));
    }
    std::vector<double> taken_v = v, taken_w = w;
    const Certificate certificate = certificate_of(taken_v, taken_w);
    ASSERT_TRUE(certificate.is_proof());
    EXPECT_EQ(certificate.reach, v);
    for (std::size_t i = 0; i < w.size(); ++i) {
        ASSERT_GE(Rational(certificate.weights[i]) * exact[i], Rational(1.0));
        ASSERT_LE(certificate.weights[i] * w[i], 1 + 1e-15);
    }
}

TEST(ComparisonMatrix, NeedsNormalPositiveNumbers) {
    constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    for (const double bad : {0.0, -1.0, eta, std::numeric_limits<double>::min() / 2, inf, nan}) {
        std::vector one{1.0, bad}, other{1.0, 1.0};
        EXPECT_FALSE(certificate_of(one, other).is_proof()) << bad;
        EXPECT_FALSE(certificate_of(other, one).is_proof()) << bad;
        EXPECT_EQ(other, std::vector(2, 1.0)) << "left for another try";
    }
}

/// Two or three parts of a diagonal element whose sum is no number: <A> has less.
TEST(ComparisonMatrix, HasNoMoreOnTheDiagonalThanA) {
    Random random(5);
    for (int trial = 0; trial < 500; ++trial) {
        std::vector<double> parts{random.wide(-60, -50), random.wide(-2, 2), -random.wide(-2, 2)};
        if (trial % 2 == 0) parts.erase(parts.begin() + trial % 4 / 2);
        const std::vector<std::int32_t> columns(parts.size());
        const CsrMatrix<double> a{1, 1, {0, static_cast<std::int64_t>(parts.size())}, columns, parts};
        const CsrMatrix<double> c = comparison_matrix(a.view());
        Rational exact(0.0), found(0.0);
        for (const double part : parts) exact += Rational(part);
        for (const double value : c.values) found += Rational(value);
        EXPECT_LE(found, abs(exact));
        EXPECT_GE(found * Rational(1 + 1e-14) + Rational(eta), abs(exact));
    }
}

TEST(ComparisonMatrix, IsAWhereTheDiagonalIsPositiveAndStoredOnce) {
    const auto is_its_own = [](double first, double beside, std::int32_t column = 0) {
        const CsrMatrix<double> a{2, 2, {0, 2, 3}, {column, 1, 1}, {first, beside, 1}};
        return is_its_comparison_matrix(a.view());
    };
    EXPECT_TRUE(is_its_own(2, -1));
    EXPECT_TRUE(is_its_own(2, 0));
    EXPECT_FALSE(is_its_own(2, 1));
    EXPECT_FALSE(is_its_own(0, -1));
    EXPECT_FALSE(is_its_own(-2, -1));
    EXPECT_FALSE(is_its_own(-2, -1, 1)) << "no diagonal";
    EXPECT_FALSE(is_its_own(std::numeric_limits<double>::quiet_NaN(), -1));
    EXPECT_FALSE(is_its_own(2, std::numeric_limits<double>::quiet_NaN()));
    EXPECT_FALSE(is_its_comparison_matrix(CsrMatrix<double>{1, 1, {0, 2}, {0, 0}, {1, 1}}.view())) << "in two parts";
}

}  // namespace
}  // namespace solver::guarantee
