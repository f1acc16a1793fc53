#include "solver/spmv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/spmv_executions.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::Execution;
using testing::executions;
using testing::expect_products_kept;
using testing::for_each_target;
using testing::nan_value;
using testing::on_cuda;
using testing::on_processor;
using testing::product;
using testing::Random;
using testing::random_rows;
using testing::random_vector;
using testing::same_bits;
using testing::Spmv;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Spmv, ValueTypes);

// Promise: spmv.hpp, "Special values as in reduce.hpp, row by row"
/// Lanes beyond a row's end may read later rows, but must drop what they find.
TYPED_TEST(Spmv, NeverLetsInfOrNanInToARowThatDoesNotHaveIt) {
    using T = TypeParam;
    constexpr T inf = std::numeric_limits<T>::infinity();
    Random random(12);
    for (const T special : {inf, -inf, nan_value<T>}) {
        std::vector<std::int64_t> lengths;
        for (int i = 0; i < 300; ++i) lengths.push_back(random.between(0, i % 60 < 30 ? 6 : 40));
        CsrMatrix<T> a = random_rows<T>(random, 50, lengths);
        std::vector<T> x = random_vector<T>(random, 51);
        x[0] = special;
        for (auto& column : a.column_indices)
            if (column == 0 && random.between(0, 2) != 0) column = 1;
        x[50] = special;  // no entry meets it
        a.columns = 51;
        for (T& value : a.values)
            if (random.between(0, 99) == 0) value = random.coin() ? special : T(0);
        expect_products_kept<T>(a, x);
    }
}

TYPED_TEST(Spmv, ReturnsPlusZeroAndTheCanonicalNanWhateverTheFactors) {
    using T = TypeParam;
    const T odd_nan = std::copysign(nan_value<T>, T(-1));
    const std::vector<T> x{T(1), T(-1), odd_nan, T(0)};
    CsrMatrix<T> a;
    a.rows = 30;
    a.columns = 4;
    for (int i = 0; i < 10; ++i) {  // 1 - 1, NaN, -0, thrice each
        a.column_indices.insert(a.column_indices.end(), {0, 1, 2, 3});
        a.values.insert(a.values.end(), {T(1), T(1), T(1), T(-1)});
        a.row_offsets.insert(a.row_offsets.end(), {4 * i + 2, 4 * i + 3, 4 * i + 4});
    }
    for (const T alpha : testing::factors<T>())
        for (const T beta : testing::factors<T>()) {
            const std::vector<T> y(30, beta == 0 ? nan_value<T> : -T(0));
            for_each_target([&] {
                for (const Execution& execution : executions())
                    for (const Accuracy accuracy : all_accuracies) {
                        const std::vector<T> found = product<T>(execution, alpha, a, x, beta, y, accuracy);
                        for (std::size_t i = 0; i < found.size(); ++i)
                            EXPECT_TRUE(same_bits(found[i], i % 3 == 1 && alpha != 0 ? nan_value<T> : T(0)))
                                << found[i] << " in row " << i << ", " << to_string(accuracy) << ", " << alpha << ", " << beta;
                    }
            });
        }
}

TYPED_TEST(Spmv, MultipliesByInfAndNanLikeRealFactors) {
    using T = TypeParam;
    constexpr T inf = std::numeric_limits<T>::infinity();
    CsrMatrix<T> a;
    a.rows = 9;
    a.columns = 1;
    a.row_offsets = {0, 1, 2, 3, 3, 4, 5, 6, 7, 8};
    a.column_indices.assign(8, 0);
    a.values = {T(1), T(-2), T(0), T(1), T(-2), T(0), T(1), T(3)};
    const std::vector<T> x{T(1)};
    const std::vector<T> y(9, T(1));
    const auto expect_by = [&](const Execution& execution) {
        for (const Accuracy accuracy : all_accuracies) {
            const auto times_inf = product<T>(execution, inf, a, x, 1, y, accuracy);
            const auto times_nan = product<T>(execution, nan_value<T>, a, x, 1, y, accuracy);
            const auto plus_inf = product<T>(execution, 1, a, x, -inf, y, accuracy);
            for (int i = 0; i < 9; ++i) {
                const T sum = a.view().row_length(i) == 0 ? T(0) : a.values[a.row_offsets[i]];
                EXPECT_TRUE(same_bits(times_inf[i], sum == 0 ? nan_value<T> : inf * sum))
                    << to_string(accuracy) << i << ' ' << times_inf[i];
                EXPECT_TRUE(same_bits(times_nan[i], nan_value<T>)) << to_string(accuracy) << i;
                EXPECT_TRUE(same_bits(plus_inf[i], -inf)) << to_string(accuracy) << i;
            }
        }
    };
    for_each_target([&] { expect_by(on_processor()[0]); });
    for (const Execution& execution : on_cuda()) expect_by(execution);
}

}  // namespace
}  // namespace solver
