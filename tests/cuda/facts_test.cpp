#include "kernels/facts.hpp"

#include "auto_solve/fetched_rows.hpp"
#include "auto_solve/matrix_facts.hpp"
#include "auto_solve/reach.hpp"
#include "core/column_norms.hpp"
#include "cuda/spmv.hpp"
#include "matrices/generators.hpp"
#include "matrices/graph_laplacian.hpp"
#include "preparation/fill_estimate.hpp"
#include "solver/complex.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/cuda.hpp"
#include "support/empty_rows.hpp"
#include "support/nearly_symmetric.hpp"
#include "support/on_cuda.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace solver {
namespace {

/// Sums of values of many magnitudes depend on their order.
CsrMatrix<double> random_square(std::int32_t n, bool symmetric) {
    std::mt19937_64 random(1);
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < n; ++i) {
        entries.push_back({i, i, 1 + static_cast<double>(random() % 9)});
        for (int k = 0; k < 4; ++k) {
            const auto j = static_cast<std::int32_t>(random() % n);
            const double value = std::ldexp(static_cast<double>(random() % 2001) - 1000, static_cast<int>(random() % 40) - 30);
            if (i == j) continue;
            entries.push_back({i, j, value});
            if (symmetric) entries.push_back({j, i, value});
        }
    }
    return csr_from_entries<double>(n, n, entries);
}

/// The last row and column have every entry, other rows but the diagonal.
CsrMatrix<double> star(std::int32_t n) {
    std::vector<Entry<double>> entries{{n - 1, n - 1, 4}};
    for (std::int32_t i = 0; i + 1 < n; ++i)
        for (const Entry<double>& entry : {Entry<double>{i, i, 3}, {i, n - 1, -1.0 / (i + 1)}, {n - 1, i, -1.0 / (i + 1)}})
            entries.push_back(entry);
    return csr_from_entries<double>(n, n, entries);
}

class CudaMatrixFacts : public testing::OnCuda {
protected:
    static void expect_as_on_the_processor(const CsrMatrix<double>& a, const std::string& what) {
        const SpmvPlan<double> there(a, Device::cuda(0), SpmvOptions{.storage = SpmvStorage::csr});
        const MatrixFacts expected = facts_of(SpmvPlan<double>(a, Device::cpu(2)));
        const MatrixFacts found = facts_of(there);
        EXPECT_EQ(found.rows, expected.rows) << what;
        EXPECT_EQ(found.nonzeros, expected.nonzeros) << what;
        EXPECT_EQ(found.balanced_rows, expected.balanced_rows) << what;
        EXPECT_EQ(found.zero_sums, expected.zero_sums) << what;
        EXPECT_EQ(found.is_finite, expected.is_finite) << what;
        EXPECT_EQ(found.empty_rows, expected.empty_rows) << what;
        EXPECT_EQ(found.zeros_on_diagonal, expected.zeros_on_diagonal) << what;
        EXPECT_EQ(found.positive_sums, expected.positive_sums) << what;
        EXPECT_EQ(found.negative_sums, expected.negative_sums) << what;
        EXPECT_EQ(found.positive_diagonal, expected.positive_diagonal) << what;
        EXPECT_EQ(found.smallest_row, expected.smallest_row) << what;
        EXPECT_EQ(found.largest_row, expected.largest_row) << what;
        EXPECT_EQ(found.is_symmetric, expected.is_symmetric) << what;
        EXPECT_EQ(found.is_nearly_symmetric, expected.is_nearly_symmetric) << what;
        EXPECT_EQ(found.is_complex_symmetric, expected.is_complex_symmetric) << what;

        std::vector<double> norms(static_cast<std::size_t>(a.columns));
        there.on_device()->column_norms(there).copy_to(std::span(norms));
        if (expected.is_finite) {
            EXPECT_EQ(norms, one_norms_of_columns(a.view())) << what;
        }
    }
};

TEST_F(CudaMatrixFacts, AreThoseOfTheProcessor) {
    expect_as_on_the_processor(random_square(50'000, true), "symmetric");
    expect_as_on_the_processor(random_square(50'000, false), "not symmetric");
    expect_as_on_the_processor(solver::testing::scaled_from_both_sides(random_square(50'000, true)), "but for rounding");
    expect_as_on_the_processor(testing::with_points_apart<double>(120, 0, 3), "rows and columns without entries");
    expect_as_on_the_processor({2, 2, {0, 2, 2}, {0, 1}, {1, 1}}, "a row without entries");
    expect_as_on_the_processor({3, 3, {0, 0, 0, 0}, {}, {}}, "no entries");
    expect_as_on_the_processor({2, 2, {0, 3, 4}, {1, 0, 1, 0}, {1, 8, 1, 2}}, "unsorted, a column twice");
    expect_as_on_the_processor({2, 2, {0, 2, 3}, {0, 1, 1}, {1, 2, 3}}, "nothing below the diagonal");
    expect_as_on_the_processor({2, 2, {0, 1, 2}, {0, 1}, {1, -3}}, "negative on the diagonal");
    expect_as_on_the_processor({2, 2, {0, 2, 3}, {0, 1, 0}, {5, 2, 2}}, "missing on the diagonal");
    expect_as_on_the_processor({2, 2, {0, 1, 2}, {0, 1}, {1, std::numeric_limits<double>::infinity()}}, "Inf");
    expect_as_on_the_processor({2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, NAN, NAN, 1}}, "NaN");
}

TEST_F(CudaMatrixFacts, SeeOneEntryThatIsNotMirroredToTheBit) {
    CsrMatrix<double> a = random_square(20'000, true);
    for (const std::int64_t row : {1, 9'999, 19'999}) {
        const auto k = static_cast<std::size_t>(a.row_offsets[row]);
        const double before = a.values[k];
        if (a.column_indices[k] == row) continue;
        a.values[k] = std::nextafter(before, 1e300);
        expect_as_on_the_processor(a, "row " + std::to_string(row));
        a.values[k] = before;
    }
}

TEST_F(CudaMatrixFacts, SeeRealFormsOfComplexMatricesThatAreTheirOwnTransposes) {
    CsrMatrix<std::complex<double>> a = matrices::find_generator("helmholtz_40").value().make_complex();
    expect_as_on_the_processor(real_form(a.view()), "its own transpose");
    a.values[1] += std::complex<double>(0, 1);
    expect_as_on_the_processor(real_form(a.view()), "but for one entry");
}

TEST_F(CudaMatrixFacts, AreThoseOfTheProcessorForHubs) {
    for (const auto& a : {star(5000), matrices::graph_laplacian(30'000)}) expect_as_on_the_processor(a, "hubs");
    for (const std::int64_t other : {1, 31, 32, 33, 4999}) {
        CsrMatrix<double> a = star(5000);
        a.values[a.row_offsets[5000 - 1] + other] *= 2;  // of the hub, which is the last row
        expect_as_on_the_processor(a, "one entry of a hub differs");
    }
}

TEST_F(CudaMatrixFacts, AreThoseOfTheProcessorForRowsThatAreNotSorted) {
    for (const bool symmetric : {false, true}) {
        CsrMatrix<double> a = random_square(1'000, symmetric);
        for (std::int64_t i = 0; i < a.rows; ++i) {
            std::reverse(a.column_indices.begin() + a.row_offsets[i], a.column_indices.begin() + a.row_offsets[i + 1]);
            std::reverse(a.values.begin() + a.row_offsets[i], a.values.begin() + a.row_offsets[i + 1]);
        }
        expect_as_on_the_processor(a, symmetric ? "symmetric" : "not symmetric");
        EXPECT_EQ(facts_of(SpmvPlan<double>(a, Device::cuda(0))).is_symmetric, symmetric);
    }
}

TEST_F(CudaMatrixFacts, FollowNewValues) {
    CsrMatrix<double> a = random_square(1'000, true);
    SpmvPlan<double> plan(a, Device::cuda(0));
    EXPECT_TRUE(facts_of(plan).is_symmetric);
    a.values[1] *= 2;
    plan.update_values(a.values);
    EXPECT_FALSE(facts_of(plan).is_symmetric);
}

/// A path of so many rows, in the order of a permutation that keeps row 0, and a row beside it that hangs together with
/// nothing.
CsrMatrix<double> winding_path(std::int32_t rows) {
    std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin() + 1, order.end(), std::mt19937(3));
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i + 1 < rows; ++i)
        entries.insert(entries.end(), {{order[i], order[i + 1], 1}, {order[i + 1], order[i], 1}});
    return csr_from_entries<double>(rows + 1, rows + 1, entries);
}

TEST_F(CudaMatrixFacts, HaveTheReachThatTheProcessorFinds) {
    for (const auto& a : {winding_path(1000), random_square(100'000, true), random_square(100'000, false), star(5000),
                          matrices::graph_laplacian(30'000)}) {
        const SpmvPlan<double> there(a, Device::cuda(0), SpmvOptions{.storage = SpmvStorage::csr});
        for (const std::int64_t steps : {0, 1, 3, 5, 8, 10, 15, 300, 600, 998, 999, 1000, 5000})
            EXPECT_EQ(there.on_device()->has_rows_beyond(steps), has_rows_beyond(a.view(), steps)) << a.rows << ' ' << steps;
    }
}

TEST_F(CudaMatrixFacts, HaveTheFillThatTheProcessorEstimates) {
    for (const auto& a : {random_square(1000, false), random_square(100'000, true), winding_path(90'000)}) {
        const std::vector<std::int32_t> narrow(a.row_offsets.begin(), a.row_offsets.end());
        const CsrView<double> with_narrow{a.rows, a.columns, narrow, a.column_indices, a.values};
        const FillPrediction expected = preparation::estimate_fill(a.view());
        for (const CsrView<double>& view : {a.view(), with_narrow}) {
            const cuda::DeviceCsrMatrix<double> there(0, view);
            cuda::FetchedRows<double> rows(there.view());
            const FillPrediction found = preparation::estimate_fill(rows);
            EXPECT_EQ(found.factor_entries, expected.factor_entries);
            EXPECT_EQ(found.flops, expected.flops);
        }
    }
}

TEST_F(CudaMatrixFacts, HaveTheDiagonalUnlessItIsUnusual) {
    const auto diagonal_of = [](const CsrMatrix<double>& a) {
        const SpmvPlan<double> plan(a, Device::cuda(0), SpmvOptions{.storage = SpmvStorage::csr});
        const std::optional<cuda::DeviceArray<double>> found = plan.on_device()->diagonal();
        std::optional<std::vector<double>> here;
        if (found) found->copy_to(here.emplace(static_cast<std::size_t>(found->size())));
        return here;
    };
    const auto usual = diagonal_of({3, 3, {0, 2, 3, 5}, {0, 1, 1, 2, 0}, {2, 9, -4, 0.5, 9}});
    ASSERT_TRUE(usual);
    EXPECT_EQ(*usual, (std::vector<double>{2, -4, 0.5}));
    EXPECT_FALSE(diagonal_of({2, 2, {0, 1, 2}, {0, 0}, {1, 1}})) << "missing";
    EXPECT_FALSE(diagonal_of({2, 2, {0, 1, 2}, {0, 1}, {1, 0}})) << "zero";
    EXPECT_FALSE(diagonal_of({2, 2, {0, 1, 3}, {0, 1, 1}, {1, 1, 1}})) << "twice";
}

}  // namespace
}  // namespace solver
