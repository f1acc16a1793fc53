#include "preparation/fill_estimate.hpp"

#include "solver/csr_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace solver::preparation {
namespace {

/// A grid of `sides` many dimensions with neighbours in each.
CsrMatrix<double> grid(const std::vector<std::int32_t>& sides) {
    std::int32_t n = 1;
    for (const std::int32_t side : sides) n *= side;
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, 1});
        std::int32_t step = 1;
        for (const std::int32_t side : sides) {
            if (i / step % side > 0) entries.push_back({i, i - step, 1});
            if (i / step % side < side - 1) entries.push_back({i, i + step, 1});
            step *= side;
        }
    }
    return csr_from_entries<double>(n, n, entries);
}

void expect_within(double factor, double estimate, double counted) {
    EXPECT_GE(estimate, counted / factor);
    EXPECT_LE(estimate, counted * factor);
}

TEST(FillEstimate, IsAmdsOwnCountWhereThePartIsTheWhole) {
    // A path without branches does not fill, in whatever order its ends are taken off: n divisions and multiplications.
    const FillPrediction path = estimate_fill(grid({50000}).view());
    EXPECT_EQ(path.factor_entries, 3 * 50000 - 2);
}

TEST(FillEstimate, GrowsWithMeshesAsTheirCountsDo) {
    // Within the factor by which a decision may be off without doing harm.
    for (const auto& sides : {std::vector<std::int32_t>{300, 300}, std::vector<std::int32_t>{45, 45, 45}}) {
        const auto a = grid(sides);
        const FillPrediction estimate = estimate_fill(a.view());
        const FillPrediction counted = *prepare(a.view(), Ordering::amd).fill;
        expect_within(4, estimate.factor_entries, counted.factor_entries);
        expect_within(6, estimate.flops, counted.flops);
    }
}

TEST(FillEstimate, EndsWithTheSmallPartWhereThatIsEnough) {
    const auto a = grid({45, 45, 45});
    const FillPrediction whole = estimate_fill(a.view());
    int asked = 0;
    FillPrediction least;
    const auto is = [&](bool enough) {
        return [&, enough](const FillPrediction& of_small_part) { return ++asked, least = of_small_part, enough; };
    };
    const FillPrediction early = estimate_fill(a.view(), is(true));
    EXPECT_EQ(asked, 1);
    EXPECT_EQ(early.factor_entries, least.factor_entries);
    EXPECT_EQ(early.flops, least.flops);
    EXPECT_LT(early.factor_entries, whole.factor_entries);
    EXPECT_LT(early.flops, whole.flops);
    EXPECT_GT(early.factor_entries, static_cast<double>(a.nonzeros()));
    EXPECT_EQ(estimate_fill(a.view(), is(false)).flops, whole.flops);
    EXPECT_EQ(asked, 2);
    estimate_fill(grid({10, 10}).view(), is(true));
    EXPECT_EQ(asked, 2) << "nothing is estimated there";
}

TEST(FillEstimate, OfWhatIsNotMuchLargerThanTheSmallPartIsItsOwnCount) {
    const auto a = grid({30, 30, 30});
    const FillPrediction whole = estimate_fill(a.view()), least = *least_fill(a.view());
    EXPECT_EQ(estimate_fill(a.view(), [](const FillPrediction&) { return false; }).flops, whole.flops);
    EXPECT_EQ(estimate_fill(a.view(), [](const FillPrediction&) { return true; }).flops, least.flops);
    EXPECT_LT(least.flops, whole.flops);
    EXPECT_LT(least.factor_entries, whole.factor_entries);
    EXPECT_FALSE(least_fill(grid({20, 20, 20}).view()).has_value()) << "nothing that is not known as soon";
}

TEST(FillEstimate, SeesThatLongPathsDoNotFill) {
    const FillPrediction path = estimate_fill(grid({300000}).view());
    expect_within(1.01, path.factor_entries, 3 * 300000.0 - 2);
}

TEST(FillEstimate, CoversMatricesThatFallApart) {
    std::vector<Entry<double>> entries;
    constexpr std::int32_t n = 200000;
    for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, i, 1});
    const FillPrediction diagonal = estimate_fill(csr_from_entries<double>(n, n, entries).view());
    expect_within(1.01, diagonal.factor_entries, n);
}

/// Rows beyond those of the small part are cut to their first entries, but not where all are long.
TEST(FillEstimate, OfLongRowsIsThatOfFullFactors) {
    constexpr std::int32_t n = 12'000;
    class LongRows final : public PatternRows {
    public:
        std::int64_t rows() const override { return n; }
        std::int64_t row_length(std::int64_t) override { return std::ssize(columns_); }
        std::span<const std::int32_t> columns_of(std::int64_t) override { return columns_; }

    private:
        std::vector<std::int32_t> columns_ = [] {
            std::vector<std::int32_t> columns(n);
            std::iota(columns.begin(), columns.end(), 0);
            return columns;
        }();
    } rows;
    EXPECT_EQ(estimate_fill(rows).factor_entries, static_cast<double>(n) * n);
}

TEST(FillEstimate, OfNothing) { EXPECT_EQ(estimate_fill(CsrView<double>{}).factor_entries, 0); }

}  // namespace
}  // namespace solver::preparation
