// What solver-bench bits compares and records.

#include "record.hpp"
#include "support/solver_bench.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;
using namespace solver::bench;
using solver::testing::Finished;
using solver::testing::SolverBench;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(SolverBench, ComparesTheBitsOfExactBetweenNumbersOfThreads) {
    fs::create_directory(folder_.path() / "all");
    write("all/good.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 4\n1 2 1\n2 2 3\n3 1 0.1\n3 3 -7\n");
    write("all/no_diagonal.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n");
    write("all/wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    const Finished finished =
        run("bits all poisson2d_20 --device cpu --threads 3 --csv r.csv --precision double --max-iterations 7");
    EXPECT_EQ(finished.status, 0) << finished.err;
    for (const char* text : {"the processor, 1 thread beside the processor, 3 threads", "not square and real: wide",
                             "24 comparisons: 24 agree, 0 DIFFER"})
        EXPECT_THAT(finished.out, HasSubstr(text));
    const std::string csv = read("r.csv");
    EXPECT_THAT(csv, HasSubstr("matrix,rows,nonzeros,precision,products,reductions,none,jacobi,ilu0,isai,ilut,klu\n"));
    EXPECT_THAT(csv, HasSubstr("\npoisson2d_20,400,1920,double,=,=,7 =,7 =,7 =,7 =,"));
    EXPECT_THAT(csv, HasSubstr("\nno_diagonal,2,2,double,=,=,"));
    EXPECT_THAT(csv, HasSubstr("refused"));
    expect_refusal("bits", "which matrices?");
}

TEST(BenchRecord, TellsWhichPartsDiffer) {
    Record one;
    one.add("solution", 1.0);
    one.add("history", 2.0);
    one.add("history", 3.0);
    EXPECT_THAT(one.differences(one), ElementsAre());
    Record other;
    other.add("solution", std::nextafter(1.0, 2.0));  // as long, and one bit apart
    other.add("history", 3.0);
    other.add("history", 2.0);
    other.add("status", 0);
    EXPECT_THAT(one.differences(other), ElementsAre("history", "solution", "status"));
    EXPECT_THAT(other.differences(one), ElementsAre("history", "solution", "status"));
}

}  // namespace
