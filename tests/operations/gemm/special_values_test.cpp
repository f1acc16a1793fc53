#include "solver/gemm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/gemm_problems.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::adversarial_diagonal;
using testing::expect_kept;
using testing::expected_product;
using testing::ExpectedSum;
using testing::Gemm;
using testing::GemmProblem;
using testing::infinity;
using testing::Matrix;
using testing::nan_value;
using testing::Random;
using testing::random_matrix;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, ValueTypes);

/// Every element a sum of three products of which each vanishes, by itself, in rounding.
TYPED_TEST(Gemm, AddsProductsThatUnderflow) {
    using T = TypeParam;
    const int half = (std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits) / 2;
    const Matrix<T> a(30, 3, std::ldexp(T(0.6), half));
    for (const T factor : {T(0.5), T(0.7), T(-0.6), T(1.6)}) {
        const Matrix<T> b(3, 20, std::ldexp(factor, half));
        expect_kept<T>({a, b}, expected_product(a, b));
    }
}

/// Integers, whose sums are exact, among them zeros and ties; rows and columns of zeros; the identity.
TYPED_TEST(Gemm, RoundsIntegersTiesAndZeros) {
    using T = TypeParam;
    Random random(9);
    for (const std::int64_t largest : {1, 3, 4000}) {
        SCOPED_TRACE(largest);
        Matrix<T> a(37, 70);
        Matrix<T> b(70, 26);
        for (T& value : a.values) value = static_cast<T>(random.between(-largest, largest));
        for (T& value : b.values) value = static_cast<T>(random.between(-largest, largest));
        for (std::int64_t k = 0; k < 70; ++k) a.at(5, k) = b.at(k, 7) = random.coin() ? T(0) : -T(0);
        expect_kept<T>({a, b}, expected_product(a, b));
    }
    Matrix<T> identity(40, 40);
    for (std::int64_t i = 0; i < 40; ++i) identity.at(i, i) = 1;
    const Matrix<T> b = random_matrix<T>(random, 40, 30);
    expect_kept<T>({identity, b}, expected_product(identity, b));
}

// Promise: gemm.hpp, "Inf and NaN as in reduce.hpp"
TYPED_TEST(Gemm, GivesInfAndNanWhereTheyBelong) {
    using T = TypeParam;
    Random random(10);
    const std::vector<T> specials = {
        infinity<T>, -infinity<T>, nan_value<T>, std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min(), -T(0)};
    for (const std::int64_t inner : {1, 5, 300}) {
        SCOPED_TRACE(inner);
        Matrix<T> a = random_matrix<T>(random, 30, inner);
        Matrix<T> b = random_matrix<T>(random, inner, 20);
        for (int place = 0; place < 12; ++place) {
            const auto special = [&] { return specials[static_cast<std::size_t>(random.between(0, 5))]; };
            a.at(random.between(0, 29), random.between(0, inner - 1)) = special();
            b.at(random.between(0, inner - 1), random.between(0, 19)) = special();
            a.at(random.between(0, 29), random.between(0, inner - 1)) = 0;
        }
        GemmProblem<T> problem(a, b);
        const auto sums = expected_product(a, b);
        expect_kept(problem, sums);
        problem.alpha = -2;
        problem.beta = 1;
        problem.c = random_matrix<T>(random, 30, 20);
        problem.c.values[3] = infinity<T>;
        problem.c.values[33] = nan_value<T>;
        expect_kept(problem, sums);
    }
}

// Promise: gemm.hpp, "Each C_ij is a sum of k products"
TYPED_TEST(Gemm, RoundsOnceForEveryAlphaAndBeta) {
    using T = TypeParam;
    Random random(11);
    const std::size_t finite_classes = testing::finite_adversarial_classes<T>().size();
    GemmProblem<T> problem = adversarial_diagonal<T>(random, 17, 16, 0, finite_classes);
    const auto sums = expected_product(problem.a, problem.b);
    const std::vector<ExpectedSum<T>> nothing(sums.size());
    const std::vector<T> addends = testing::adversarial_addends(random, sums);
    GemmProblem<T> unread(Matrix<T>(17, problem.a.columns, nan_value<T>), Matrix<T>(problem.b.rows, 17, nan_value<T>));
    for (const T alpha : testing::factors<T>())
        for (const T beta : testing::factors<T>()) {
            SCOPED_TRACE(::testing::Message() << "alpha " << alpha << ", beta " << beta);
            GemmProblem<T>& used = alpha == 0 ? unread : problem;
            used.alpha = alpha;
            used.beta = beta;
            used.c.values.assign(addends.size(), nan_value<T>);
            if (beta != 0) used.c.values = addends;
            expect_kept(used, alpha == 0 ? nothing : sums);
        }
}

}  // namespace
}  // namespace solver
