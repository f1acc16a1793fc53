#include "core/nonzero_elements.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <utility>
#include <vector>

namespace solver {
namespace {

/// Rows and columns that fill no, one and several groups of rows; zeros of both signs, subnormals, NaN.
TEST(NonzeroElements, AreThoseOfEachRowInEitherOrderOfTheElementsByAnyNumberOfThreads) {
    std::mt19937_64 random(1);
    const double values[] = {0, -0.0, std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::quiet_NaN(),
                             2, 3};
    for (const auto& [rows, columns] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 3}, {3, 0}, {5, 7}, {33, 40}, {400, 300}}) {
        std::vector<double> by_rows(static_cast<std::size_t>(rows * columns)), by_columns(by_rows.size());
        CsrMatrix<double> expected{rows, columns, {0}, {}, {}};
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t j = 0; j < columns; ++j) {
                const double value = values[random() % std::size(values)];
                by_rows[i * columns + j] = by_columns[j * rows + i] = value;
                if (value == 0) continue;
                expected.column_indices.push_back(static_cast<std::int32_t>(j));
                expected.values.push_back(value);
            }
            expected.row_offsets.push_back(expected.nonzeros());
        }
        for (const int threads : {1, 2, 3})
            for (const DenseView<double>& a : {DenseView<double>{rows, columns, columns, 1, by_rows.data()},
                                               DenseView<double>{rows, columns, 1, rows, by_columns.data()}}) {
                const CsrMatrix<double> found = nonzero_elements(a, threads);
                EXPECT_EQ(found.row_offsets, expected.row_offsets);
                EXPECT_EQ(found.column_indices, expected.column_indices);
                ASSERT_EQ(found.values.size(), expected.values.size());
                for (std::size_t k = 0; k < found.values.size(); ++k)
                    ASSERT_TRUE(found.values[k] == expected.values[k] || std::isnan(expected.values[k]));
            }
    }
}

}  // namespace
}  // namespace solver
