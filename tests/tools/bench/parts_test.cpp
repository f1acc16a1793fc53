// What the benches share: names, traffic, headings, truths, grades, and how solvers are chosen and judged.

#include "common.hpp"
#include "gemms.hpp"
#include "grades.hpp"
#include "linear_solvers.hpp"
#include "operation.hpp"
#include "papers/millionths.hpp"
#include "plain_reader.hpp"
#include "product_machine.hpp"
#include "products.hpp"
#include "record.hpp"
#include "reduction.hpp"
#include "reductions.hpp"
#include "singularity.hpp"
#include "solver/error.hpp"
#include "support/temporary_folder.hpp"
#include "trial.hpp"
#include "triangles.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;
using namespace solver;
using namespace solver::bench;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

using bench::Trial;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

matrices::FoundMatrix made(const std::string& name) { return {matrices::find_generator(name).value(), ""}; }

/// ( 2 1 )
/// ( 0 4 ), of which b = A (1, 1.125).
CsrMatrix<double> small() {
    return {.rows = 2, .columns = 2, .row_offsets = {0, 2, 3}, .column_indices = {0, 1, 1}, .values = {2.0, 1.0, 4.0}};
}

class BenchFiles : public ::testing::Test {
protected:
    fs::path written(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name) << text;
        return folder_.path() / name;
    }

    solver::testing::TemporaryFolder folder_;
};

TEST(BenchCommon, SaysWhereDataLie) {
    constexpr double mebibyte = 1 << 20;
    EXPECT_EQ(place_of(512 * mebibyte, 32 << 20), "512 MiB, beyond the last-level cache");
    EXPECT_EQ(place_of(9.94 * mebibyte, 32 << 20), "9.9 MiB, cached");
    EXPECT_EQ(place_of(10 * mebibyte, 10 << 20), "10 MiB, cached");
    EXPECT_EQ(place_of(10 * mebibyte + 1, 10 << 20), "10 MiB, beyond the last-level cache");
    EXPECT_EQ(place_of(mebibyte / 2, 0), "0.5 MiB");
}

TEST(BenchCommon, NamesMatricesWithAndWithoutSuffix) {
    EXPECT_EQ(name_of({fs::path("a/b.mtx.gz"), ""}), "b.mtx.gz");
    EXPECT_EQ(short_name({fs::path("a/b.mtx.gz"), ""}), "b");
    EXPECT_EQ(short_name({fs::path("a/b.mtx"), ""}), "b");
    EXPECT_EQ(short_name({fs::path("a/b.txt"), ""}), "b.txt");
    EXPECT_EQ(name_of(made("poisson2d_3")), "poisson2d_3.mtx");
    EXPECT_EQ(short_name(made("poisson2d_3")), "poisson2d_3");
}

TEST_F(BenchFiles, OfAFolderComeSmallOnesFirst) {
    written("b.mtx", "12345");
    written("c.mtx.gz", "1");
    written("a.mtx", "12345");
    written("d.txt", "");
    Options options;
    options.matrices = {folder_.path().string(), "poisson2d_3"};
    std::vector<std::string> names;
    for (const auto& found : matrices_of(options)) names.push_back(name_of(found));
    EXPECT_THAT(names, ElementsAre("c.mtx.gz", "a.mtx", "b.mtx", "poisson2d_3.mtx"));
    options.csv = folder_.path() / "a.mtx";
    EXPECT_THROW(matrices_of(options), InvalidArgument);
    options.matrices = {"poisson2d_3"};
    EXPECT_EQ(matrices_of(options).size(), 1u);
    const fs::path empty = folder_.path() / "empty";
    fs::create_directory(empty);
    options.matrices = {empty.string()};
    EXPECT_THROW(matrices_of(options), FileError);
}

TEST(BenchTraffic, IsWhatHasToBeMoved) {
    const CsrMatrix<double> a{
        .rows = 2, .columns = 5, .row_offsets = {0, 2, 3}, .column_indices = {0, 1, 4}, .values = {2.0, 1.0, 4.0}};
    EXPECT_EQ(bench::traffic(a.view(), 8), 3 * (8 + 4) + 3 * 8 + (5 + 2) * 8);
    EXPECT_EQ(bench::traffic(convert<float>(a.view()).view(), 4), 3 * (4 + 4) + 3 * 4 + (5 + 2) * 4);
    EXPECT_EQ(bench::traffic(Factors<float>{{1, 2, 3}, {4, 5, 6}}), 24);
    EXPECT_EQ(bench::traffic(Factors<double>{{1, 2, 3}, {}}), 24);
    EXPECT_EQ(operations_of_product(3), 54);
}

TEST(BenchProducts, HaveParametersAndAHeading) {
    const CsrMatrix<double> a{
        .rows = 2, .columns = 5, .row_offsets = {0, 2, 3}, .column_indices = {0, 1, 4}, .values = {2.0, 1.0, 4.0}};
    EXPECT_THAT(parameters_of(a.view(), "A", Vector::ones, SpmvKernel::general),
                ElementsAre(Pair("matrix", "A"), Pair("x", "ones"), Pair("precision", "double"), Pair("kernel", "general"),
                            Pair("rows", "2"), Pair("columns", "5"), Pair("nonzeros", "3")));
    const std::string heading = heading_of(Options(), a.view(), "A", Vector::random, SpmvKernel::adaptive);
    EXPECT_THAT(heading, ::testing::StartsWith("A: 2 x 5, 3 nonzeros (0.00011 MiB"));  // 116 bytes
    EXPECT_THAT(heading, ::testing::EndsWith("), x random, double, kernel adaptive"));
    EXPECT_THAT(make_x<float>(Vector::ones, 3), ElementsAre(1, 1, 1));
    const std::vector<double> x = make_x<double>(Vector::random, 1000);
    EXPECT_LT(*std::min_element(x.begin(), x.end()), -0.9);
    EXPECT_GT(*std::max_element(x.begin(), x.end()), 0.9);
}

TEST(BenchReductions, KnowWhatIsTrue) {
    // 2^60 + 1 - 2^60: lost by every sum but an exact one, on any number of threads
    const Factors<double> data{{0x1p60, 1, -0x1p60, 3}, {1, 2, 1, -5}};
    for (const int threads : {1, 2, 3, 7}) {
        EXPECT_EQ(exact_result(Subject::sum, data, threads), 4) << threads;
        EXPECT_EQ(exact_result(Subject::dot, data, threads), -13) << threads;
        EXPECT_EQ(exact_result(Subject::norm2, Factors<double>{{3, 4, 12}, {}}, threads), 13) << threads;
    }
    Options options;
    options.subject = Subject::dot;
    EXPECT_EQ(make_data<double>(options, Input::random, 10).y.size(), 10u);
    options.subject = Subject::norm2;
    EXPECT_EQ(make_data<double>(options, Input::random, 10).x.size(), 10u);
    EXPECT_TRUE(make_data<double>(options, Input::random, 10).y.empty());
    EXPECT_THAT(parameters_of<float>(Input::worst, 7),
                ElementsAre(Pair("size", "7"), Pair("input", "worst"), Pair("precision", "single")));
    EXPECT_THAT(heading_of(options, Input::scattered, data), ::testing::StartsWith("norm2 of 4 elements (6.1e-05 MiB"));
    EXPECT_THAT(heading_of(options, Input::scattered, data), ::testing::EndsWith("), scattered, double"));
}

TEST(BenchDenseProducts, AreOfTwoDifferentMatrices) {
    Options options;
    options.phi = 3;
    const DenseFactors<double> factors = bench::make_factors<double>(options, Elements::lognormal, 5);
    EXPECT_EQ(factors.n, 5);
    EXPECT_EQ(factors.a, random_elements<double>(Elements::lognormal, 3, 25, 1));
    EXPECT_EQ(factors.b, random_elements<double>(Elements::lognormal, 3, 25, 2));
}

TEST(BenchDenseProducts, HaveParametersAndAHeading) {
    Options options;
    options.block = 16;
    options.phi = 2.5;
    const Contest lognormal = product_contest<float>(options, Elements::lognormal, 7);
    EXPECT_EQ(lognormal.heading, "C = A B, 7 x 7 times 7 x 7, lognormal, phi 2.5, single, blocks of 16");
    EXPECT_THAT(lognormal.parameters, ElementsAre(Pair("size", "7"), Pair("input", "lognormal"), Pair("phi", "2.5"),
                                                  Pair("block", "16"), Pair("precision", "single")));
    EXPECT_EQ(product_contest<double>(options, Elements::uniform, 7).heading,
              "C = A B, 7 x 7 times 7 x 7, uniform, double, blocks of 16");
    EXPECT_EQ(product_contest<double>(options, Elements::uniform, 7).parameters[2].second, "");
    EXPECT_THROW(require_memory_for_product(std::int64_t{1} << 40), InvalidArgument);
    EXPECT_NO_THROW(require_memory_for_product(10));
}

/// Of C = A B with A = (1 3; 2 4), B = (5 7; 6 8) by columns (1 2 | 3 4) and (5 6 | 7 8): C = (23 31; 34 46).
TEST(BenchDenseProducts, AreJudgedByTheirElements) {
    const DenseFactors<double> factors{2, {1, 2, 3, 4}, {5, -6, 7, 8}};
    const ProductSamples<double> samples(factors, 2);
    ASSERT_THAT(samples.places(), ElementsAre(0, 1, 2, 3));
    const std::vector<double> exact{-13, -14, 31, 46}, magnitudes{23, 34, 31, 46};
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(samples.samples()[i].exact, exact[i]);
        EXPECT_EQ(samples.samples()[i].rounded, exact[i]);
        EXPECT_EQ(samples.samples()[i].magnitudes, magnitudes[i]);
    }
    EXPECT_EQ(samples.error(exact).largest, 0);
    EXPECT_EQ(samples.error(exact).relative, 0);
    std::vector<double> off = exact;
    off[0] += 3 * 0x1p-49;  // of -13, ulps of 2^-49
    off[2] -= 0x1p-48;      // of 31, ulps of 2^-48
    const ProductError error = samples.error(off);
    EXPECT_EQ(error.largest, 3);
    EXPECT_EQ(error.mean, 1);
    EXPECT_EQ(error.relative, 3 * 0x1p-49 / 23);
    off[1] = nan;
    EXPECT_EQ(samples.error(off).largest, HUGE_VAL);
    EXPECT_TRUE(std::isnan(samples.error(off).relative));
}

/// By a clock of its own; the first call warms up, unless it took too long already.
class Clockwork final : public ProductMachine<float> {
public:
    explicit Clockwork(std::vector<double> seconds) : seconds_(std::move(seconds)) {}
    void load(const DenseFactors<float>&) override {}
    void multiply(Accuracy, const GemmOptions&) override {}
    std::vector<ProductWay> peers() override { return {}; }
    std::vector<float> result(std::span<const std::int64_t>) override { return {}; }
    std::vector<float> result() override { return {}; }
    void clear() override {}
    double seconds_of(const std::function<void()>&) override { return seconds_.at(calls++); }
    Competitor competitor(const ProductWay&) override { return {}; }

    std::size_t calls = 0;

private:
    std::vector<double> seconds_;
};

TEST(BenchDenseProducts, TakeTheMedianTime) {
    const auto timed = [](Clockwork machine, int repetitions) {
        const double seconds = seconds_of_product<float>(machine, {.repetitions = repetitions}, [] {});
        return std::pair(seconds, machine.calls);
    };
    EXPECT_EQ(timed(Clockwork({0.9, 3, 1, 2}), 0), std::pair(2.0, std::size_t{4}));
    EXPECT_EQ(timed(Clockwork({1, 3, 1, 2, 7, 9}), 5), std::pair(3.0, std::size_t{6}));
    EXPECT_EQ(timed(Clockwork({1.1}), 5), std::pair(1.1, std::size_t{1}));
}

TEST(BenchGrades, AreSlopesOfErrors) {
    EXPECT_EQ(slope_of({}), 0);
    EXPECT_EQ(slope_of({{64, 100}}), 0);
    EXPECT_NEAR(slope_of({{10, 3}, {1000, 300}}), 1, 1e-15);
    EXPECT_NEAR(slope_of({{10, 4}, {1000, 0.4 * 100}}), 0.5, 1e-15);
    EXPECT_EQ(slope_of({{10, 1}, {1000, 1e-7}}), 0) << "below 1 counts as 1";
    // log y of 0, 1, 5 at log x of 0, 1, 2: (-1 (0 - 2) + 0 + 1 (5 - 2)) / 2
    EXPECT_NEAR(slope_of({{1, 1}, {1024, 1024}, {1024 * 1024, std::exp2(50)}}), 2.5, 1e-14);
}

TEST(BenchGrades, AreGivenByTheWorstInput) {
    const double limit = gamma<double>(64) / 0x1p-53, below = limit * (1 - 1e-12), above = limit * (1 + 1e-12);
    const auto grade = [&](ScaledErrors error) {
        GradedErrors errors;
        errors.errors[Pattern::plain][64] = {1, 1, 1};
        errors.errors[Pattern::blocks][64] = error;
        return errors.grade<double>();
    };
    EXPECT_EQ(grade({below, above, above}), "A");
    EXPECT_EQ(grade({above, below, above}), "B");
    EXPECT_EQ(grade({above, above, below}), "C");
    EXPECT_EQ(grade({above, above, above}), "unsafe");
    EXPECT_EQ(grade({nan, nan, nan}), "unsafe");
}

TEST(BenchGrades, CountSlopesOfEntriesOfOneScaleAlone) {
    GradedErrors errors;
    errors.errors[Pattern::plain] = {{64, {2, 1, 1}}, {128, {3, 1, 1}}};
    errors.errors[Pattern::both] = {{64, {2, 1, 1}}, {128, {4, 1, 1}}};
    errors.errors[Pattern::wide] = {{64, {2, 1, 1}}, {128, {40, 1, 1}}};
    EXPECT_NEAR(errors.slope(), 1, 1e-14);
    EXPECT_EQ(errors.text(Pattern::wide, 128), "40");
    EXPECT_EQ(errors.text(Pattern::inside, 128), "-");
    errors.errors[Pattern::both][128].componentwise = 4.1;
    EXPECT_EQ(errors.grade<double>(), "B") << "grows faster than n";
    errors.errors[Pattern::both][128].componentwise = 3.9;
    EXPECT_EQ(errors.grade<double>(), "A");
}

/// The exponents of A's entries: of their scales, and of numbers below 1.
template <class T>
std::pair<int, int> exponents_of(const std::vector<T>& entries) {
    int least = 10000, largest = -10000;
    for (const T entry : entries) {
        least = std::min(least, std::ilogb(entry));
        largest = std::max(largest, std::ilogb(entry));
    }
    return {least, largest};
}

/// 4096 exponents of 601 (61) reach both ends, give or take what a number in [0, 1) takes away.
TEST(BenchGrades, AreGivenOnEntriesOfAllScales) {
    const auto wide = exponents_of(graded_factors<double>(Pattern::wide, 64).a);
    EXPECT_LT(wide.first, -290);
    EXPECT_THAT(wide.second, ::testing::AllOf(::testing::Gt(290), ::testing::Lt(300)));
    const auto in_single = exponents_of(graded_factors<float>(Pattern::wide, 64).b);
    EXPECT_LT(in_single.first, -28);
    EXPECT_THAT(in_single.second, ::testing::AllOf(::testing::Gt(25), ::testing::Lt(30)));
    const auto plain = graded_factors<double>(Pattern::plain, 8), both = graded_factors<double>(Pattern::both, 8);
    const auto outside = graded_factors<double>(Pattern::outside, 8), inside = graded_factors<double>(Pattern::inside, 8);
    const auto blocks = graded_factors<double>(Pattern::blocks, 8);
    for (std::size_t i = 0; i < 64; ++i) {
        const std::size_t row = i % 8, column = i / 8;
        EXPECT_EQ(both.a[i], 2 * plain.a[i] - 1);
        EXPECT_EQ(both.b[i], 2 * plain.b[i] - 1);
        // By powers of two, of the row of A and the column of B, or the other way round and inverse.
        EXPECT_EQ(outside.a[i] / plain.a[i], outside.a[row] / plain.a[row]);
        EXPECT_EQ(outside.b[i] / plain.b[i], outside.b[8 * column] / plain.b[8 * column]);
        EXPECT_EQ(inside.a[i] / plain.a[i], inside.a[8 * column] / plain.a[8 * column]);
        EXPECT_EQ((inside.b[i] / plain.b[i]) * (inside.a[8 * row] / plain.a[8 * row]), 1);
        EXPECT_EQ(blocks.a[i] / plain.a[i], (row < 4) == (column < 4) ? 1 : 0x1p-300);
    }
    EXPECT_NE(outside.a[0] / plain.a[0], outside.a[1] / plain.a[1]);
    EXPECT_NE(inside.a[0] / plain.a[0], inside.a[8] / plain.a[8]);
}

TEST(BenchMillionths, AreAveragesAndEndsOfErrors) {
    const Errors errors = errors_of({2, 4, 0, 8}, {2 - 1e-6, 4 + 4e-6, 0, 8});
    EXPECT_NEAR(errors.average, 1.25, 1e-8);
    EXPECT_NEAR(errors.lowest, -4, 1e-8);
    EXPECT_NEAR(errors.highest, 1, 1e-8);
    EXPECT_NEAR(errors.largest(), 4, 1e-8);
    EXPECT_NEAR(errors.relative, (0.5 + 1) / 4, 1e-6);
    EXPECT_EQ(text_of(9.994), "9.99");
    EXPECT_EQ(text_of(-10), "-10.0");
    EXPECT_EQ(text_of(10.96), "11.0");
    EXPECT_EQ(text_of(-99.94), "-99.9");
    EXPECT_EQ(text_of(100), "100");
}

/// Eigen's reductions have one thread: it competes in parts where there are several, and then whole as well.
TEST(BenchReductions, AreMadeByEigenInPartsAndWhole) {
    const Factors<double> data{{1, 2, 3}, {}};
    Options options;
    options.subject = Subject::sum;
    options.threads = 1;
    const auto alone = make_reduction(options, data, 6.0);
    ASSERT_EQ(alone->peers().size(), 1u);
    EXPECT_EQ(alone->peers()[0].name, "eigen");
    EXPECT_TRUE(alone->others().empty());
    options.threads = 2;
    const auto split = make_reduction(options, data, 6.0);
    if (split->peers().at(0).threads == 1) GTEST_SKIP() << "no OpenMP";
    EXPECT_EQ(split->peers()[0].name, "eigen split");
    ASSERT_EQ(split->others().size(), 1u);
    EXPECT_EQ(split->others()[0].threads, 1);
}

/// FNV-1a: of nothing the offset, of "a" and "foobar" as published.
TEST(BenchRecordHashes, AreTheOnesOfFnv) {
    Record record;
    record.add("empty", std::span<const char>());
    record.add("one", 'a');
    record.add("word", std::span<const char>("foobar", 6));
    EXPECT_THAT(record.hashes(), ElementsAre(Pair("empty", 0xcbf29ce484222325u), Pair("one", 0xaf63dc4c8601ec8cu),
                                             Pair("word", 0x85944171f73967e8u)));
}

TEST_F(BenchFiles, AreReadPlainly) {
    const fs::path path = written(
        "s.mtx", "%%MatrixMarket matrix coordinate REAL Skew-Symmetric\n% remark\n\n3 3 2\n2 1 +1.5d1\n  % more\n3 2 -2E0\n");
    const PlainFile<double> skew = read_plainly<double>(path);
    EXPECT_THAT(skew.stored.row_offsets, ElementsAre(0, 0, 1, 2));
    EXPECT_THAT(skew.stored.values, ElementsAre(15, -2));
    EXPECT_THAT(skew.expanded.row_offsets, ElementsAre(0, 1, 3, 4));
    EXPECT_THAT(skew.expanded.column_indices, ElementsAre(1, 0, 2, 1));
    EXPECT_THAT(skew.expanded.values, ElementsAre(-15, 15, 2, -2));
    const PlainFile<float> pattern =
        read_plainly<float>(written("p.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n"));
    EXPECT_THAT(pattern.expanded.values, ElementsAre(1, 1, 1));
    EXPECT_THAT(pattern.expanded.row_offsets, ElementsAre(0, 2, 3));
    const PlainFile<double> general =
        read_plainly<double>(written("g.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 1e-5\n"));
    EXPECT_EQ(general.expanded.columns, 3);
    EXPECT_EQ(general.expanded.nonzeros(), 1);
    EXPECT_THROW(read_plainly<double>(folder_.path() / "none.mtx"), FileError);
}

TEST(BenchProblems, HaveKnownSolutionsAndTrueResiduals) {
    const Problem problem = problem_of(small());
    EXPECT_THAT(problem.b, ElementsAre(2 * 1 + 1.125, 4 * 1.125));
    const Device device = Device::cpu(1);
    EXPECT_EQ(true_residual(problem, {{}, {1, 1.125}}, device), 0);
    // b - A (x + x_low) = (-2 (0.5 + 0.25), 0)
    EXPECT_EQ(true_residual(problem, {{}, {1.5, 1.125}, {0.25, 0}}, device), 1.5 / std::sqrt(3.125 * 3.125 + 4.5 * 4.5));
    Problem homogeneous = problem;
    homogeneous.b = {0, 0};
    EXPECT_EQ(true_residual(homogeneous, {{}, {0, 0.5}}, device), std::sqrt(0.25 + 4));
    const Problem ten = problem_of(matrices::find_generator("poisson2d_4")->make());
    EXPECT_EQ(ten.b.size(), 16u);
    EXPECT_EQ(ten.b[8], 4 * 1 - 1.125 - 1.5 - 1.5) << "x* begins again after eight: 1 1.125 1.25 1.375 | 1.5 ...";
    EXPECT_EQ(ten.b[0], 4 * 1 - 1.125 - 1.5);
}

TEST(BenchProblems, OfElasticityHaveASize) {
    EXPECT_EQ(size_of_elasticity("elasticity2d_12"), 12);
    for (const char* other : {"elasticity2d_", "elasticity2d_12x", "elasticity3d_12", "poisson2d_12"})
        EXPECT_FALSE(size_of_elasticity(other)) << other;
}

TEST_F(BenchFiles, AreNoTestsForSolversForAReason) {
    const auto reason = [&](const std::string& text) {
        return reason_against({written("m.mtx", "%%MatrixMarket matrix " + text), ""});
    };
    EXPECT_FALSE(reason("coordinate real general\n2 2 0\n"));
    EXPECT_FALSE(reason("coordinate integer symmetric\n2 2 0\n"));
    EXPECT_EQ(reason("array real general\n1 1\n1\n"), "dense");
    EXPECT_EQ(reason("coordinate pattern general\n2 2 0\n"), "a pattern");
    EXPECT_EQ(reason("coordinate real general\n2 3 0\n"), "2 x 3");
    EXPECT_EQ(reason("coordinate real general\n0 0 0\n"), "empty");
    EXPECT_THAT(reason("coordinate complex general\n1 1 0\n").value_or(""), HasSubstr("complex"));
    EXPECT_FALSE(reason_against(made("poisson2d_3")));
}

TEST(BenchSolvers, AreChosenByName) {
    const std::vector<LinearSolver> all{{"one", true, false, {}}, {"two", false, false, {}}, {"three", true, true, {}}};
    const auto names = [&](std::vector<std::string> wishes) {
        Options options;
        options.solvers = std::move(wishes);
        std::vector<std::string> found;
        for (const LinearSolver& solver : chosen(all, options)) found.push_back(solver.name);
        return found;
    };
    EXPECT_THAT(names({}), ElementsAre("one", "two", "three"));
    EXPECT_THAT(names({"three", "one"}), ElementsAre("one", "three"));
    EXPECT_THROW(names({"one", "four"}), InvalidArgument);
}

TEST(BenchSolvers, SayWhatAPeerSaid) {
    const Answer answer = by_peer(
        [](std::span<double> x) {
            x[1] = 7;
            PeerSolve solve;
            solve.converged = true;
            solve.iterations = 3;
            solve.setup_seconds = 0.25;
            solve.solve_seconds = 2;
            return solve;
        },
        2);
    EXPECT_THAT(answer.x, ElementsAre(0, 7));
    EXPECT_TRUE(answer.trial.claimed);
    EXPECT_EQ(answer.trial.status, "converged");
    EXPECT_EQ(answer.trial.iterations, 3);
    EXPECT_EQ(answer.trial.setup_seconds, 0.25);
    EXPECT_EQ(answer.trial.solve_seconds, 2);
    const Answer failed = by_peer([](std::span<double>) { return PeerSolve(); }, 2);
    EXPECT_FALSE(failed.trial.claimed);
    EXPECT_EQ(failed.trial.status, "not converged");
}

TEST(BenchSolvers, OfOurs) {
    Options options;
    options.accuracy = Accuracy::exact;
    const Problem problem = problem_of(matrices::find_generator("poisson2d_10")->make());
    const Answer by_hand = by_us({PreconditionerKind::jacobi, {}, false}, problem, options);
    EXPECT_TRUE(by_hand.trial.claimed);
    EXPECT_EQ(by_hand.trial.status, "converged");
    EXPECT_EQ(by_hand.trial.remark, "");
    EXPECT_LE(true_residual(problem, by_hand, Device::cpu(1)), 1e-10);
    const Answer automatic = by_us({}, problem, options);
    EXPECT_THAT(automatic.trial.remark, ::testing::MatchesRegex("[a-z0-9]+ [0-9]+(, [a-z0-9]+ [0-9]+)*"));
    EXPECT_THAT(automatic.trial.remark, ::testing::EndsWith(" " + std::to_string(automatic.trial.iterations)));
    options.max_iterations = 2;
    const Answer few = by_us({PreconditionerKind::jacobi, KrylovMethod::cg, false}, problem, options);
    EXPECT_FALSE(few.trial.claimed);
    EXPECT_EQ(few.trial.status, "iteration limit");
    EXPECT_EQ(few.trial.iterations, 2);
}

/// Rigid-body modes make multigrid quicker on elasticity, and are told where they are asked for alone.
TEST(BenchSolvers, OfOursAreToldTheRigidBodyModes) {
    Options options;
    Problem problem = problem_of(matrices::find_generator("elasticity2d_24")->make());
    const auto iterations = [&](const char* name, bool told) {
        problem.name = name;
        return by_us({PreconditionerKind::amg, KrylovMethod::cg, told}, problem, options).trial.iterations;
    };
    const std::int64_t untold = iterations("elasticity2d_24", false);
    EXPECT_LT(iterations("elasticity2d_24", true), untold);
    EXPECT_EQ(iterations("another", true), untold);
}

/// Runs of which each says that it was faster, or slower, than the one before; how many there are is up to the clock.
TEST(BenchSolvers, RunUpToFiveTimesAndTheFastestCounts) {
    const Problem problem = problem_of(small());
    const auto trial_of_runs = [&](double seconds_of_first, double change) {
        const LinearSolver solver{"mine", true, true, [=, runs = 0](const Problem&, const Options&) mutable {
                                      Answer answer{{}, {1, 1.125}};
                                      answer.trial.solve_seconds = seconds_of_first + change * runs;
                                      answer.trial.iterations = ++runs;
                                      answer.trial.memory_bytes = 10 * runs;
                                      answer.trial.status = "converged";
                                      return answer;
                                  }};
        Options options;
        options.effort.time_limit = 600;
        return trial_of(solver, problem, options);
    };
    const Trial faster = trial_of_runs(9, -1), slower = trial_of_runs(9, 1);
    EXPECT_EQ(faster.solver, "mine");
    EXPECT_TRUE(faster.ours && faster.automatic);
    EXPECT_LE(faster.iterations, 5);
    EXPECT_EQ(faster.solve_seconds, static_cast<double>(10 - faster.iterations));
    EXPECT_EQ(slower.iterations, 1);
    EXPECT_EQ(faster.memory_bytes, 10) << "of the first run";
    EXPECT_EQ(faster.residual, 0);
}

TEST(BenchTrials, ComeBackWhole) {
    Trial sent;
    sent.status = "converged";
    sent.remark = "a \"remark\"\n";
    sent.claimed = true;
    sent.iterations = 17;
    sent.residual = 0.1;
    sent.setup_seconds = 0.3;
    sent.solve_seconds = 0.7;
    sent.memory_bytes = 12345;
    const Trial got = tried_apart([&] { return sent; }, 60);
    EXPECT_EQ(got.status, sent.status);
    EXPECT_EQ(got.remark, sent.remark);
    EXPECT_TRUE(got.claimed);
    EXPECT_EQ(got.iterations, 17);
    EXPECT_EQ(got.residual, 0.1);
    EXPECT_EQ(got.setup_seconds, 0.3);
    EXPECT_EQ(got.solve_seconds, 0.7);
    EXPECT_EQ(got.memory_bytes, 12345);
    EXPECT_EQ(got.seconds(), 0.3 + 0.7);
    EXPECT_TRUE(std::isnan(tried_apart([] { return Trial(); }, 60).residual));
}

TEST(BenchTrials, SayHowTheyFailed) {
    const auto status = [](const Trial& trial) { return trial.status + ": " + trial.remark; };
    EXPECT_EQ(status(tried_apart([]() -> Trial { throw std::bad_alloc(); }, 60)), "failed: not enough memory");
    EXPECT_EQ(status(tried_apart([]() -> Trial { throw NotSupported("no such thing"); }, 60)), "not built: no such thing");
    EXPECT_EQ(status(tried_apart([]() -> Trial { throw InvalidArgument("bad"); }, 60)), "failed: bad");
}

TEST(BenchTrials, AreComparedByTimeAmongThoseThatReachedTheTolerance) {
    std::vector<Trial> trials(5);
    const std::vector<double> residuals{1e-11, 1e-11, 1e-10, 1e-11, 1e-9}, seconds{0.1, 0.2, 5, 6, 1};
    for (std::size_t i = 0; i < 5; ++i) {
        trials[i].ours = i != 0;
        trials[i].automatic = i == 1;
        trials[i].residual = residuals[i];
        trials[i].setup_seconds = seconds[i];
    }
    EXPECT_EQ(automatic_trial(trials), &trials[1]);
    EXPECT_EQ(best_hand_picked(trials, 1e-10), &trials[2]);
    EXPECT_EQ(best_hand_picked(trials, 1e-9), &trials[4]);
    EXPECT_EQ(best_hand_picked(trials, 1e-12), nullptr);
    EXPECT_EQ(automatic_trial(std::span(trials).first(1)), nullptr);
    trials[4].claimed = true;
    EXPECT_TRUE(trials[4].false_claim(1e-10));
    EXPECT_FALSE(trials[4].false_claim(1e-9));
    EXPECT_FALSE(Trial().reached(1));
}

TEST(BenchSingularity, IsToldByKlu) {
    EXPECT_EQ(singularity(small().view()), "regular");
    CsrMatrix<double> a = small();
    a.values = {2, 1, 0};
    EXPECT_EQ(singularity(a.view()), "numerically singular");
    const CsrMatrix<double> empty_row{
        .rows = 3, .columns = 3, .row_offsets = {0, 2, 2, 3}, .column_indices = {0, 1, 2}, .values = {2.0, 1.0, 4.0}};
    EXPECT_EQ(singularity(empty_row.view()), "structurally singular (rank 2 of 3)");
}

TEST(BenchOperations, EnterAContestInTheirOrder) {
    struct Three final : Operation {
        static std::vector<Competitor> named(std::initializer_list<const char*> names) {
            std::vector<Competitor> all;
            for (const char* name : names) all.push_back({.name = name});
            return all;
        }
        std::vector<Competitor> ours() override { return named({"a", "b"}); }
        std::vector<Competitor> peers() override { return named({"p", "q", "r"}); }
        std::vector<Competitor> others() override { return named({"z"}); }
    } operation;
    Contest contest;
    enter(contest, operation);
    std::string names;
    for (const Competitor& competitor : contest.competitors) names += competitor.name;
    EXPECT_EQ(names, "abpqrz");
    EXPECT_THAT(contest.peers, ElementsAre(2, 3, 4));
}

TEST(BenchTriangles, HaveFactorsWithUnitLowerDiagonals) {
    const CsrMatrix<double> a{
        .rows = 2, .columns = 2, .row_offsets = {0, 2, 4}, .column_indices = {0, 1, 0, 1}, .values = {4.0, 2.0, 1.0, 3.0}};
    const auto factors = bench::factors_of<double>(PreconditionerKind::ilu0, a);  // (1 0; 1/4 1) (4 2; 0 5/2)
    const TriangularSystem<double> lower("A", PreconditionerKind::ilu0, factors.lower, Triangle::lower);
    const TriangularSystem<double> upper("A", PreconditionerKind::ilu0, factors.upper, Triangle::upper);
    EXPECT_EQ(lower.factor(), "L of ilu0");
    EXPECT_EQ(upper.factor(), "U of ilu0");
    EXPECT_EQ(upper.heading(), "A: solve with U of ilu0, 2 rows, 3 nonzeros, double");
    EXPECT_THAT(upper.parameters(), ElementsAre(Pair("matrix", "A"), Pair("factor", "U of ilu0"), Pair("precision", "double"),
                                                Pair("rows", "2"), Pair("nonzeros", "3")));
    const std::vector<double> x = lower.exact_solution(1), z = upper.exact_solution(1);
    EXPECT_EQ(x[0], lower.b[0]);
    EXPECT_EQ(x[1], lower.b[1] - 0.25 * lower.b[0]);
    EXPECT_EQ(z[1], upper.b[1] / 2.5);
    EXPECT_THROW(bench::factors_of<double>(PreconditionerKind::jacobi, a), InvalidArgument);
}

}  // namespace
