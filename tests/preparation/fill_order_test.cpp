#include "preparation/fill_order.hpp"

#include "solver/csr_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace solver::preparation {
namespace {

/// Row i has its diagonal and `others` of the columns that follow it, round and round.
CsrMatrix<double> banded(std::int32_t n, std::int32_t others) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t k = 0; k <= others; ++k) entries.push_back({i, (i + k) % n, 1});
    return csr_from_entries<double>(n, n, entries);
}

// AMD leaves rows of more than 10 sqrt(n) entries where they are.
TEST(FillOrder, OfLongRowsIsTheNaturalOneAsAmdHasIt) {
    for (const auto& [n, others] :
         std::vector<std::pair<std::int32_t, std::int32_t>>{{120, 119}, {400, 201}, {400, 399}, {900, 301}}) {
        const CsrMatrix<double> a = banded(n, others);
        ASSERT_TRUE(has_only_long_rows(a.view())) << n << ", " << others;
        const std::vector<std::int32_t> offsets(a.row_offsets.begin(), a.row_offsets.end());
        const FillOrder expected = approximate_minimum_degree(offsets, a.column_indices), found = natural_order(n);
        EXPECT_EQ(found.order, expected.order);
        EXPECT_EQ(found.fill.factor_entries, expected.fill.factor_entries);
        EXPECT_EQ(found.fill.flops, expected.fill.flops);
    }
}

TEST(FillOrder, IsAskedOfAmdWhereARowIsShort) {
    EXPECT_FALSE(has_only_long_rows(banded(400, 200).view()));
    EXPECT_FALSE(has_only_long_rows(banded(10, 9).view())) << "of so few rows none is long";
    CsrMatrix<double> a = banded(400, 399);
    a.row_offsets.back() -= 300;
    a.column_indices.resize(a.column_indices.size() - 300);
    a.values.resize(a.column_indices.size());
    EXPECT_FALSE(has_only_long_rows(a.view())) << "the last row has 100 entries";
}

// An arrow: its first column fills in every other one unless it comes last.
TEST(FillOrder, OfColumnsPutsTheFullOneLast) {
    constexpr std::int32_t n = 50;
    std::vector<std::int32_t> offsets{0}, rows;
    for (std::int32_t j = 0; j < n; ++j) {
        for (std::int32_t i = 0; i < n; ++i)
            if (i == j || j == 0) rows.push_back(i);
        offsets.push_back(static_cast<std::int32_t>(rows.size()));
    }
    std::vector<std::int32_t> order = order_of_columns(offsets, rows);
    EXPECT_TRUE(order[n - 1] == 0 || order[n - 2] == 0) << "with one other left the order makes no difference";
    std::ranges::sort(order);
    for (std::int32_t j = 0; j < n; ++j) EXPECT_EQ(order[j], j);
    EXPECT_TRUE(order_of_columns({0}, {}).empty());
}

}  // namespace
}  // namespace solver::preparation
