#include "preconditioner/gram_in_pairs.hpp"

#include "preconditioner/gram.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/reduce.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

namespace solver {
namespace {

/// 1 on the diagonal and -2 above it, with a last row of ones: all sums of products are integers. (A'A)^-1 has elements of the
/// order of 4^(n - 1) / n.
CsrMatrix<double> doubling(std::int32_t n, int unit_exponent = 0) {
    std::vector<Entry<double>> entries;
    const auto add = [&](std::int32_t i, std::int32_t j, double value) {
        entries.push_back({i, j, std::ldexp(value, unit_exponent * j)});
    };
    for (std::int32_t j = 0; j < n; ++j) {
        if (j > 0) add(j - 1, j, -2);
        add(j, j, 1);
        add(n, j, j + 1 == n ? 1 : 0);
    }
    return csr_from_entries<double>(n + 1, n, entries);
}

struct Made {
    CsrMatrix<double> a, transposed, pattern;
    SpmvPlan<double> plan, transposed_plan;
    std::unique_ptr<Preconditioner<double>> factors;

    explicit Made(const CsrMatrix<double>& matrix, bool is_reversed = false, int threads = 1, std::int64_t memory_limit = 0,
                  double unit = 1)
        : a(matrix),
          transposed(transpose(a.view())),
          pattern(*gram_matrix(a.view(), transposed.view(), 1, 1 << 20, Device::cpu(1))),
          plan(a, Device::cpu(threads)),
          transposed_plan(transposed, Device::cpu(threads)) {
        std::vector<std::int32_t> order(static_cast<std::size_t>(a.columns));
        std::iota(order.begin(), order.end(), 0);
        if (is_reversed) std::reverse(order.begin(), order.end());
        factors =
            make_gram_factors_in_pairs(plan, transposed_plan, unit, pattern.view(), order, memory_limit, Device::cpu(threads));
    }

    std::vector<double> apply(const std::vector<double>& r) const {
        std::vector<double> z(r.size());
        factors->apply(r, z, Accuracy::exact);
        return z;
    }

    double length_of_image(const std::vector<double>& x) const {
        std::vector<double> y(static_cast<std::size_t>(a.rows));
        plan.multiply(1, x, 0, y, Accuracy::exact);
        return norm2(std::span<const double>(y), Accuracy::exact, Device::cpu(1));
    }

    /// Exact, where all products and sums are integers.
    std::vector<double> normal_product(const std::vector<double>& x) const {
        std::vector<double> y(static_cast<std::size_t>(a.rows)), z(x.size());
        plan.multiply(1, x, 0, y, Accuracy::exact);
        transposed_plan.multiply(1, y, 0, z, Accuracy::exact);
        return z;
    }
};

std::vector<double> alternating(std::size_t n) {
    std::vector<double> x;
    for (std::size_t i = 0; i < n; ++i) x.push_back(i % 2 == 0 ? 1 : -1);
    return x;
}

/// The condition number of A is below 2^(n + 2), and factors of A'A in double have lost it at n = 27. In the norm ||A x||,
/// rounding L's elements turns x by some n u of it for each of two triangles, and their solves by as much.
TEST(GramInPairs, SolvesNormalEquationsWhoseConditionDoubleCannotHold) {
    for (const std::int32_t n : {1, 2, 20, 34, 40})
        for (const bool is_reversed : {false, true}) {
            const Made made(doubling(n), is_reversed);
            ASSERT_TRUE(made.factors) << n;
            const auto expected = alternating(static_cast<std::size_t>(n));
            auto difference = made.apply(made.normal_product(expected));
            for (std::size_t i = 0; i < expected.size(); ++i) difference[i] -= expected[i];
            EXPECT_LE(made.length_of_image(difference), std::ldexp(4 * n, n + 2 - 53) * made.length_of_image(expected)) << n;
        }
}

/// M^-1 is that of the scaled matrix, scaled by powers of two.
TEST(GramInPairs, TakesColumnsInAnyUnits) {
    constexpr std::int32_t n = 20;
    const Made plain(doubling(n)), scaled(doubling(n, 20)), of_unit(doubling(n), false, 1, 0, 0x1p10);
    const std::vector<double> r = alternating(n);
    std::vector<double> r_scaled = r;
    for (std::size_t j = 0; j < n; ++j) r_scaled[j] = std::ldexp(r[j], 20 * static_cast<int>(j));
    const auto z = plain.apply(r), z_scaled = scaled.apply(r_scaled), z_of_unit = of_unit.apply(r);
    for (std::size_t j = 0; j < n; ++j) {
        EXPECT_EQ(std::ldexp(z_scaled[j], 20 * static_cast<int>(j)), z[j]);
        EXPECT_EQ(z_of_unit[j], std::ldexp(z[j], 20)) << "of A divided by the unit";
    }
}

TEST(GramInPairs, HasTheSameBitsForEveryNumberOfThreadsAndOfADenseMatrix) {
    const Made one(doubling(30)), two(doubling(30), false, 2);
    EXPECT_EQ(one.factors->factor_hash(), two.factors->factor_hash());
    DenseMatrix<double> full{one.a.rows, one.a.columns, std::vector<double>(static_cast<std::size_t>(one.a.rows * 30))};
    for (std::int64_t i = 0; i < one.a.rows; ++i)
        for (std::int64_t k = one.a.row_offsets[i]; k < one.a.row_offsets[i + 1]; ++k)
            full.values[one.a.column_indices[k] * full.rows + i] = one.a.values[k];
    const DenseView<double> view = full.view();
    const DenseView<double> transposed{full.columns, full.rows, full.rows, 1, full.values.data()};
    std::vector<std::int32_t> order(30);
    std::iota(order.begin(), order.end(), 0);
    const auto of_full =
        make_gram_factors_in_pairs(SpmvPlan<double>(view, Device::cpu(1)), SpmvPlan<double>(transposed, Device::cpu(1)), 1,
                                   one.pattern.view(), order, 0, Device::cpu(1));
    EXPECT_EQ(of_full->factor_hash(), one.factors->factor_hash());
}

/// Numbers 2^-480 below the largest of their column are taken as 0: products have exact errors, with and without fused
/// multiplication.
TEST(GramInPairs, TakesNumbersFarBelowTheirColumnAsZero) {
    CsrMatrix<double> a = doubling(20), with_small = a;
    std::vector<Entry<double>> entries;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            entries.push_back({static_cast<std::int32_t>(i), a.column_indices[k], a.values[k]});
    entries.push_back({0, 19, 0x1p-1000});
    with_small = csr_from_entries<double>(a.rows, a.columns, entries);
    entries.back().value = 0;
    EXPECT_EQ(Made(with_small).factors->factor_hash(),
              Made(csr_from_entries<double>(a.rows, a.columns, entries)).factors->factor_hash());
}

/// Where L fills in beside the pattern of A'A: an arrow whose head comes first.
TEST(GramInPairs, FillsIn) {
    constexpr std::int32_t n = 12;
    std::vector<Entry<double>> entries;
    for (std::int32_t j = 0; j < n; ++j) {
        entries.push_back({j, 0, 1});
        if (j > 0) entries.push_back({j, j, static_cast<double>(j + 1)});
    }
    const Made head_first(csr_from_entries<double>(n, n, entries)), head_last(csr_from_entries<double>(n, n, entries), true);
    EXPECT_EQ(head_first.factors->factor_entries(), n * n);
    EXPECT_EQ(head_last.factors->factor_entries(), n + 2 * (n - 1));
    const auto expected = alternating(n);
    for (const Made* made : {&head_first, &head_last}) {
        const auto found = made->apply(made->normal_product(expected));
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(found[i], expected[i], 1e-11) << i;
    }
}

TEST(GramInPairs, MakesNothingBeyondTheMemoryLimit) {
    EXPECT_FALSE(Made(doubling(20), false, 1, 100).factors);
    EXPECT_TRUE(Made(doubling(20), false, 1, 100000).factors);
}

/// A pivot that is not a number is not positive.
TEST(GramInPairs, MakesNothingWithoutPositivePivots) {
    CsrMatrix<double> a = doubling(5);
    a.values[3] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(Made(a).factors);
}

TEST(GramInPairs, TakesEmptyColumns) {
    const CsrMatrix<double> a{2, 2, {0, 1, 2}, {0, 0}, {3, 4}};
    const Made made(a);
    EXPECT_EQ(made.apply({50, 7}), (std::vector<double>{2, 7}));
}

}  // namespace
}  // namespace solver
