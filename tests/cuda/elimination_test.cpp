/// Full matrices factored on a device: the bits of the processor, and of singular ones the number of pivots.

#include "preconditioner/full_lu.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"

#include <gtest/gtest.h>

#include "support/dense_systems.hpp"
#include "support/expected.hpp"
#include "support/on_cuda.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace solver {
namespace {

class CudaElimination : public testing::OnCuda {};

CsrMatrix<double> full_matrix(std::int32_t n, const std::vector<double>& elements) {
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i)
        for (std::int32_t j = 0; j < n; ++j) entries.push_back({i, j, elements[static_cast<std::size_t>(i) * n + j]});
    return csr_from_entries<double>(n, n, entries);
}

/// Of numbers of all sizes, or of few whole ones, so that candidates for a pivot are equally large.
std::vector<double> full_elements(std::int32_t n, bool whole) {
    std::vector<double> values = testing::random_values<double>(static_cast<std::size_t>(n) * n, 3 + n, true);
    std::mt19937_64 random(n);
    if (whole)
        for (double& value : values) value = static_cast<double>(random() % 15) - 7;
    for (std::int32_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i) * (n + 1)] += 0.125;
    return values;
}

void expect_factors(const FullFactors& device, const FullFactors& host) {
    EXPECT_EQ(device.pivots, host.pivots);
    if (host.pivots < static_cast<std::int64_t>(host.row_order.size())) return;
    EXPECT_EQ(device.row_order, host.row_order);
    EXPECT_EQ(testing::differences<double>(device.factors.lower.values, host.factors.lower.values), "");
    EXPECT_EQ(testing::differences<double>(device.factors.upper.values, host.factors.upper.values), "");
}

TEST_F(CudaElimination, HasTheBitsOfTheProcessor) {
    for (const std::int32_t n : {1, 2, 31, 32, 33, 64, 96, 97, 200, 700})
        for (const bool whole : {false, true}) {
            SCOPED_TRACE(::testing::Message() << n << " rows" << (whole ? ", whole numbers" : ""));
            const CsrMatrix<double> a = full_matrix(n, full_elements(n, whole));
            expect_factors(factor_full(a, Device::cuda()), factor_full(a, Device::cpu(2)));
        }
}

TEST_F(CudaElimination, SaysHowManyPivotsASingularMatrixHas) {
    constexpr std::int32_t n = 100;
    for (const std::int32_t column : {0, 31, 32, 60, 99}) {
        SCOPED_TRACE(::testing::Message() << "column " << column);
        std::vector<double> of_a = full_elements(n, true);
        for (std::int32_t i = 0; i < n; ++i) of_a[static_cast<std::size_t>(i) * n + column] = 0;
        EXPECT_EQ(factor_full(full_matrix(n, of_a), Device::cuda()).pivots, column);
    }
}

/// Of Inf - Inf below the diagonal, which is no pivot, and on it, which stays one.
TEST_F(CudaElimination, TakesNaNForAPivotWhereTheProcessorDoes) {
    const double large = 1.5e308;
    for (const double last : {-large, 1.0}) {
        const CsrMatrix<double> a = full_matrix(4, {1, large, 0, 0, -1, large, 0, 0, 0, 0, 0, 1, 1, last, 0, 0});
        const FullFactors host = factor_full(a, Device::cpu(1)), device = factor_full(a, Device::cuda());
        EXPECT_LT(host.pivots, 4);
        EXPECT_EQ(device.pivots, host.pivots);
    }
    constexpr std::int32_t n = 70;
    std::vector<double> of_a = full_elements(n, false);
    of_a[static_cast<std::size_t>(40) * n + 39] = of_a[static_cast<std::size_t>(65) * n + 20] = std::nan("");
    const FullFactors host = factor_full(full_matrix(n, of_a), Device::cpu(1));
    const FullFactors device = factor_full(full_matrix(n, of_a), Device::cuda());
    EXPECT_EQ(device.pivots, host.pivots);
    EXPECT_EQ(device.row_order, host.row_order);
}

/// By default, and with nothing said of preconditioners.
TEST_F(CudaElimination, SolvesWithTheBitsOfTheProcessor) {
    constexpr std::int64_t n = 300;
    const DenseMatrix<double> a{n, n, full_elements(n, false)};
    const std::vector<double> b = testing::random_values<double>(n, 1, true);
    std::vector<double> found(n), expected(n);
    const auto solve_on = [&](const Device& device, std::vector<double>& x) {
        return solve<double>(SpmvPlan<double>(a.view(), device), b, x, {},
                             SolveOptions{.iteration = {.accuracy = Accuracy::exact}});
    };
    const SolveReport on_device = solve_on(Device::cuda(), found), on_processor = solve_on(Device::cpu(2), expected);
    EXPECT_EQ(on_device.result().status, SolveStatus::converged);
    EXPECT_EQ(on_processor.result().status, SolveStatus::converged);
    EXPECT_TRUE(std::ranges::any_of(on_device.attempts, [](const Attempt& made) {
        return made.preconditioner == PreconditionerKind::klu && made.refusal.empty();
    }));
    EXPECT_EQ(testing::differences<double>(found, expected), "");
}

}  // namespace
}  // namespace solver
