/// What is judged: matrices, vectors, triangles and blocks of them.

#include "blas2/dense_block.hpp"
#include "blas2/experiments.hpp"
#include "blas2/matrix_source.hpp"
#include "blas2/triangles.hpp"
#include "blas2/vectors.hpp"
#include "matrices/generators.hpp"
#include "solver/error.hpp"
#include "solver/matrix_market.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace solver::blas2 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Options options_for(std::vector<std::string> paths) {
    Options options;
    options.paths = std::move(paths);
    options.accuracies.assign(all_accuracies.begin(), all_accuracies.end());
    options.vectors = {{.kind = VectorKind::random}};
    return options;
}

const std::string good = SOLVER_TEST_DATA "/good";

TEST(MatrixSources, AreFilesFoldersAndNames) {
    const testing::TemporaryFolder folder;
    const std::string copy = folder.path() / "array_real_general.mtx";
    std::filesystem::copy(good + "/array_real_general.mtx", copy);
    const MatrixSources sources = find_sources(options_for({good, copy, "poisson2d_3"}));
    EXPECT_GT(sources.matrices.size(), 20u);
    EXPECT_TRUE(sources.left_out.empty());
    const MatrixSource& named = sources.matrices[sources.matrices.size() - 2];
    EXPECT_EQ(named.name, "array_real_general");
    EXPECT_EQ(named.suite, "array_real_general_2") << "the folder holds it already";
    EXPECT_FALSE(named.is_square);
    EXPECT_EQ(sources.matrices.back().name, "poisson2d_3");
    EXPECT_TRUE(sources.matrices.back().is_square);
    EXPECT_EQ(load<double>(sources.matrices.back(), options_for({})).a.nonzeros(), 33);
}

TEST(MatrixSources, ComeOnceHoweverOftenTheyAreNamed) {
    const auto count = [](const std::vector<std::string>& paths) { return find_sources(options_for(paths)).matrices.size(); };
    const std::string file = good + "/array_real_general.mtx";
    EXPECT_EQ(count({good, file}), count({good}));
    EXPECT_EQ(count({file, good + "/../good/array_real_general.mtx", "poisson2d_3", "poisson2d_3"}), 2u);
}

TEST(MatrixSources, AreReal) {
    const testing::TemporaryFolder folder;
    const auto path = folder.path() / "c.mtx";
    std::ofstream(path) << "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 2 3\n";
    const MatrixSources sources = find_sources(options_for({folder.path().string()}));
    EXPECT_TRUE(sources.matrices.empty());
    ASSERT_EQ(sources.left_out.size(), 1u);
    EXPECT_THAT(sources.left_out[0].reason, HasSubstr("complex"));
    EXPECT_FALSE(sources.left_out[0].is_error);
    EXPECT_THROW(find_sources(options_for({path.string()})), FileError);
}

TEST(MatrixSources, HaveSuitesThatNeedNoQuoting) {
    const testing::TemporaryFolder folder;
    const CsrMatrix<double> a = csr_from_entries<double>(1, 1, std::vector<Entry<double>>{{0, 0, 1.0}});
    write_matrix_market(folder.path() / "ad-fdm.4.mtx", a.view());
    EXPECT_EQ(find_sources(options_for({folder.path().string()})).matrices.front().suite, "ad_fdm_4");
}

TEST(MatrixSources, LeaveOutWhatIsNoMatrixInAFolderAndRefuseItByName) {
    const testing::TemporaryFolder folder;
    const auto path = folder.path() / "c.mtx";
    std::ofstream(path) << "%%MatrixMarket matrix coordinate rational general\n1 1 1\n1 1 2 3\n";
    const MatrixSources sources = find_sources(options_for({folder.path().string()}));
    EXPECT_TRUE(sources.matrices.empty());
    ASSERT_EQ(sources.left_out.size(), 1u);
    EXPECT_THAT(sources.left_out[0].reason, HasSubstr("rational"));
    EXPECT_TRUE(sources.left_out[0].is_error);
    EXPECT_THROW(find_sources(options_for({path.string()})), FileError);
    EXPECT_THROW(find_sources(options_for({"no_such_matrix"})), FileError);
}

TEST(MatrixSources, DropZeroesWhenAsked) {
    const testing::TemporaryFolder folder;
    const auto path = folder.path() / "z.mtx";
    std::ofstream(path) << "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 0\n1 2 5\n3 1 0\n3 2 -0.0\n";
    Options options = options_for({path.string()});
    const MatrixSources sources = find_sources(options);
    EXPECT_EQ(load<double>(sources.matrices[0], options).a.nonzeros(), 4);
    options.keep_zeroes = false;
    const CsrMatrix<double> a = load<double>(sources.matrices[0], options).a;
    EXPECT_THAT(a.row_offsets, ElementsAre(0, 1, 1, 1));
    EXPECT_THAT(a.column_indices, ElementsAre(1));
    EXPECT_THAT(a.values, ElementsAre(5));
}

TEST(MatrixSources, AreNeverReplacedByTheVerdicts) {
    const testing::TemporaryFolder folder;
    const auto path = folder.path() / "a.mtx";
    std::ofstream(path) << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
    Options options = options_for({path.string()});
    options.json = path;
    EXPECT_THROW(find_sources(options), InvalidArgument);
}

TEST(BuiltInMatrices, AreWellFormed) {
    for (const BuiltIn& matrix : built_in_matrices()) {
        const Sample<float> in_single = matrix.in_single();
        const Sample<double> in_double = matrix.in_double();
        EXPECT_NO_THROW(check(in_single.a.view()));
        EXPECT_NO_THROW(check(in_double.a.view()));
        EXPECT_EQ(in_single.x.size(), static_cast<std::size_t>(in_single.a.columns));
        EXPECT_EQ(in_double.x.size(), static_cast<std::size_t>(in_double.a.columns));
        EXPECT_EQ(in_double.a.rows == in_double.a.columns, matrix.is_square);
    }
}

TEST(Vectors, MakeRowsCancel) {
    const CsrMatrix<double> a = matrices::find_generator("dc2_like")->make();
    const std::vector<double> x = ill_conditioned_vector(a.view());
    std::int64_t ill_conditioned = 0;
    for (std::int64_t row = 0; row < a.rows; ++row) {
        testing::ExpectedSum<double> sum;
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
            sum.add_product(a.values[k], x[a.column_indices[k]]);
        if (true_sum(sum, 1, 0.0).condition() > 1e10) ++ill_conditioned;
    }
    EXPECT_GT(ill_conditioned, a.rows / 3);
}

TEST(Vectors, GiveRightHandSidesNearSolutions) {
    const CsrMatrix<double> a = matrices::find_generator("convection_diffusion_9")->make();
    const ProductInputs<double> inputs = product_inputs(a.view(), "x", random_vector<double>(a.columns, 1), 0.7, -1.3);
    std::vector<double> r(inputs.b.size());
    SpmvPlan<double>(a, Device::cpu(1)).residual(inputs.b, inputs.x, {}, r, Accuracy::exact);
    for (std::size_t i = 0; i < r.size(); ++i) EXPECT_LE(std::abs(r[i]), std::abs(inputs.b[i]) * 0x1p-53);
    EXPECT_LT(std::abs(0.7 * inputs.b[0] - 1.3 * inputs.y[0]), 1e-15 * std::abs(inputs.b[0])) << "rows 1, 3, ... cancel";
}

TEST(TriangleOf, KeepsOneSideAndGivesEveryRowADiagonal) {
    const std::vector<Entry<double>> entries{{0, 0, 2}, {0, 1, 3}, {1, 0, 4}, {1, 2, 5}, {2, 1, 6}, {2, 2, 0}};
    const CsrMatrix<double> a = csr_from_entries<double>(3, 3, entries);
    const CsrMatrix<double> lower = triangle_of(a.view(), Triangle::lower);
    EXPECT_THAT(lower.row_offsets, ElementsAre(0, 1, 3, 5));
    EXPECT_THAT(lower.column_indices, ElementsAre(0, 0, 1, 1, 2));
    EXPECT_THAT(lower.values, ElementsAre(2, 4, 1, 6, 1)) << "absent and zero become 1";
    const CsrMatrix<double> upper = triangle_of(a.view(), Triangle::upper);
    EXPECT_THAT(upper.column_indices, ElementsAre(0, 1, 1, 2, 2));
    EXPECT_THAT(upper.values, ElementsAre(2, 3, 1, 5, 1));
}

TEST(DenseBlock, HasTheLongestRowsAndTheirColumns) {
    std::vector<Entry<double>> entries;
    for (std::int32_t row = 0; row < 50; ++row) entries.push_back({row, row, double(row + 1)});
    for (std::int32_t column = 10; column < 20; ++column) entries.push_back({30, column, 0.5});
    const CsrMatrix<double> a = csr_from_entries<double>(50, 60, entries);
    const DenseBlock<double> block = dense_block(a.view(), 5, 1, 8);
    ASSERT_EQ(block.rows.size(), 5u);
    EXPECT_THAT(block.rows, ::testing::Contains(30));
    EXPECT_EQ(block.columns, (std::vector<std::int32_t>{10, 11, 12, 13, 14, 15, 16, 17})) << "of row 31 first";
    const auto row = std::find(block.rows.begin(), block.rows.end(), 30) - block.rows.begin();
    for (std::size_t j = 0; j < 8; ++j) EXPECT_EQ(block.values.values[j * 5 + static_cast<std::size_t>(row)], 0.5);
    EXPECT_EQ(dense_block(a.view(), 200, 100, 2000).rows.size(), 50u);
}

TEST(Experiments, LeaveTriangularSolvesToSquareMatrices) {
    const Options options = options_for({});
    const CsrMatrix<double> flat = csr_from_entries<double>(1, 2, std::vector<Entry<double>>{{0, 1, 1.0}});
    EXPECT_TRUE(make_experiments(Operation::triangular_solve, Sample<double>{flat}, options).empty());
    EXPECT_EQ(make_experiments(Operation::spmv, Sample<double>{flat}, options).size(), 2u);
}

}  // namespace
}  // namespace solver::blas2
