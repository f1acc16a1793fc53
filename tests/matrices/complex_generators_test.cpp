#include "core/hash.hpp"
#include "matrices/generators.hpp"
#include "solver/complex.hpp"
#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <map>
#include <string>
#include <utility>

namespace solver::matrices {
namespace {

using Complex = std::complex<double>;
using ::testing::HasSubstr;

CsrMatrix<Complex> make_complex(const std::string& name) { return find_generator(name).value().make_complex(); }

using Entries = std::map<std::pair<std::int64_t, std::int64_t>, Complex>;

Entries entries_of(const CsrMatrix<Complex>& a) {
    Entries entries;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) entries[{i, a.column_indices[k]}] = a.values[k];
    return entries;
}

std::uint64_t hash_of_complex(const std::string& name) {
    const CsrMatrix<Complex> a = make_complex(name);
    Hash hash;
    for (const auto offset : a.row_offsets) hash.add(static_cast<std::uint64_t>(offset));
    for (const auto column : a.column_indices) hash.add(static_cast<std::uint64_t>(column));
    for (const Complex& value : a.values) {
        hash.add(std::bit_cast<std::uint64_t>(value.real()));
        hash.add(std::bit_cast<std::uint64_t>(value.imag()));
    }
    return hash.value();
}

TEST(ComplexGenerators, MakeTheSameMatrixOnEveryMachine) {
    EXPECT_EQ(hash_of_complex("wilson_2_4"), 0x6ad114579ffc3c84u);
    EXPECT_EQ(hash_of_complex("wilson_3_2_0.125_7"), 0x88eeb3c3bd556c17u);
    EXPECT_EQ(hash_of_complex("helmholtz_7"), 0x3572e162de03e8a4u);
    EXPECT_EQ(hash_of_complex("power_network_300"), 0xa2330fb82e712fe7u);
}

TEST(ComplexGenerators, GiveTheRealFormToWhoAsksForARealMatrix) {
    const Generator generator = find_generator("helmholtz_4").value();
    EXPECT_TRUE(generator.is_complex());
    EXPECT_EQ(generator.make().values, real_form(generator.make_complex().view()).values);
    EXPECT_FALSE(find_generator("poisson2d_4")->is_complex());
}

/// gamma_5 M is Hermitian; gamma_5 of this basis exchanges the first two spins with the last two.
TEST(Wilson, IsHermitianTimesGamma5) {
    const Entries m = entries_of(make_complex("wilson_3_4_0.13"));
    const auto turned = [](std::int64_t i) { return i / 12 * 12 + (i % 12 + 6) % 12; };
    for (const auto& [place, value] : m) {
        const auto other = m.find({turned(place.second), turned(place.first)});
        ASSERT_NE(other, m.end());
        EXPECT_EQ(other->second, std::conj(value));
    }
}

TEST(Wilson, HasFortyNonzerosARowAndOnesOnTheDiagonal) {
    const CsrMatrix<Complex> a = make_complex("wilson_4_4");
    EXPECT_EQ(a.rows, 12 * 256);
    for (std::int64_t i = 0; i < a.rows; ++i) EXPECT_EQ(a.row_offsets[i + 1] - a.row_offsets[i], 40);
    const Entries m = entries_of(a);
    for (std::int64_t i = 0; i < a.rows; ++i) EXPECT_EQ(m.at({i, i}), Complex(1));
}

/// Twice the hop in time of the third spin is 2 kappa U: its rows are orthonormal, and so are those of every step.
TEST(Wilson, HasUnitaryLinks) {
    constexpr double kappa = 0.125;  // exact, as is its inverse
    const Entries m = entries_of(make_complex("wilson_3_3_0.125"));
    constexpr std::int64_t sites = 27, time_stride = 27;
    for (std::int64_t site = 0; site < sites; ++site)
        for (int i = 0; i < 3; ++i)
            for (int k = 0; k < 3; ++k) {
                Complex dot = 0;
                for (int j = 0; j < 3; ++j) {
                    const auto link = [&](int row) {
                        return m.at({site * 12 + 6 + row, (site + time_stride) * 12 + 6 + j}) / (-2 * kappa);
                    };
                    dot += link(i) * std::conj(link(k));
                }
                EXPECT_NEAR(dot.real(), i == k ? 1 : 0, 1e-15);
                EXPECT_NEAR(dot.imag(), 0, 1e-15);
            }
}

TEST(Wilson, SaysWhatIsWrongWithAName) {
    for (const auto& [name, words] : {std::pair("wilson_8", "'' stands where a number within 1..256"),
                                      {"wilson_x_8", "'x' stands where"},
                                      {"wilson_8_8_2", "'2' stands where a number within 0..1"},
                                      {"wilson_8_8_0.1_1_5", "'5' follows the seed"},
                                      {"wilson_256_256", "rows are too many"}})
        try {
            find_generator(name);
            FAIL() << name;
        } catch (const InvalidArgument& error) {
            EXPECT_THAT(error.what(), HasSubstr(words));
        }
}

TEST(Helmholtz, IsSymmetricAndAbsorbsAtItsEdges) {
    const Entries m = entries_of(make_complex("helmholtz_3"));
    for (const auto& [place, value] : m) EXPECT_EQ(m.at({place.second, place.first}), value);
    EXPECT_EQ(m.at({4, 4}), Complex(4 - 0.625 * 0.625));
    EXPECT_EQ(m.at({0, 0}), Complex(4 - 0.625 * 0.625) - 2.0 * Complex(1, 0.625));
    EXPECT_EQ(m.at({0, 1}), Complex(-1));
}

/// Exactly: all numbers are multiples of 2^-20.
TEST(PowerNetwork, IsSymmetricWithRowsThatSumToWhatFlowsToEarth) {
    const CsrMatrix<Complex> a = make_complex("power_network_400");
    const Entries m = entries_of(a);
    for (const auto& [place, value] : m) EXPECT_EQ(m.at({place.second, place.first}), value);
    for (std::int64_t i = 0; i < a.rows; ++i) {
        Complex sum = 0;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) sum += a.values[k];
        EXPECT_EQ(sum, Complex(i == 0 ? 100 : 0, 0x1p-10));
    }
}

}  // namespace
}  // namespace solver::matrices
