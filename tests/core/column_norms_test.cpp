#include "core/column_norms.hpp"

#include "solver/csr_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace solver {
namespace {

template <class T>
std::vector<T> by_rows(const CsrMatrix<T>& a) {
    std::vector<T> norms(static_cast<std::size_t>(a.columns));
    for (std::int64_t k = 0; k < a.nonzeros(); ++k) norms[a.column_indices[k]] += std::abs(a.values[k]);
    return norms;
}

/// Rows of up to `longest` entries in columns within `reach` of where the diagonal would be; every seventh row is empty.
template <class T>
CsrMatrix<T> random_band(std::int32_t rows, std::int32_t columns, std::int32_t reach, int longest) {
    std::mt19937 random(7);
    std::vector<Entry<T>> entries;
    for (std::int32_t i = 0; i < rows; ++i)
        for (int k = 0; k < longest && i % 7 != 0; ++k) {
            const auto middle = static_cast<std::int64_t>(i) * columns / rows;
            const auto j = middle - reach + static_cast<std::int64_t>(random() % (2U * static_cast<unsigned>(reach) + 1));
            const auto value =
                static_cast<T>(std::ldexp(static_cast<double>(random()) - 0x1p31, static_cast<int>(random() % 60)));
            if (j >= 0 && j < columns) entries.push_back({i, static_cast<std::int32_t>(j), value});
        }
    return csr_from_entries<T>(rows, columns, entries);
}

template <class T>
class ColumnNorms : public ::testing::Test {};
using FloatingPoints = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ColumnNorms, FloatingPoints);

// The sums round, so that another order of their terms has other bits.
TYPED_TEST(ColumnNorms, HaveTheSameBitsForEveryNumberOfThreads) {
    using T = TypeParam;
    for (const auto& a : {random_band<T>(40000, 40000, 3, 5), random_band<T>(40000, 40000, 2000, 5),
                          random_band<T>(20000, 30000, 30000, 8), random_band<T>(50000, 70, 3, 4)})
        for (const int threads : {1, 2, 3, 16})
            EXPECT_EQ(one_norms_of_columns(a.view(), Device::cpu(threads)), by_rows(a)) << a.rows << ' ' << threads;
}

TYPED_TEST(ColumnNorms, AreThoseOfNothingToo) {
    using T = TypeParam;
    EXPECT_EQ(one_norms_of_columns(CsrMatrix<T>{0, 0, {0}, {}, {}}.view(), Device::cpu(2)), std::vector<T>{});
    EXPECT_EQ(one_norms_of_columns(CsrMatrix<T>{2, 3, {0, 0, 0}, {}, {}}.view(), Device::cpu(2)), (std::vector<T>{0, 0, 0}));
}

TYPED_TEST(ColumnNorms, OfADenseMatrixHaveTheSameBits) {
    using T = TypeParam;
    constexpr std::int64_t rows = 300, columns = 400;
    const CsrMatrix<T> a = random_band<T>(rows, columns, columns, 200);
    std::vector<T> elements(static_cast<std::size_t>(rows * columns));
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            elements[i * columns + a.column_indices[k]] = a.values[k];
    for (const int threads : {1, 3})
        EXPECT_EQ(one_norms_of_columns(DenseView<T>{rows, columns, columns, 1, elements.data()}, Device::cpu(threads)),
                  by_rows(a));
}

}  // namespace
}  // namespace solver
