#include "auto_solve/cost_model.hpp"

#include <gtest/gtest.h>

namespace solver {
namespace {

using Kind = PreconditionerKind;

MatrixFacts facts_of_size(std::int64_t rows, std::int64_t nonzeros) {
    MatrixFacts result;
    result.rows = rows;
    result.nonzeros = nonzeros;
    return result;
}

/// On a processor, where no kernel has to be started.
CostModel model(std::int64_t rows, std::int64_t nonzeros, double fill_factor = 1) {
    return {CostProfile::processor, facts_of_size(rows, nonzeros), fill_factor};
}

TEST(CostModel, CountsEveryEntryAndRow) {
    for (const Kind kind : {Kind::none, Kind::jacobi, Kind::ilu0, Kind::ilut, Kind::amg, Kind::schur})
        EXPECT_DOUBLE_EQ(model(2000, 14'000, 3).step(kind), 2 * model(1000, 7000, 3).step(kind)) << to_string(kind);
    EXPECT_DOUBLE_EQ(model(2000, 14'000).preparation(), 2 * model(1000, 7000).preparation());
    EXPECT_DOUBLE_EQ(model(2000, 14'000).multigrid(), 2 * model(1000, 7000).multigrid());
    EXPECT_DOUBLE_EQ(model(2000, 14'000).schur(), 2 * model(1000, 7000).schur());
    EXPECT_GT(model(1000, 7000).schur(), model(1000, 7000).multigrid()) << "more steps";
    EXPECT_DOUBLE_EQ(model(2000, 14'000).incomplete_factors(), 2 * model(1000, 7000).incomplete_factors());
}

TEST(CostModel, TakesFactorsForDearerThanNone) {
    const CostModel m = model(1000, 7000, 4);
    EXPECT_EQ(m.step(Kind::none), m.step(Kind::jacobi));
    EXPECT_LT(m.step(Kind::jacobi), m.step(Kind::ilu0));
    EXPECT_DOUBLE_EQ(m.step(Kind::ilut) - m.step(Kind::none), 4 * (m.step(Kind::ilu0) - m.step(Kind::none)));
}

/// A row of the factors is combined with as many others as it has entries: fill_factor times those of A, n at most.
TEST(CostModel, LetsIncompleteFactorsCostTheSquareOfARow) {
    EXPECT_DOUBLE_EQ(model(1000, 7000, 6).incomplete_factors(), 9 * model(1000, 7000, 2).incomplete_factors());
    EXPECT_DOUBLE_EQ(model(1000, 14'000, 2).incomplete_factors(), 4 * model(1000, 7000, 2).incomplete_factors());
    EXPECT_DOUBLE_EQ(model(100, 700, 50).incomplete_factors(), model(100, 700, 500).incomplete_factors());
    EXPECT_EQ(model(0, 0).incomplete_factors(), 0);
}

TEST(CostModel, LetsCompleteFactorsCostTheirEntriesAndOperations) {
    const CostModel m = model(1000, 7000);
    const auto cost = [&](double entries, double flops) {
        FillPrediction fill;
        fill.factor_entries = static_cast<decltype(fill.factor_entries)>(entries);
        fill.flops = flops;
        return m.complete_factors(fill);
    };
    EXPECT_GT(cost(1000, 0), 0);
    EXPECT_GT(cost(0, 1000), 0);
    EXPECT_DOUBLE_EQ(cost(1000, 5000), cost(1000, 0) + cost(0, 5000));
}

TEST(CostModel, LetsFactorsOfFullMatricesCostATenth) {
    const FillPrediction fill{.factor_entries = 1e6, .flops = 2e9 / 3};
    const double sparse = model(1000, 124'999).complete_factors(fill);
    for (const std::int64_t entries : {125'000, 1'000'000})
        EXPECT_DOUBLE_EQ(model(1000, entries).complete_factors(fill), sparse / 10);
    EXPECT_EQ(model(255, 255 * 255).complete_factors(fill), sparse) << "few rows are eliminated as sparse ones";
}

/// What a GPU takes for starting kernels, however small the matrix is.
TEST(CostModel, KnowsThatShortStepsTakeTimeOnAGpu) {
    const auto step = [](std::int64_t rows, Kind kind) {
        return CostModel(CostProfile::gpu, facts_of_size(rows, 7 * rows), 1).step(kind);
    };
    EXPECT_EQ(step(10, Kind::jacobi), step(1000, Kind::jacobi));
    EXPECT_LT(step(1000, Kind::jacobi), step(10'000'000, Kind::jacobi));
    EXPECT_GT(step(10, Kind::amg), 2 * step(10, Kind::jacobi));
}

}  // namespace
}  // namespace solver
