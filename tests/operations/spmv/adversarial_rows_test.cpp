#include "solver/spmv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/floating_point_environment.hpp"
#include "support/spmv_executions.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::Execution;
using testing::executions;
using testing::expect_products_kept;
using testing::ExpectedSum;
using testing::for_each_target;
using testing::nan_value;
using testing::on_cuda;
using testing::on_processor;
using testing::product;
using testing::Random;
using testing::residual;
using testing::Span;
using testing::Spmv;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Spmv, ValueTypes);

// Promise: spmv.hpp, "exact: y_i = RN("
/// More than a million sums over both types: every row with every alpha and beta, each on every target.
// Promise: spmv.hpp, "y = alpha A x + beta y; x has A.columns"
TYPED_TEST(Spmv, RoundsEveryAdversarialRowOnceForEveryAlphaAndBeta) {
    using T = TypeParam;
    Random random(9);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 608, 30), random);
    const auto sums = testing::expected_rows<T>(a, x);
    const std::vector<T> y = testing::adversarial_addends(random, sums);
    const std::vector<T> unread(y.size(), nan_value<T>);
    CsrMatrix<T> unread_a = a;
    unread_a.values.assign(a.values.size(), nan_value<T>);
    const std::vector<T> unread_x(x.size(), nan_value<T>);
    std::size_t turn = 0;
    std::size_t compared = 0;
    for (const T alpha : testing::factors<T>())
        for (const T beta : testing::factors<T>()) {
            SCOPED_TRACE(::testing::Message() << "alpha " << alpha << ", beta " << beta);
            const std::vector<T>& addend = beta == 0 ? unread : y;
            const auto rows = alpha == 0
                                  ? testing::affine<T>(std::vector<ExpectedSum<T>>(y.size(), ExpectedSum<T>()), 1, beta, addend)
                                  : testing::affine<T>(sums, alpha, beta, addend);
            const std::vector<T> rounded = testing::rounded(rows);
            compared += rounded.size();
            const auto expect_by = [&, &a = a, &x = x](const Execution& execution) {  // clang 14 captures no binding
                SCOPED_TRACE(::testing::Message() << execution);
                for (const Accuracy accuracy : all_accuracies) {
                    if (accuracy != Accuracy::exact && turn % 7 != 0) continue;
                    const auto found = alpha == 0 ? product<T>(execution, alpha, unread_a, unread_x, beta, addend, accuracy)
                                                  : product<T>(execution, alpha, a, x, beta, addend, accuracy);
                    EXPECT_EQ(testing::broken_promises<T>(found, rows, rounded, accuracy), "");
                }
            };
            for_each_target([&] { expect_by(on_processor()[turn++ % on_processor().size()]); });
            for (const Execution& execution : on_cuda()) expect_by(execution);
        }
    EXPECT_GT(compared, 500000U);
}

/// alpha times the first entry lies in the middle of two subnormals. What decides is alpha times the second, which is no
/// number: the product of alpha and the lower part of the row's sum is lost.
TYPED_TEST(Spmv, RoundsOnceWhereWhatDecidesATieUnderflowsInTheProductWithAlpha) {
    using T = TypeParam;
    constexpr int subnormal = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
    constexpr int alpha_exponent = subnormal + 74, first = subnormal - 1 - alpha_exponent;
    CsrMatrix<T> a{0, 2, {0}, {}, {}};
    for (int fall = std::numeric_limits<T>::digits - 13; fall <= std::numeric_limits<T>::digits + 7; ++fall)
        for (const T m : {T(3), T(5), T(7), T(9)})
            for (const T sign : {T(1), T(-1)}) {
                for (const T value : {std::ldexp(m, first), std::ldexp(sign, first - fall)}) {
                    a.column_indices.push_back(static_cast<std::int32_t>(a.nonzeros() % 2));
                    a.values.push_back(value);
                }
                a.row_offsets.push_back(a.nonzeros());
                ++a.rows;
            }
    const T alpha = std::ldexp(T(1), alpha_exponent);
    const std::vector<T> x(2, T(1)), unread(static_cast<std::size_t>(a.rows), nan_value<T>);
    const std::vector<T> expected = testing::rounded(testing::affine<T>(testing::expected_rows<T>(a, x), alpha, 0, unread));
    for_each_target([&] {
        for (const Execution& execution : executions())
            EXPECT_EQ(testing::differences<T>(product<T>(execution, alpha, a, x, 0, unread, Accuracy::exact), expected), "")
                << execution;
    });
}

// Promise: spmv.hpp, "fast: within gamma_{n+2}"
// Promise: spmv.hpp, "A x stays a pair until"
// Promise: spmv.hpp, "compensated: as if in twice the working precision."
TYPED_TEST(Spmv, KeepsItsPromisesForAdversarialRowsInEveryMode) {
    using T = TypeParam;
    Random random(10);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 76, 70), random);
    expect_products_kept<T>(a, x);
}

// Promise: spmv.hpp, "RN of the real number"
// Promise: spmv.hpp, "r = b - A (x + x_low), x_low empty"
TYPED_TEST(Spmv, RoundsResidualsOfAdversarialRowsOnce) {
    using T = TypeParam;
    Random random(11);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 228, 40), random);
    std::vector<T> x_low;
    for (const T element : x) {
        const int fall = testing::adversarial::digits<T> + static_cast<int>(random.between(0, 3));
        x_low.push_back(!std::isfinite(element) || random.between(0, 3) == 0 ? T(0)
                                                                             : element * std::ldexp(random.number<T>(), -fall));
    }
    for (const bool paired : {false, true}) {
        const auto sums = testing::expected_rows<T>(a, x, paired ? Span<T>(x_low) : Span<T>());
        const std::vector<T> b = testing::adversarial_addends(random, testing::affine<T>(sums, -1, 0, {}));
        const auto rows = testing::affine<T>(sums, -1, 1, b);
        const std::vector<T> rounded = testing::rounded(rows);
        std::size_t turn = 0;
        for_each_target([&, &a = a, &x = x] {
            for (const Execution& execution : executions())
                EXPECT_EQ(testing::differences<T>(residual<T>(execution, a, b, x, paired ? Span<T>(x_low) : Span<T>(),
                                                              turn++ % 2 == 0, Accuracy::exact),
                                                  rounded),
                          "");
        });
    }
}

TYPED_TEST(Spmv, IsDeafToTheCallersFloatingPointEnvironment) {
    using T = TypeParam;
    Random random(14);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 76, 30), random);
    const std::vector<T> y = testing::adversarial_addends(random, testing::expected_rows<T>(a, x));
    const T three_eta = 3 * std::numeric_limits<T>::denorm_min();
    const T five_eta = 5 * std::numeric_limits<T>::denorm_min();
    const auto results = [&, &a = a, &x = x] {
        std::vector<std::vector<T>> all;
        for (const Execution& execution : {on_processor()[2], on_processor()[5]})
            for (const Accuracy accuracy : all_accuracies) {
                all.push_back(product<T>(execution, 1, a, x, 0, y, accuracy));
                all.push_back(product<T>(execution, three_eta, a, x, five_eta, y, accuracy));
                all.push_back(product<T>(execution, 0, a, x, T(0.5), y, accuracy));
                all.push_back(residual<T>(execution, a, y, x, x, false, accuracy));
            }
        return all;
    };
    testing::expect_deaf_to_the_environment<T>(results);
}

}  // namespace
}  // namespace solver
