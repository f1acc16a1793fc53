#include "preparation/blocks.hpp"

#include "matrices/generators.hpp"
#include "solver/complex.hpp"

#include <gtest/gtest.h>

#include "support/complex_numbers.hpp"

#include <cmath>
#include <complex>

namespace solver {
namespace {

using testing::complex_matrix;
using testing::Random;

TEST(RealFormOfComplexMatrix, IsRecognised) {
    Random random(1);
    for (int n = 2; n < 30; ++n) {
        auto a = complex_matrix<double>(random, n, n, 4);
        for (auto& z : a.values)
            if (z == std::complex<double>()) z = {0, 1};
        if (a.values.empty()) continue;
        a.values.front() = {0, 1};
        EXPECT_TRUE(preparation::is_real_form(real_form(a.view()).view()));
        for (auto& z : a.values) z = z.real();
        EXPECT_FALSE(preparation::is_real_form(real_form(a.view()).view()));
    }
}

TEST(RealFormOfComplexMatrix, IsNotSeenInOthers) {
    for (const char* name : {"poisson2d_10", "convection_diffusion_10", "elasticity2d_6", "dc2_like"})
        EXPECT_FALSE(preparation::is_real_form(matrices::find_generator(name)->make().view())) << name;
    const CsrMatrix<double> whole = real_form(matrices::find_generator("helmholtz_5")->make_complex().view());
    for (std::size_t k = 0; k < whole.values.size(); k += 7) {
        CsrMatrix<double> other = whole;
        other.values[k] *= 2;
        EXPECT_FALSE(preparation::is_real_form(other.view())) << "value " << k;
    }
}

// Promise: preparation.hpp, "Rows and columns of the real form"
/// All pairs stay together, the order is AMD's of the complex pattern, and the larger part of each pivot is on the diagonal.
TEST(Prepare, KeepsThePairsOfAComplexMatrixTogether) {
    for (const char* name : {"helmholtz_9", "power_network_80", "wilson_2_2_0.1"}) {
        SCOPED_TRACE(name);
        const auto a = matrices::find_generator(name)->make_complex();
        auto turned = a;  // by i, so that imaginary parts are the larger ones
        for (auto& z : turned.values) z = {-z.imag(), z.real()};
        for (const auto& matrix : {a, turned}) {
            const CsrMatrix<double> k = real_form(matrix.view());
            const Preparation found = prepare(k.view(), Ordering::amd);
            CsrMatrix<double> sizes{matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, {}};
            for (const auto& z : matrix.values) sizes.values.push_back(std::max(std::abs(z.real()), std::abs(z.imag())));
            const Preparation of_sizes = prepare(sizes.view(), Ordering::amd);
            ASSERT_EQ(found.row_order.size(), static_cast<std::size_t>(2 * matrix.rows));
            for (std::size_t l = 0; l < of_sizes.row_order.size(); ++l) {
                EXPECT_EQ(found.row_order[2 * l] / 2, of_sizes.row_order[l]);
                EXPECT_EQ(found.row_order[2 * l + 1] / 2, of_sizes.row_order[l]);
                EXPECT_EQ(found.column_order[2 * l], 2 * of_sizes.column_order[l]);
                EXPECT_EQ(found.column_order[2 * l + 1], 2 * of_sizes.column_order[l] + 1);
            }
            EXPECT_EQ(found.structural_rank, k.rows);
            EXPECT_EQ(found.fill->factor_entries, 4 * of_sizes.fill->factor_entries);
            const CsrMatrix<double> prepared = prepared_matrix(k.view(), found);
            for (std::int64_t i = 0; i < prepared.rows; ++i) {
                double diagonal = 0;
                for (std::int64_t e = prepared.row_offsets[i]; e < prepared.row_offsets[i + 1]; ++e)
                    if (prepared.column_indices[e] == i) diagonal = std::abs(prepared.values[e]);
                EXPECT_GE(diagonal, 0.5 * (1 - 0x1p-19));
                EXPECT_LE(diagonal, 2 * (1 + 0x1p-19));
            }
        }
    }
}

}  // namespace
}  // namespace solver
