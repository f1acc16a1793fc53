#include "cpu/rank_update.hpp"

#include "solver/numeric/error_free.hpp"
#include "solver/numeric/rounding.hpp"
#include "support/linear_systems.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace solver {
namespace {

using testing::random_vector;

/// Each element is that of a plain loop, wherever it lies among lanes and tiles.
TEST(RankUpdate, AddsProductsInPairsOneAfterAnother) {
    constexpr std::int64_t depth = 37;
    for (const std::int64_t columns : {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 63, 65, 100}) {
        const std::int64_t stride = columns + 3;
        const auto l = random_vector<double>(depth, 1), u = random_vector<double>(static_cast<std::size_t>(depth * stride), 2);
        auto high = random_vector<double>(static_cast<std::size_t>(columns), 3);
        std::vector<double> low(high.size()), expected_high = high, expected_low = low;
        for (std::int64_t j = 0; j < columns; ++j)
            for (std::int64_t k = 0; k < depth; ++k) {
                const Split<double> product = two_prod(l[k], u[k * stride + j]);
                const Split<double> sum = two_sum(expected_high[j], product.value);
                expected_high[j] = sum.value;
                expected_low[j] = add_rn(expected_low[j], add_rn(sum.error, product.error));
            }
        cpu::add_products_in_pairs(columns, depth, l.data(), u.data(), stride, high.data(), low.data());
        EXPECT_EQ(high, expected_high) << columns;
        EXPECT_EQ(low, expected_low) << columns;
        EXPECT_TRUE(std::ranges::any_of(low, [](double part) { return part != 0; })) << columns;
    }
}

}  // namespace
}  // namespace solver
