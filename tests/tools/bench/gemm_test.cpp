// What solver-bench gemm measures and grades, and the papers that it measures again.

#include "papers/badin2011_tables.hpp"
#include "solver/cuda/runtime.hpp"
#include "support/solver_bench.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace solver::bench;
using solver::testing::competitors;
using solver::testing::Finished;
using solver::testing::json;
using solver::testing::SolverBench;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What stands in the last column, or so many before it, of the lines of a table that begin with a way to multiply.
std::vector<std::string> column(const std::string& table, const std::string& way, int before_the_last) {
    std::vector<std::string> column;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("  " + way + "  ")) continue;
        std::istringstream words(line.substr(way.size() + 4));
        const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
        column.push_back(all.at(all.size() - 1 - static_cast<std::size_t>(before_the_last)));
    }
    return column;
}

std::vector<std::string> grades(const std::string& table, const std::string& way) { return column(table, way, 0); }

TEST_F(SolverBench, ComparesDenseProductsOfComplexNumbers) {
    const json result = report("gemm --complex --size 1 --size 33 --precision both");
    EXPECT_TRUE(result["verified"]);
    const auto names = competitors(result);
    EXPECT_EQ(std::count(names.begin(), names.end(), "exact"), 2 * 2 * 2);
    EXPECT_EQ(std::count(names.begin(), names.end(), "eigen"), 2 * 2 * 2);
    EXPECT_EQ(std::count(names.begin(), names.end(), "kahan"), 0);
    for (const json& entry : result["cases"]) {
        if (entry["competitor"] == "exact") {
            EXPECT_EQ(entry["error_ulp"], 0) << entry.dump();
        }
    }
}

TEST_F(SolverBench, ComparesDenseProducts) {
    const json result =
        report("gemm --size 1 --size 67 --input uniform --input signed --input lognormal --phi 2 --block 16 --precision both");
    EXPECT_TRUE(result["verified"]);
    const auto names = competitors(result);
    EXPECT_EQ(std::count(names.begin(), names.end(), "exact"), 2 * 3 * 2);
    EXPECT_EQ(std::count(names.begin(), names.end(), "eigen"), 2 * 3 * 2);
    for (const json& entry : result["cases"]) {
        SCOPED_TRACE(entry.dump());
        const double n = std::stod(entry["size"].get<std::string>());
        const double operations = entry["gigaflops"].get<double>() * entry["median_seconds"].get<double>() * 1e9;
        EXPECT_NEAR(operations / (2 * n * n * n), 1, 1e-12);
        EXPECT_EQ(entry["phi"], entry["input"] == "lognormal" ? "2" : "");
        EXPECT_LE(entry["mean_error_ulp"], entry["error_ulp"]);
        EXPECT_LT(entry["relative_error"], entry["precision"] == "double" ? 67 * 0x1p-53 : 67 * 0x1p-24);
        if (entry["competitor"] == "exact") {
            EXPECT_EQ(entry["error_ulp"], 0);
        }
    }
}

TEST_F(SolverBench, GradesDenseProductsAndTellsAlgorithmsApart) {
    const Finished finished = run("gemm --grade --size 32 --size 64 --size 128 --device cpu --threads 2 --json r.json");
    EXPECT_EQ(finished.status, 0) << finished.out << finished.err;
    for (const char* way : {"fast", "compensated", "exact", "kahan", "dot2", "eigen"})
        EXPECT_THAT(grades(finished.out, way), ElementsAre("A", "A")) << finished.out;  // in double, in single
    EXPECT_THAT(grades(finished.out, "(fixed point)"), ElementsAre("B", "B")) << finished.out;
    EXPECT_THAT(grades(finished.out, "(strassen)"), ElementsAre("C", "C")) << finished.out;
    const json result = json::parse(read("r.json"));
    std::map<std::string, double> steepest;  // by way and precision
    for (const json& entry : result["cases"]) {
        if (entry["way"] == "exact") {
            EXPECT_LE(std::stod(entry["componentwise_error"].get<std::string>()), 1) << entry;
        }
        if (entry["size"] != "128" || (entry["input"] != "uniform" && entry["input"] != "signed")) continue;
        const auto error = [&](const char* size) {
            const auto is_of_size = [&](json other) {
                other["size"] = other["size"] == size ? entry["size"] : json();
                return other["size"] == entry["size"] && other["way"] == entry["way"] && other["input"] == entry["input"] &&
                       other["precision"] == entry["precision"];
            };
            const auto found = std::find_if(result["cases"].begin(), result["cases"].end(), is_of_size);
            return std::max(1.0, std::stod((*found)["componentwise_error"].get<std::string>()));
        };
        // Of three points at equal distances the line of least squares is as steep as that through the first and the last.
        const double slope = std::log(error("128") / error("32")) / std::log(4);
        double& largest =
            steepest.try_emplace(entry["way"].get<std::string>() + entry["precision"].get<std::string>(), slope).first->second;
        largest = std::max(largest, slope);
    }
    for (const char* way : {"fast", "exact", "kahan", "eigen", "(strassen)"}) {
        const std::vector<std::string> shown = column(finished.out, way, 1);
        ASSERT_EQ(shown.size(), 2u);
        EXPECT_NEAR(std::stod(shown[0]), steepest.at(way + std::string("double")), 0.0055) << way;
        EXPECT_NEAR(std::stod(shown[1]), steepest.at(way + std::string("single")), 0.0055) << way;
    }
    EXPECT_GT(steepest.at("(strassen)double"), 0.5);
}

/// Between sizes as close as these, errors of fast grow faster than n by chance, now in one precision and now in the other.
TEST_F(SolverBench, IsContentWhereTheLibraryHasTheBestGradeInBothPrecisions) {
    bool in_double_alone = false, in_single_alone = false;
    for (int n = 40; n < 100 && !(in_double_alone && in_single_alone); n += 3) {
        const Finished finished =
            run("gemm --grade --device cpu --threads 2 --size " + std::to_string(n) + " --size " + std::to_string(n + 1));
        bool best[] = {true, true};
        for (const char* way : {"fast", "compensated", "exact"}) {
            const std::vector<std::string> given = grades(finished.out, way);
            ASSERT_EQ(given.size(), 2u) << finished.out;
            for (const int precision : {0, 1}) best[precision] = best[precision] && given[precision] == "A";
        }
        EXPECT_EQ(finished.status, best[0] && best[1] ? 0 : 2) << finished.out;
        in_double_alone = in_double_alone || (best[0] && !best[1]);
        in_single_alone = in_single_alone || (best[1] && !best[0]);
    }
    if (!in_double_alone || !in_single_alone) GTEST_SKIP() << "chance did not tell the precisions apart";
}

TEST_F(SolverBench, MeasuresTablesOfSelectiveCompensationAgain) {
    const Finished finished = run("gemm --paper badin2011 --size 192 --device cpu --threads 2 --repetitions 1 --json r.json");
    EXPECT_EQ(finished.status, 0) << finished.err;
    const json cases = json::parse(read("r.json"))["cases"];
    ASSERT_EQ(cases.size(), 2 * (2 + 2 * 4));
    const auto average = [&](const std::string& method, const std::string& tile) {
        for (const json& entry : cases)
            if (entry["input"] == "uniform" && entry["method"] == method && entry["tile"] == tile)
                return std::stod(entry["average_error_millionths"].get<std::string>());
        ADD_FAILURE() << method << " " << tile;
        return 0.0;
    };
    EXPECT_LT(average("kahan", "1"), average("kahan", "64"));
    EXPECT_LT(average("kahan", "64"), average("plain", ""));
    EXPECT_LT(average("doubly-compensated", "16"), average("plain", ""));
    EXPECT_LT(average("kahan", "1"), 192 * 0x1p-24 * 1e6);
    const auto number = [&](const json& entry, const char* name) { return std::stod(entry[name].get<std::string>()); };
    for (const int first_of_its_input : {0, 10}) {
        const json& peer = cases[first_of_its_input];
        EXPECT_EQ(peer["ratio_to_peer"], "1.00") << "the peer by itself";
        for (int i = 0; i < 10; ++i) {
            const json& entry = cases[first_of_its_input + i];
            SCOPED_TRACE(entry.dump());
            EXPECT_GE(number(entry, "gigaflops"), 0);
            EXPECT_LT(number(entry, "gigaflops"), 1000) << "of two threads";
            if (number(peer, "gigaflops") < 1) continue;  // on a machine that had other things to do: too few digits
            const double ratio = number(entry, "gigaflops") / number(peer, "gigaflops");
            const double last_digits = 0.005 + (0.05 + 0.05 * ratio) / number(peer, "gigaflops");  // of a ratio, of GFLOPS
            EXPECT_NEAR(number(entry, "ratio_to_peer"), ratio, 1.01 * last_digits);
        }
    }
}

TEST_F(SolverBench, TellsStrassensProductsFromOthersOnACudaDevice) {
    if (solver::cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
    const Finished graded = run("gemm --grade --size 64 --size 256 --device cuda");
    EXPECT_EQ(graded.status, 0) << graded.out << graded.err;
    for (const char* way : {"fast", "compensated", "exact", "kahan", "cublas", "outer products"})
        EXPECT_THAT(grades(graded.out, way), ElementsAre("A", "A")) << graded.out;
    EXPECT_THAT(grades(graded.out, "dngemm depth 1"), ElementsAre("C")) << graded.out;
    EXPECT_THAT(grades(graded.out, "sngemm depth 1"), ElementsAre("C")) << graded.out;
    EXPECT_THAT(grades(graded.out, "cublas tf32"), ElementsAre("unsafe")) << graded.out;
    const Finished measured = run("gemm --paper badin2013 --size 256 --device cuda --repetitions 1 --json r.json");
    EXPECT_EQ(measured.status, 0) << measured.err;
    EXPECT_THAT(read("r.json"), HasSubstr("\"method\": \"sngemm\""));
}

TEST(Badin2011, TablesAreThePublishedOnes) {
    const auto count = [](int table) {
        return std::count_if(badin2011::lines.begin(), badin2011::lines.end(),
                             [&](const auto& line) { return line.table == table; });
    };
    EXPECT_EQ(count(4), 5);
    EXPECT_EQ(count(6), 5);
    for (const int table : {5, 7, 8, 9}) EXPECT_EQ(count(table), 5 * 4);
    for (const badin2011::Line& line : badin2011::lines) {
        EXPECT_LE(line.average, -line.lowest) << line.table << " " << line.n << " " << line.tile;
        EXPECT_EQ(line.tile == 0, line.summation == solver::GemmSummation::plain);
        EXPECT_LE(line.gigaflops, 442.2);
    }
}

}  // namespace
