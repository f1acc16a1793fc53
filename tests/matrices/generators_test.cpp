#include "matrices/generators.hpp"

#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "support/less_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <bit>
#include <boost/multiprecision/mpfr.hpp>
#include <cmath>
#include <functional>

namespace solver::matrices {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Wide = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<1000>>;

/// FNV-1a (64 bits) over 8 bytes a number, the lowest byte first.
class Hash {
public:
    void add(std::uint64_t number) {
        for (int byte = 0; byte < 8; ++byte) state_ = (state_ ^ ((number >> (8 * byte)) & 0xff)) * 0x100000001b3u;
    }
    void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
    std::uint64_t value() const { return state_; }

private:
    std::uint64_t state_ = 0xcbf29ce484222325u;
};

CsrMatrix<double> make(const std::string& name) { return find_generator(name).value().make(); }

std::uint64_t hash_of(const std::string& name) {
    const CsrMatrix<double> matrix = make(name);
    Hash hash;
    hash.add(static_cast<std::uint64_t>(matrix.rows));
    hash.add(static_cast<std::uint64_t>(matrix.columns));
    for (const auto offset : matrix.row_offsets) hash.add(static_cast<std::uint64_t>(offset));
    for (const auto column : matrix.column_indices) hash.add(static_cast<std::uint64_t>(column));
    for (const double value : matrix.values) hash.add(value);
    return hash.value();
}

std::string message_of(const std::string& name) {
    try {
        find_generator(name);
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

TEST(Generators, MakeTheSameMatrixOnEveryMachine) {
    EXPECT_EQ(hash_of("poisson2d_7.mtx"), 0xecbea3ced1960bfcu);
    EXPECT_EQ(hash_of("poisson3d_5.mtx"), 0xcc503d1915c8f73au);
    EXPECT_EQ(hash_of("stencil27_4.mtx"), 0x48b94e1d36afb91du);
    EXPECT_EQ(hash_of("convection_diffusion_9.mtx"), 0xa8766d4f2c2d9c37u);
    EXPECT_EQ(hash_of("poisson2d_random_7.mtx"), 0x7497d8f12b760eefu);
    EXPECT_EQ(hash_of("poisson3d_random_5.mtx"), 0xb2310cbbc30636f5u);
    EXPECT_EQ(hash_of("stencil27_random_4.mtx"), 0xc12b82be96d821cdu);
    EXPECT_EQ(hash_of("anisotropic_7.mtx"), 0xdc42b04ee8bd355bu);
    EXPECT_EQ(hash_of("anisotropic_rotated_7.mtx"), 0xc720ea4a4ddabe0bu);
    EXPECT_EQ(hash_of("jumping_blocks_9.mtx"), 0xa0579321886082c9u);
    EXPECT_EQ(hash_of("jumping_random_9.mtx"), 0x06a6d877d4c0db4fu);
    EXPECT_EQ(hash_of("convection_weak_5.mtx"), 0x6170697519fde32au);
    EXPECT_EQ(hash_of("convection_medium_5.mtx"), 0x0b21c07f71b9a182u);
    EXPECT_EQ(hash_of("convection_strong_5.mtx"), 0xc4e31d36e577bfaau);
    EXPECT_EQ(hash_of("elasticity2d_6.mtx"), 0x3cd31b4cef531376u);
    EXPECT_EQ(hash_of("stokes2d_6.mtx"), 0x4de0d3540acf8054u);
    EXPECT_EQ(hash_of("graph_laplacian_1000.mtx"), 0x78f2a9da05beacb4u);
    EXPECT_EQ(hash_of("power_law_1000.mtx"), 0x6712fb060f934c3eu);
    EXPECT_EQ(hash_of("cancelling_300.mtx"), 0xe2dec55fe0e8196eu);
    EXPECT_EQ(hash_of("thousandths_1000.mtx"), 0xd9fbd6276ecd4444u);
    EXPECT_EQ(hash_of("dc2_like.mtx"), 0xd6343b7826f70e83u);
}

TEST(Generators, MakeTheSumThatKahansSummationIsShownWith) {
    const CsrMatrix<double> matrix = make("thousandths_1000000");
    check(matrix.view());
    EXPECT_EQ(matrix.rows, 1);
    ASSERT_EQ(matrix.columns, 1'000'000);
    float one_by_one = 0;
    for (const double value : matrix.values) one_by_one += static_cast<float>(value);
    EXPECT_NEAR(one_by_one, 991.14f, 0.01f);
}

TEST(Generators, MakeMatricesThatPassTheCheckWithSortedColumns) {
    for (const char* name : {"poisson2d_1",
                             "poisson2d_30",
                             "poisson3d_8",
                             "stencil27_1",
                             "stencil27_6",
                             "convection_diffusion_20",
                             "power_law_1",
                             "power_law_2",
                             "power_law_3",
                             "power_law_5000",
                             "poisson2d_random_30",
                             "poisson3d_random_8",
                             "stencil27_random_6",
                             "dc2_like",
                             "anisotropic_1",
                             "anisotropic_30",
                             "anisotropic_rotated_1",
                             "anisotropic_rotated_30",
                             "jumping_blocks_1",
                             "jumping_blocks_9",
                             "jumping_random_1",
                             "jumping_random_9",
                             "convection_weak_1",
                             "convection_weak_6",
                             "convection_medium_6",
                             "convection_strong_6",
                             "elasticity2d_1",
                             "elasticity2d_2",
                             "elasticity2d_12",
                             "stokes2d_1",
                             "stokes2d_2",
                             "stokes2d_12",
                             "graph_laplacian_1",
                             "graph_laplacian_2",
                             "graph_laplacian_3",
                             "graph_laplacian_5000",
                             "cancelling_1",
                             "cancelling_14",
                             "cancelling_39",
                             "cancelling_500"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<double> matrix = make(name);
        EXPECT_EQ(matrix.rows, matrix.columns);
        check(matrix.view());
        for (std::int64_t i = 0; i < matrix.rows; ++i)
            for (std::int64_t k = matrix.row_offsets[i] + 1; k < matrix.row_offsets[i + 1]; ++k)
                ASSERT_LT(matrix.column_indices[k - 1], matrix.column_indices[k]);
    }
}

TEST(Generators, CountTheEntriesOfStencils) {
    EXPECT_EQ(make("poisson2d_10").nonzeros(), 5 * 100 - 4 * 10);
    EXPECT_EQ(make("convection_diffusion_10").nonzeros(), 5 * 100 - 4 * 10);
    EXPECT_EQ(make("poisson3d_10").nonzeros(), 7 * 1000 - 6 * 100);
    EXPECT_EQ(make("stencil27_10").nonzeros(), 28 * 28 * 28);  // (3 n - 2)^3
    EXPECT_EQ(make("anisotropic_10").nonzeros(), 5 * 100 - 4 * 10);
    EXPECT_EQ(make("anisotropic_rotated_10").nonzeros(), 28 * 28);
    for (const std::string family : {"jumping_blocks_", "jumping_random_", "convection_weak_", "convection_strong_"})
        EXPECT_EQ(make(family + "10").nonzeros(), 7 * 1000 - 6 * 100) << family;
}

TEST(Generators, MakeInteriorRowsThatSumToZero) {
    for (const char* name : {"poisson2d_5", "poisson3d_5", "stencil27_5", "anisotropic_5", "anisotropic_rotated_5"}) {
        const CsrMatrix<double> matrix = make(name);
        const std::int64_t middle = matrix.rows / 2;
        double sum = 0;
        for (std::int64_t k = matrix.row_offsets[middle]; k < matrix.row_offsets[middle + 1]; ++k) sum += matrix.values[k];
        EXPECT_EQ(sum, 0.0) << name;
    }
}

TEST(Generators, MakeConvectionDiffusionUnsymmetricWithPositiveDiagonalsAlone) {
    const CsrMatrix<double> matrix = make("convection_diffusion_5");
    EXPECT_NE(transpose(matrix.view()).values, matrix.values);
    for (std::int64_t i = 0; i < matrix.rows; ++i)
        for (std::int64_t k = matrix.row_offsets[i]; k < matrix.row_offsets[i + 1]; ++k)
            EXPECT_EQ(matrix.values[k] > 0, matrix.column_indices[k] == i);
}

TEST(Generators, GiveRandomStencilsThePatternOfTheConstantOnesAndSignsOfAnMMatrix) {
    for (const std::string family : {"poisson2d_", "poisson3d_", "stencil27_"}) {
        const CsrMatrix<double> constant = make(family + "6"), matrix = make(family + "random_6");
        EXPECT_EQ(matrix.row_offsets, constant.row_offsets);
        EXPECT_EQ(matrix.column_indices, constant.column_indices);
        EXPECT_NE(transpose(matrix.view()).values, matrix.values);
        for (std::size_t k = 0; k < matrix.values.size(); ++k) EXPECT_EQ(matrix.values[k] > 0, constant.values[k] > 0);
    }
}

TEST(Generators, GivePowerLawMatricesAFewHugeRowsAndADominantDiagonal) {
    const CsrMatrix<double> matrix = make("power_law_20000");
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        lengths.push_back(matrix.view().row_length(i));
        double diagonal = 0, others = 0;
        for (std::int64_t k = matrix.row_offsets[i]; k < matrix.row_offsets[i + 1]; ++k)
            (matrix.column_indices[k] == i ? diagonal : others) += std::abs(matrix.values[k]);
        ASSERT_GT(diagonal, others);
    }
    std::sort(lengths.begin(), lengths.end(), std::greater<>());
    EXPECT_NEAR(static_cast<double>(lengths[0]), 5000, 5);
    EXPECT_NEAR(static_cast<double>(lengths[9]), 500, 5);
    EXPECT_LE(lengths[10000], 4);
}

TEST(Generators, MakeATwentiethOfTheRowsCancel) {
    const CsrMatrix<double> matrix = make("cancelling_6000");
    int cancelling = 0;
    int by_more_than_1e40 = 0;
    for (std::int64_t i = 0; i < matrix.rows; ++i) {
        EXPECT_GE(matrix.view().row_length(i), 15);
        EXPECT_LE(matrix.view().row_length(i), 40);
        Wide sum = 0, magnitudes = 0;
        for (std::int64_t k = matrix.row_offsets[i]; k < matrix.row_offsets[i + 1]; ++k) {
            sum += matrix.values[k];
            magnitudes += std::abs(matrix.values[k]);
        }
        const double condition = Wide(magnitudes / abs(sum)).convert_to<double>();
        if (condition < 1e12) continue;
        ++cancelling;
        by_more_than_1e40 += condition > 1e40 ? 1 : 0;
        EXPECT_GT(condition, 1e20);
        EXPECT_LT(condition, 1e60);
    }
    EXPECT_NEAR(cancelling, 300, 50);
    EXPECT_NEAR(by_more_than_1e40, cancelling / 2, 30);
}

TEST(Generators, AreFoundWithAndWithoutSuffix) {
    EXPECT_EQ(find_generator("poisson2d_12")->name, "poisson2d_12.mtx");
    EXPECT_EQ(find_generator("poisson2d_12.mtx")->name, "poisson2d_12.mtx");
    EXPECT_EQ(find_generator("dc2_like")->name, "dc2_like.mtx");
    for (const char* name : {"dc2", "dc2_like_5", "poisson2d", "anisotropic", "elasticity_5", "stokes2d", "", ".mtx"})
        EXPECT_FALSE(find_generator(name)) << name;
}

TEST(Generators, RefuseSizesThatAreNoneOrTooLarge) {
    for (const char* name :
         {"poisson2d_", "poisson2d_0", "poisson2d_-3", "poisson2d_ten", "poisson2d_5x", "poisson2d_+5", "anisotropic_0",
          "anisotropic_rotated_", "anisotropic_rotated", "jumping_blocks_two", "jumping_random_-1", "convection_weak_0",
          "convection_medium_1e3", "convection_strong_ 5", "elasticity2d_0", "stokes2d_x", "graph_laplacian_"})
        EXPECT_THAT(message_of(name), HasSubstr("size N >= 1")) << name;
    for (const char* name :
         {"poisson2d_46341", "poisson3d_1291", "stencil27_99999", "power_law_2147483648", "poisson2d_99999999999999999999999",
          "poisson3d_4000000000000000000", "anisotropic_rotated_46341", "jumping_blocks_1291", "convection_weak_1291",
          "elasticity2d_32768", "stokes2d_26756", "graph_laplacian_2147483648"})
        EXPECT_THAT(message_of(name), HasSubstr("2147483647 rows")) << name;
}

TEST(Generators, CountUnknownsAsTheMatricesHaveThem) {
    EXPECT_EQ(make("elasticity2d_10").rows, 2 * 10 * 11);
    EXPECT_EQ(make("stokes2d_10").rows, 3 * 100 - 2 * 10);
    EXPECT_EQ(make("graph_laplacian_10").rows, 10);
}

// The largest sizes of which 32-bit columns can count the rows: 2 * 32767 * 32768 and 3 * 26755^2 - 2 * 26755.
TEST(Generators, RefuseBySizeNotOneTooEarly) {
    for (const char* name : {"elasticity2d_32767", "stokes2d_26755"})
        EXPECT_THAT(message_of(name), Not(HasSubstr("2147483647 rows"))) << name;
}

// What they ask for before they begin is what they then need: no entry more than was counted.
TEST(Generators, ReserveEnoughForTheirEntries) {
    for (const std::string name : {"elasticity2d_20", "stokes2d_20", "graph_laplacian_2000", "jumping_blocks_8"}) {
        const CsrMatrix<double> matrix = make(name);
        EXPECT_LE(matrix.nonzeros(), (name.starts_with("elasticity") ? 18 : 7) * matrix.rows) << name;
    }
}

TEST(Generators, RefuseWhatTheProcessMayNotUse) {
    const testing::LessMemory limit(std::int64_t{2} << 30);
    ASSERT_TRUE(limit.is_set());
    EXPECT_EQ(message_of("stencil27_150"), "");  // 1.1 GB
    EXPECT_THAT(message_of("stencil27_200"), HasSubstr("takes 2.7 GB; 2.1 GB of memory may be used"));
}

/// As many as the points of the stencil, on 40000 x 40000 or 1200 x 1200 x 1200 points.
TEST(Generators, SayHowManyEntriesThereWouldBe) {
    const testing::LessMemory limit(std::int64_t{2} << 30);
    ASSERT_TRUE(limit.is_set());
    const auto expect_entries = [](const std::string& name, std::int64_t entries) {
        EXPECT_THAT(message_of(name), HasSubstr("has about " + std::to_string(entries) + " entries"));
    };
    for (const char* family : {"poisson2d_", "poisson2d_random_", "convection_diffusion_", "anisotropic_"})
        expect_entries(family + std::string("40000"), std::int64_t{5} * 40000 * 40000);
    expect_entries("anisotropic_rotated_40000", std::int64_t{9} * 40000 * 40000);
    for (const char* family : {"poisson3d_", "poisson3d_random_", "jumping_blocks_", "jumping_random_", "convection_weak_",
                               "convection_medium_", "convection_strong_"})
        expect_entries(family + std::string("1200"), std::int64_t{7} * 1200 * 1200 * 1200);
    for (const char* family : {"stencil27_", "stencil27_random_"})
        expect_entries(family + std::string("1200"), std::int64_t{27} * 1200 * 1200 * 1200);
}

TEST(Generators, RefuseWhatDoesNotFitIntoMemory) {
    // 27 entries for each of 2.1e9 rows: 713 GB.
    const std::string message = message_of("stencil27_1290");
    if (message.empty()) GTEST_SKIP() << "this machine has the memory";
    EXPECT_THAT(message, HasSubstr("GB of memory"));
}

}  // namespace
}  // namespace solver::matrices
