#include "core/connected_parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "solver/csr_matrix.hpp"

namespace solver {
namespace {

using ::testing::ElementsAre;

TEST(ConnectedParts, HangTogetherByEntriesOnEitherSideOfTheDiagonal) {
    // 0 - 3 - 5 by entries above and below, 1 alone, 2 - 4 by a stored zero.
    const CsrMatrix<double> a{6, 6, {0, 2, 3, 4, 5, 7, 9}, {0, 3, 1, 2, 3, 2, 4, 3, 5}, {1, 1, 1, 1, 1, 0, 1, 1, 1}};
    const ConnectedParts parts = connected_parts(a.view());
    EXPECT_THAT(parts.begins, ElementsAre(0, 3, 4, 6));
    EXPECT_THAT(parts.members, ElementsAre(0, 3, 5, 1, 2, 4));
}

TEST(ConnectedParts, AreNoneOfNothingAndOneOfAChain) {
    EXPECT_EQ(connected_parts(CsrMatrix<double>().view()).count(), 0);
    std::vector<Entry<double>> entries{{0, 999, 1}};
    for (std::int32_t i = 1; i < 1000; ++i) entries.push_back({i, i - 1, 1});
    const ConnectedParts chain = connected_parts(csr_from_entries<double>(1000, 1000, entries).view());
    EXPECT_EQ(chain.count(), 1);
    EXPECT_EQ(chain.members.size(), 1000u);
}

}  // namespace
}  // namespace solver
