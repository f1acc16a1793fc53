#include "solver/gemm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "support/floating_point_environment.hpp"
#include "support/gemm_problems.hpp"
#include "support/targets.hpp"

namespace solver {
namespace {

using testing::adversarial_diagonal;
using testing::expect_kept;
using testing::expected_product;
using testing::for_each_target;
using testing::Gemm;
using testing::GemmProblem;
using testing::Matrix;
using testing::Random;
using testing::random_matrix;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, ValueTypes);

// Promise: gemm.hpp, "Each C_ij is a sum of k products"
TYPED_TEST(Gemm, RoundsAdversarialSumsOnce) {
    using T = TypeParam;
    Random random(6);
    const auto classes = testing::adversarial_classes<T>();
    for (std::size_t kind = 0; kind < classes.size(); ++kind) {
        SCOPED_TRACE(classes[kind].name);
        const GemmProblem<T> problem = adversarial_diagonal<T>(random, 20, 24, kind, 1);
        expect_kept(problem, expected_product(problem.a, problem.b));
    }
}

TYPED_TEST(Gemm, RoundsAdversarialSumsOfAllClassesOnce) {
    using T = TypeParam;
    Random random(7);
    const std::size_t classes = testing::adversarial_classes<T>().size();
    for (int trial = 0; trial < 4; ++trial) {
        const GemmProblem<T> problem =
            adversarial_diagonal<T>(random, 31, 20 + 13 * static_cast<std::size_t>(trial), 0, classes);
        expect_kept(problem, expected_product(problem.a, problem.b));
    }
}

// Promise: gemm.hpp, "Each C_ij is a sum of k products"
/// Rows and columns apart by up to 1e+-300 (float 1e+-30), and elements within them.
// Promise: gemm.hpp, "C = alpha A B + beta C:"
TYPED_TEST(Gemm, KeepsItsPromisesForEveryScaling) {
    using T = TypeParam;
    Random random(8);
    const int reach = std::is_same_v<T, float> ? 60 : 500;
    for (const int spread : {0, 3, reach}) {
        SCOPED_TRACE(spread);
        Matrix<T> a = random_matrix<T>(random, 33, 40, spread);
        Matrix<T> b = random_matrix<T>(random, 40, 21, spread);
        for (std::int64_t i = 0; i < a.rows; ++i) {
            const auto exponent = static_cast<int>(random.between(-reach, reach));
            for (std::int64_t k = 0; k < a.columns; ++k) a.at(i, k) = std::ldexp(a.at(i, k), exponent);
        }
        for (std::int64_t j = 0; j < b.columns; ++j) {
            const auto exponent = static_cast<int>(random.between(-reach, reach));
            for (std::int64_t k = 0; k < a.columns; ++k) b.at(k, j) = std::ldexp(b.at(k, j), exponent);
        }
        expect_kept<T>({a, b}, expected_product(a, b));
    }
}

/// Rows that sum to a tie but for errors far below: 1 + 2^-s + half an ulp, and 700 terms that are each just too small to be
/// seen beside 2^-s, in one direction together. Whoever believes to have lost less than that rounds the tie to even.
template <class T>
Matrix<T> chains_of_lost_errors() {
    constexpr int digits = std::numeric_limits<T>::digits;
    const int last = std::is_same_v<T, float> ? 100 : 60;
    Matrix<T> a(4 * last, 700);
    for (int row = 0; row < a.rows; ++row) {
        const int s = row / 4 + 1;
        const T sign = (row & 1) != 0 ? T(-1) : T(1);
        const T half_ulp = std::ldexp(T(1), -digits);
        a.at(row, 0) = sign < 0 ? 1 + 2 * half_ulp : T(1);  // odd or even, so that the tie goes the other way
        a.at(row, 1) = half_ulp;
        a.at(row, 2) = std::ldexp(T(1), -s);
        a.at(row, 699) = s < digits - 1 ? T(0) : -a.at(row, 2);
        const int lost = (row & 2) != 0 ? s + digits + 1 : s + 54;
        for (int k = 3; k < 699; ++k) a.at(row, k) = sign * std::ldexp(T(1) - std::ldexp(T(1), -9), -lost);
    }
    return a;
}

TYPED_TEST(Gemm, KnowsWhatChainsOfErrorsLose) {
    using T = TypeParam;
    const Matrix<T> a = chains_of_lost_errors<T>();
    Matrix<T> b(700, 5, T(1));
    for (std::int64_t k = 0; k < 700; ++k) {
        b.at(k, 1) = -4;
        b.at(k, 3) = k < 300 ? T(1) : T(0);
        b.at(k, 4) = T(0.5);
    }
    expect_kept<T>({a, b}, expected_product(a, b));
}

/// Rows of one strip that sum to a tie but for a last product, 2^-96, which vanishes beside what the others leave below an
/// anchor's ulp; that product decides. P is 2^7, so 2^-96 is far below 2^-96 P, from where on nothing can be lost.
TEST(GemmOfDoubles, KnowsThatWhatBreaksATieMayBeLost) {
    constexpr std::int64_t terms = 256;
    Random random(17);
    Matrix<double> a(40, terms);
    for (std::int64_t row = 0; row < a.rows; ++row) {
        std::int64_t sum = 0;  // in units of 2^-52
        for (std::int64_t k = 0; k + 2 < terms; ++k) {
            const std::int64_t value = random.between(std::int64_t{1} << 50, std::int64_t{1} << 51);
            a.at(row, k) = std::ldexp(static_cast<double>(value), -52);
            sum += value;
        }
        // The sum is between 64 and 128, where an ulp is 2^-46, 2^6 units.
        const std::int64_t half_ulp = 1 << 5, excess = sum % (2 * half_ulp);
        a.at(row, terms - 2) = std::ldexp(static_cast<double>(3 * half_ulp - excess), -52);
        a.at(row, terms - 1) = std::ldexp(row % 2 == 0 ? 1.0 : -1.0, -96);
    }
    const Matrix<double> ones(terms, 5, 1.0);
    expect_kept<double>({a, ones}, expected_product(a, ones));
}

/// Rows of one strip in which nearly every addition loses just less than half an ulp, always upwards: 0.62 of what the first
/// kernel allows for (the sum of 2^floor(log2 k) beside 1.05 times that of k). The sum without what is lost lies below a
/// midpoint, the true one above.
TEST(GemmOfDoubles, KnowsWhatAStripOfUnluckyRoundingsLoses) {
    constexpr std::int64_t terms = 256;
    // In units of 2^-100: just too large for what follows a 1 in a strip whose norms multiply to 16, half an ulp and an ulp
    // of 1.
    constexpr std::int64_t seen = std::int64_t{1} << 53, midpoint = std::int64_t{1} << 47, ulp = 2 * midpoint;
    constexpr std::int64_t distance = 76 * 256;
    const auto in_units = [](std::int64_t units) { return std::ldexp(static_cast<double>(units), -100); };
    Matrix<double> a(2, terms);
    a.at(0, 0) = 1;
    std::int64_t sum = 0, lost = 0;
    for (std::int64_t k = 1; k < terms - 1; ++k) {
        const int above = std::bit_width(static_cast<std::uint64_t>(sum + seen)) - 54;
        const std::int64_t half = std::int64_t{1} << std::max(above, 0);
        const std::int64_t term = seen - 1 - (sum + seen - half) % (2 * half);
        const auto rounded = static_cast<std::int64_t>(static_cast<double>(sum) + static_cast<double>(term));
        lost += sum + term - rounded;
        sum = rounded;
        a.at(0, k) = in_units(term);
    }
    a.at(0, terms - 1) = in_units((midpoint - distance - sum % ulp + ulp) % ulp);
    ASSERT_GT(lost, distance);
    for (std::int64_t k = 0; k < terms; ++k) a.at(1, k) = -a.at(0, k);
    const Matrix<double> ones(terms, 5, 1.0);
    expect_kept<double>({a, ones}, expected_product(a, ones));
}

/// (1 + e)^2 - (1 + e) = e + e^2, e = 2^-52, beside 2^44 - 2^44: products are multiples of 2^-104 alone, not of 1, as they
/// would be if the lowest bit of 1 + e were overlooked, and e^2 is lost.
TEST(GemmOfDoubles, KnowsTheLowestBitsOfItsElements) {
    constexpr double above_one = 1 + 0x1p-52;
    Matrix<double> a(40, 4), b(4, 5);
    for (std::int64_t row = 0; row < a.rows; ++row) {
        a.at(row, 0) = a.at(row, 1) = above_one;
        a.at(row, 2) = a.at(row, 3) = 0x1p22;
    }
    for (std::int64_t column = 0; column < b.columns; ++column) {
        b.at(0, column) = above_one;
        b.at(1, column) = -1;
        b.at(2, column) = 0x1p22;
        b.at(3, column) = -0x1p22;
    }
    expect_kept<double>({a, b}, expected_product(a, b));
}

/// A strip of unlucky roundings of floats, which are summed in double: 1 + 2^-24 - 200 u, then 253 products of just less than
/// u, which is half an ulp.
TEST(GemmOfFloats, KnowsWhatAStripOfUnluckyRoundingsLoses) {
    constexpr std::int64_t terms = 256;
    Matrix<float> a(2, terms, 0x1p-26f), b(terms, 5, 0x1p-27f - 0x1p-36f);
    for (std::int64_t j = 0; j < b.columns; ++j) {
        b.at(0, j) = 1;
        b.at(1, j) = 0x1p-12f;
        b.at(2, j) = 0x1p-25f;
    }
    a.at(0, 0) = 1;
    a.at(0, 1) = 0x1p-12f;
    a.at(0, 2) = -25 * 0x1p-25f;
    for (std::int64_t k = 0; k < terms; ++k) a.at(1, k) = -a.at(0, k);
    expect_kept<float>({a, b}, expected_product(a, b));
}

TYPED_TEST(Gemm, IsDeafToTheCallersFloatingPointEnvironment) {
    using T = TypeParam;
    Random random(14);
    GemmProblem<T> problem = adversarial_diagonal<T>(random, 70, 30, 0, testing::adversarial_classes<T>().size());
    problem.c = random_matrix<T>(random, 70, 70);
    problem.beta = 1;
    const T three_eta = 3 * std::numeric_limits<T>::denorm_min();
    const auto results = [&] {
        std::vector<std::vector<T>> all;
        for (const T alpha : {T(1), three_eta, T(0)})
            for (const Accuracy accuracy : all_accuracies) {
                problem.alpha = alpha;
                all.push_back(problem.product(Device::cpu(3), accuracy));
            }
        return all;
    };
    testing::expect_deaf_to_the_environment<T>(results);
}

}  // namespace
}  // namespace solver
