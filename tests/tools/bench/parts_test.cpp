// What the benches share: names, traffic, headings and truths.

#include "common.hpp"
#include "gemms.hpp"
#include "operation.hpp"
#include "papers/millionths.hpp"
#include "plain_reader.hpp"
#include "product_machine.hpp"
#include "products.hpp"
#include "record.hpp"
#include "reductions.hpp"
#include "solver/error.hpp"
#include "support/bench_files.hpp"
#include "triangles.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <limits>
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

using solver::testing::BenchFiles;
using solver::testing::made;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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
    options.json = folder_.path() / "a.mtx";
    EXPECT_THROW(matrices_of(options), InvalidArgument);
    options.matrices = {"poisson2d_3"};
    EXPECT_EQ(matrices_of(options).size(), 1u);
    const fs::path empty = folder_.path() / "empty";
    fs::create_directory(empty);
    options.matrices = {empty.string()};
    EXPECT_THROW(matrices_of(options), FileError);
}

TEST_F(BenchFiles, CountOnceWhateverTheyAreCalled) {
    const fs::path file = written("a.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 4\n");
    fs::create_symlink(file, folder_.path() / "b.mtx");
    Options options;
    options.matrices = {file.string(), (folder_.path() / "." / "b.mtx").string(), "poisson2d_3", "poisson2d_03.mtx"};
    for (const auto& found : {matrices_of(options), find_matrices(options, Report(options))}) {
        ASSERT_EQ(found.size(), 2u);
        EXPECT_EQ(name_of(found[0]), "a.mtx");
        EXPECT_EQ(name_of(found[1]), "poisson2d_3.mtx");
    }
    options.matrices.push_back(folder_.path().string());
    EXPECT_EQ(matrices_of(options).size(), 2u);
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

/// (1 + 2^-30)^2 = 1 + 2^-29 + 2^-60, of which double loses 2^-60; (1 + 2^-20)^2, of which float loses 2^-40.
TEST(BenchDenseProducts, HaveErrorsOfRoundingInBothPrecisions) {
    const ProductSamples<double> in_double({1, {1 + 0x1p-30}, {1 + 0x1p-30}}, 1);
    const ProductError rounded = in_double.error({1 + 0x1p-29});
    EXPECT_EQ(rounded.largest, 0);
    EXPECT_EQ(rounded.relative, 0x1p-60 / (1 + 0x1p-29));
    EXPECT_EQ(in_double.error({1 + 0x1p-29 + 0x1p-52}).relative, (0x1p-52 - 0x1p-60) / (1 + 0x1p-29));
    const ProductSamples<float> in_single({1, {1 + 0x1p-20f}, {1 + 0x1p-20f}}, 1);
    EXPECT_EQ(in_single.error({1 + 0x1p-19f}).largest, 0);
    EXPECT_EQ(in_single.error({1 + 0x1p-19f}).relative, 0x1p-40 / (1 + 0x1p-19 + 0x1p-40));
}

/// (1 + 2i) (5 - 6i) = 17 + 4i.
TEST(BenchDenseProducts, OfComplexNumbersAreJudgedByTheirParts) {
    const DenseFactors<double> factors{1, {1, 2}, {5, -6}, true};
    const ProductSamples<double> samples(factors, 1);
    ASSERT_THAT(samples.places(), ElementsAre(0, 1));
    EXPECT_EQ(samples.samples()[0].exact, 17);
    EXPECT_EQ(samples.samples()[1].exact, 4);
    EXPECT_EQ(samples.samples()[0].magnitudes, 17);
    EXPECT_EQ(samples.samples()[1].magnitudes, 16);
    EXPECT_EQ(operations_of_product(10, true), 8000);
    Options options;
    options.complex_numbers = true;
    EXPECT_EQ(product_contest<float>(options, Elements::uniform, 7).heading,
              "C = A B, 7 x 7 times 7 x 7, uniform, complex single, blocks of 64");
    EXPECT_EQ(bench::make_factors<double>(options, Elements::uniform, 5).a.size(), 50);
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
