#include "solver/csr_matrix.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>

#include "support/broken_matrices.hpp"
#include "support/products.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <type_traits>

namespace solver {
namespace {

using ::testing::ElementsAre;

CsrMatrix<double> example() { return {2, 3, {0, 2, 3}, {0, 2, 1}, {1, 2, 3}}; }

/// With offsets of 64 and of 32 bits.
template <class Exception>
void expect_refusal(const CsrMatrix<double>& matrix, const std::string& message) {
    const testing::WithNarrowOffsets<double> narrow(matrix);
    for (const CsrView<double>& view : {matrix.view(), narrow.view()}) {
        try {
            check(view);
            FAIL() << "expected: " << message;
        } catch (const Exception& error) {
            EXPECT_EQ(error.what(), message);
        }
    }
}

// Promise: row_offsets.hpp, "The first of some row offsets"
// Promise: row_offsets.hpp, "The offsets as they are, or nullptr"
// Promise: row_offsets.hpp, "Where the i-th lies."
// Promise: row_offsets.hpp, "What `copy` is, where"
// Promise: row_offsets.hpp, "A view of row offsets of either width"
// Promise: row_offsets.hpp, "Of std::vector, std::span"
// Promise: row_offsets.hpp, "Elements are values."
TEST(RowOffsets, OfEitherWidthAreReadWhereTheyAre) {
    const std::vector<std::int32_t> narrow{0, 2, std::numeric_limits<std::int32_t>::max()};
    const std::vector<std::int64_t> wide{0, 2, std::int64_t{1} << 40};
    const RowOffsets of_narrow(narrow), of_wide(wide);
    EXPECT_THAT(std::vector<std::int64_t>(of_narrow.begin(), of_narrow.end()), ElementsAre(0, 2, 2147483647));
    EXPECT_THAT(std::vector<std::int64_t>(of_wide.begin(), of_wide.end()), ElementsAre(0, 2, std::int64_t{1} << 40));
    EXPECT_EQ(of_narrow.address(1), narrow.data() + 1);
    EXPECT_EQ(of_wide.address(1), wide.data() + 1);
    EXPECT_EQ(of_narrow.as<std::int32_t>(), narrow.data());
    EXPECT_EQ(of_narrow.as<std::int64_t>(), nullptr);
    EXPECT_EQ(of_wide.as<std::int64_t>(), wide.data());
    EXPECT_EQ(of_narrow.bytes().size(), 12u);
    EXPECT_EQ(of_wide.bytes().size(), 24u);
    EXPECT_EQ(of_narrow.copied_to(narrow.data() + 1)[0], 2);
    EXPECT_EQ(of_wide.copied_to(wide.data() + 2)[0], std::int64_t{1} << 40);
    EXPECT_TRUE(RowOffsets().empty());
    const std::array<std::int64_t, 2> array{0, 3};
    EXPECT_THAT(RowOffsets(array)[1], 3);
    EXPECT_THAT(RowOffsets(std::span<const std::int32_t>(narrow).subspan(1))[0], 2);
    static_assert(std::is_same_v<decltype(*of_narrow.begin()), std::int64_t>);
}

// Promise: views.hpp, "Columns need not be sorted; a repeated column"
// Promise: views.hpp, "Throws InvalidArgument or DimensionMismatch unless"
TEST(CheckCsr, AcceptsMatricesWithUnsortedAndRepeatedColumnsAndEmptyRows) {
    check(example().view());
    check(CsrMatrix<float>{}.view());
    check(CsrMatrix<double>{3, 2, {0, 0, 3, 3}, {1, 0, 1}, {1, 2, 3}}.view());
}

// Promise: views.hpp, "Throws InvalidArgument or DimensionMismatch unless"
TEST(CheckCsr, RefusesBrokenMatricesWithTheWholeMessage) {
    const auto broken = [](const std::function<void(CsrMatrix<double>&)>& change) {
        CsrMatrix<double> matrix = example();
        change(matrix);
        return matrix;
    };
    expect_refusal<InvalidArgument>(broken([](auto& m) { m.rows = -1; }),
                                    "check CSR matrix: the matrix is -1 x 3; rows and columns lie within 0..2147483647");
    expect_refusal<InvalidArgument>(
        broken([](auto& m) { m.columns = 2147483648; }),
        "check CSR matrix: the matrix is 2 x 2147483648; rows and columns lie within 0..2147483647");
    expect_refusal<DimensionMismatch>(broken([](auto& m) { m.values.pop_back(); }),
                                      "check CSR matrix: there are 3 column indices and 2 values; one of each per entry");
    expect_refusal<DimensionMismatch>(broken([](auto& m) { m.row_offsets.pop_back(); }),
                                      "check CSR matrix: row_offsets has 2 elements; 2 rows need 3");
    expect_refusal<DimensionMismatch>(broken([](auto& m) { m.row_offsets.clear(); }),
                                      "check CSR matrix: row_offsets has 0 elements; 2 rows need 3");
    expect_refusal<InvalidArgument>(broken([](auto& m) { m.row_offsets[0] = 1; }),
                                    "check CSR matrix: row_offsets[0] is 1; it must be 0");
    expect_refusal<InvalidArgument>(broken([](auto& m) { m.row_offsets[1] = 4; }),
                                    "check CSR matrix: row_offsets falls from 4 to 3 behind row 1; it must not fall");
    expect_refusal<DimensionMismatch>(broken([](auto& m) { m.row_offsets[2] = 2; }),
                                      "check CSR matrix: row_offsets ends with 2; it must end with the number of entries, 3");
    expect_refusal<InvalidArgument>(broken([](auto& m) { m.column_indices[1] = 3; }),
                                    "check CSR matrix: entry 1 is in column 3, counted from 0; the matrix has 3 columns");
    expect_refusal<InvalidArgument>(broken([](auto& m) { m.column_indices[1] = -1; }),
                                    "check CSR matrix: entry 1 is in column -1, counted from 0; the matrix has 3 columns");
}

// Promise: views.hpp, "By the threads that the device has, with"
TEST(CheckCsr, NamesTheFirstOffenderWithAnyNumberOfThreads) {
    const std::int32_t rows = 200000;
    CsrMatrix<double> diagonal{rows, rows, {0}, {}, {}};
    for (std::int32_t row = 0; row < rows; ++row) {
        diagonal.column_indices.push_back(row);
        diagonal.values.push_back(1);
        diagonal.row_offsets.push_back(row + 1);
    }
    const auto message = [](const CsrMatrix<double>& matrix, int threads) -> std::string {
        try {
            check(matrix.view(), Device::cpu(threads));
        } catch (const InvalidArgument& error) {
            return error.what();
        }
        return "";
    };
    CsrMatrix<double> columns = diagonal, offsets = diagonal;
    for (const std::size_t place : {60001, 150000, 199999}) {
        columns.column_indices[place] = rows;
        offsets.row_offsets[place] = 0;
    }
    for (const int threads : {1, 2, 5}) {
        EXPECT_EQ(message(diagonal, threads), "");
        EXPECT_EQ(message(columns, threads),
                  "check CSR matrix: entry 60001 is in column 200000, counted from 0; the matrix has 200000 columns");
        EXPECT_EQ(message(offsets, threads),
                  "check CSR matrix: row_offsets falls from 60000 to 0 behind row 60000; it must not fall");
    }
}

// Promise: views.hpp, "Throws InvalidArgument or DimensionMismatch unless"
TEST(CheckCsr, TakesNoBitsForAMatrixThatIsNone) {
    testing::expect_broken_matrices_refused<float>([](const CsrView<float>& a) { check(a); });
    EXPECT_THROW(check(CsrMatrix<float>{1, 0, {0, 1}, {0}, {1}}.view()), InvalidArgument);
}

TEST(CsrFromEntries, SortsColumnsAndKeepsZeros) {
    const std::vector<Entry<float>> entries = {{2, 1, 5}, {0, 2, 0}, {2, 0, 4}, {0, 0, 1}};
    const CsrMatrix<float> matrix = csr_from_entries<float>(3, 3, entries);
    EXPECT_THAT(matrix.row_offsets, ElementsAre(0, 2, 2, 4));
    EXPECT_THAT(matrix.column_indices, ElementsAre(0, 2, 0, 1));
    EXPECT_THAT(matrix.values, ElementsAre(1, 0, 4, 5));
}

// Promise: csr_matrix.hpp, "The matrix of these entries, in any order"
TEST(CsrFromEntries, SumsRepeatedEntriesWithOneRoundingInAnyOrder) {
    std::vector<Entry<double>> entries = {{0, 0, 1e16},    {0, 0, 1},        {0, 0, -1e16}, {0, 1, 7},     {1, 0, 1},
                                          {1, 0, 0x1p-53}, {1, 0, 0x1p-200}, {1, 1, 1e308}, {1, 1, 1e308}, {1, 1, -1e308}};
    std::mt19937 random(1);
    for (int trial = 0; trial < 50; ++trial) {
        std::shuffle(entries.begin(), entries.end(), random);
        const CsrMatrix<double> matrix = csr_from_entries<double>(2, 2, entries);
        EXPECT_THAT(matrix.row_offsets, ElementsAre(0, 2, 4));
        EXPECT_THAT(matrix.column_indices, ElementsAre(0, 1, 0, 1));
        EXPECT_THAT(matrix.values, ElementsAre(1, 7, 1 + 0x1p-52, 1e308));
    }
}

TEST(CsrFromEntries, RoundsSumsOfFloatsOnce) {
    const std::vector<Entry<float>> entries = {{0, 0, 1}, {0, 0, 0x1p-24F}, {0, 0, 0x1p-100F}};  // double would round to a tie
    EXPECT_THAT(csr_from_entries<float>(1, 1, entries).values, ElementsAre(1 + 0x1p-23F));
}

// Promise: csr_matrix.hpp, "Throws InvalidArgument for an entry outside"
TEST(CsrFromEntries, RefusesEntriesOutsideTheMatrix) {
    for (const Entry<double> entry : {Entry<double>{-1, 0, 1}, {2, 0, 1}, {0, -1, 1}, {0, 3, 1}})
        EXPECT_THROW(csr_from_entries<double>(2, 3, std::span(&entry, 1)), InvalidArgument);
    EXPECT_THROW(csr_from_entries<double>(-1, 3, {}), InvalidArgument);
    EXPECT_THROW(csr_from_entries<double>(1, std::int64_t{1} << 31, {}), InvalidArgument);
    try {
        const Entry<double> entry{0, 3, 1};
        csr_from_entries<double>(2, 3, std::span(&entry, 1));
    } catch (const InvalidArgument& error) {
        EXPECT_STREQ(error.what(), "CSR matrix from entries: entry 0 is at (0, 3), counted from 0; the matrix is 2 x 3");
    }
}

TEST(CsrFromEntries, MakesMatricesOfAnyShapeWithoutEntries) {
    for (const std::int64_t rows : {0, 1, 5})
        for (const std::int64_t columns : {0, 1, 5}) {
            const CsrMatrix<double> matrix = csr_from_entries<double>(rows, columns, {});
            EXPECT_EQ(matrix.rows, rows);
            EXPECT_EQ(matrix.columns, columns);
            check(matrix.view());
        }
}

// Promise: csr_matrix.hpp, "The transpose; columns come out sorted"
TEST(Transpose, ExchangesRowsAndColumnsAndSortsThem) {
    const CsrMatrix<double> matrix{2, 3, {0, 3, 5}, {2, 0, 1, 2, 1}, {1, 2, 3, 4, 5}};
    const CsrMatrix<double> result = transpose(matrix.view());
    check(result.view());
    EXPECT_EQ(result.rows, 3);
    EXPECT_EQ(result.columns, 2);
    EXPECT_THAT(result.row_offsets, ElementsAre(0, 1, 3, 5));
    EXPECT_THAT(result.column_indices, ElementsAre(0, 0, 1, 0, 1));
    EXPECT_THAT(result.values, ElementsAre(2, 3, 5, 1, 4));
}

TEST(Transpose, TwiceGivesAMatrixWithSortedColumnsBack) {
    std::mt19937 random(2);
    std::vector<Entry<float>> entries;
    for (int k = 0; k < 3000; ++k)
        entries.push_back({static_cast<std::int32_t>(random() % 70), static_cast<std::int32_t>(random() % 90), float(k)});
    const CsrMatrix<float> matrix = csr_from_entries<float>(70, 90, entries);
    const CsrMatrix<float> back = transpose(transpose(matrix.view()).view());
    EXPECT_EQ(back.row_offsets, matrix.row_offsets);
    EXPECT_EQ(back.column_indices, matrix.column_indices);
    EXPECT_EQ(back.values, matrix.values);
}

// Promise: csr_matrix.hpp, "By the threads that the device has"
/// With columns that threads share, columns that are empty, and a column that all rows have.
TEST(Transpose, ThreadsDoNotShow) {
    std::mt19937 random(3);
    std::vector<Entry<double>> entries;
    for (std::int32_t row = 0; row < 40000; ++row) {
        entries.push_back({row, 7, double(row)});
        for (int k = 0; k < 10; ++k) entries.push_back({row, static_cast<std::int32_t>(random() % 900 + 50), double(random())});
    }
    const CsrMatrix<double> matrix = csr_from_entries<double>(40000, 1000, entries);
    const CsrMatrix<double> expected = transpose(matrix.view(), Device::cpu(1));
    check(expected.view());
    for (const int threads : {2, 3, 7}) {
        const CsrMatrix<double> result = transpose(matrix.view(), Device::cpu(threads));
        EXPECT_EQ(result.row_offsets, expected.row_offsets);
        EXPECT_EQ(result.column_indices, expected.column_indices);
        EXPECT_EQ(result.values, expected.values);
        EXPECT_EQ(transpose(result.view(), Device::cpu(threads)).values, matrix.values);
    }
}

// Promise: views.hpp, "Whatever takes a CsrView calls it, but in"
TEST(Transpose, RefusesBrokenMatrices) {
    testing::expect_broken_matrices_refused<double>([](const CsrView<double>& a) { transpose(a); });
}

TEST(Transpose, TakesRowOffsetsOf32Bits) {
    const CsrMatrix<double> matrix{2, 3, {0, 3, 5}, {2, 0, 1, 2, 1}, {1, 2, 3, 4, 5}};
    const testing::WithNarrowOffsets<double> narrow(matrix);
    EXPECT_EQ(transpose(narrow.view()).row_offsets, transpose(matrix.view()).row_offsets);
    EXPECT_EQ(transpose(narrow.view()).values, transpose(matrix.view()).values);
    EXPECT_EQ(convert<float>(narrow.view()).row_offsets, matrix.row_offsets);
}

// Promise: csr_matrix.hpp, "A copy of the matrix with every value rounded"
TEST(Convert, RoundsEveryValueToNearest) {
    const CsrMatrix<double> matrix{1, 4, {0, 4}, {0, 1, 2, 3}, {1 + 0x1p-24, 1 + 0x1.8p-23, 1e300, -0.0}};
    const CsrMatrix<float> single = convert<float>(matrix.view());
    EXPECT_THAT(single.values, ElementsAre(1, 1 + 0x1p-22F, std::numeric_limits<float>::infinity(), 0));
    EXPECT_TRUE(std::signbit(single.values[3]));
    EXPECT_EQ(single.column_indices, matrix.column_indices);
    EXPECT_EQ(convert<double>(single.view()).values[1], 1 + 0x1p-22);
}

}  // namespace
}  // namespace solver
