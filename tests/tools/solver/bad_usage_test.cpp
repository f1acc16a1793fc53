#include "support/solver_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

namespace solver {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using testing::Finished;
using ::testing::HasSubstr;
using testing::SolverCommand;
using ::testing::StartsWith;

struct Refusal {
    const char* name;
    const char* arguments;
    std::vector<const char*> says;
};

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << "solver " << refusal.arguments; }

class BadUsage : public SolverCommand, public ::testing::WithParamInterface<Refusal> {};

TEST_P(BadUsage, IsRefusedInOneClearLine) {
    write("zero_diagonal.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 1\n2 1 1\n");
    write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 1 1\n");
    write("broken.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n1 5 1\n");
    write("b2.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n1\n");
    write("none.mtx", "%%MatrixMarket matrix array real general\n40 0\n");
    write("tall_complex.mtx", "%%MatrixMarket matrix coordinate complex general\n3 2 1\n1 1 1 0\n");
    write("complex.mtx", "%%MatrixMarket matrix coordinate complex general\n3 3 3\n1 1 1 1\n2 2 1 0\n3 3 1 0\n");
    write("complex_b.mtx", "%%MatrixMarket matrix array complex general\n3 1\n1 1\n1 1\n1 1\n");
    write("one.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n");
    write("two.mtx", "%%MatrixMarket matrix array real general\n3 2\n1\n1\n1\n1\n1\n1\n");
    const auto before = files();
    const Finished finished = run(GetParam().arguments);
    EXPECT_EQ(finished.status, 1);
    EXPECT_EQ(finished.out, "");
    EXPECT_THAT(finished.err, AllOf(StartsWith("solver: "), EndsWith("\n")));
    for (const char* text : GetParam().says) EXPECT_THAT(finished.err, HasSubstr(text));
    auto expected = before;
    for (const char* captured : {".err", ".out"}) expected.push_back(captured);
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(files(), expected) << "nothing is left behind";
    EXPECT_EQ(read("A.mtx"), tridiagonal(40)) << "no input is touched";
}

const Refusal refusals[] = {
    {"NoArguments", "", {"--matrix FILE is missing"}},
    {"DenseMatrixNotSquare", "--matrix two.mtx --verify", {"--verify: for square systems only; the matrix is 3 x 2", "LSMR"}},
    {"UnknownOption", "--matrx A.mtx", {"no option --matrx", "did you mean --matrix?"}},
    {"UnknownOptionUnlikeAny", "--frobnicate", {"no option --frobnicate", "--help"}},
    {"AbbreviatedOption", "--matrix A.mtx --tol 1e-3", {"no option --tol"}},
    {"StrayArgument", "A.mtx", {"--matrix FILE"}},
    {"OptionTwice", "--matrix A.mtx --matrix A.mtx", {"--matrix", "more than once"}},
    {"ValueMissing", "--matrix", {"--matrix", "missing"}},
    {"ValueEmpty", "--matrix ''", {"--matrix needs a value"}},
    {"ContradictoryShortForms", "--matrix A.mtx --compensated --exact", {"compensated and exact", "choose one"}},
    {"FastAndExact", "--matrix A.mtx --fast --exact", {"fast and exact", "choose one"}},
    {"ContradictoryAccuracy", "--matrix A.mtx --accuracy fast --exact", {"fast and exact", "choose one"}},
    {"UnknownAccuracy", "--matrix A.mtx --accuracy superb", {"superb", "fast, compensated or exact"}},
    {"UnknownPrecision", "--matrix A.mtx --precision half", {"half", "double, single or mixed"}},
    {"UnknownMethod",
     "--matrix A.mtx --method qmr",
     {"--method qmr", "method 'qmr' is not known; choose auto, bicgstab, cg, gmres, minres, idr, bicgstab2 or cocg"}},
    {"RestartZero", "--matrix A.mtx --restart 0", {"--restart 0", "a whole number above 0"}},
    {"UnknownPreconditioner", "--matrix A.mtx --preconditioner amgx", {"amgx", "jacobi", "amg"}},
    {"UnknownKernel", "--matrix A.mtx --spmv merge", {"merge", "adaptive"}},
    {"UnknownDevice", "--matrix A.mtx --device gpu", {"gpu", "auto, cpu, cuda"}},
    {"NegativeTolerance", "--matrix A.mtx --tolerance -1", {"--tolerance -1", "above 0"}},
    {"ToleranceZero", "--matrix A.mtx --tolerance 0", {"--tolerance 0", "above 0"}},
    {"FillFactorBelowZero", "--matrix A.mtx --fill-factor -1", {"--fill-factor -1", "from 0 to 1e6"}},
    {"ToleranceThatIsNoNumber", "--matrix A.mtx --tolerance 1e-10x", {"--tolerance 1e-10x"}},
    {"NegativeAbsoluteTolerance", "--matrix A.mtx --absolute-tolerance -1", {"--absolute-tolerance -1", "0 or more"}},
    {"ToleranceNan", "--matrix A.mtx --tolerance nan", {"--tolerance nan"}},
    {"NoThreads", "--matrix A.mtx --threads 0", {"--threads 0", "1 to 4096"}},
    {"HalfAThread", "--matrix A.mtx --threads 1.5", {"--threads 1.5"}},
    {"NegativeIterations", "--matrix A.mtx --max-iterations -1", {"--max-iterations -1"}},
    {"SeedThatIsNoNumber", "--matrix A.mtx --rhs random:x", {"random:x", "seed"}},
    {"MatrixMissing", "--matrix nowhere.mtx", {"nowhere.mtx"}},
    {"MatrixBroken", "--matrix broken.mtx", {"broken.mtx:4:", "5"}},
    {"MatrixIsAFolder", "--matrix .", {"expected a Matrix Market file"}},
    {"MatrixNotSquare", "--matrix wide.mtx --method gmres", {"--method: for square systems only; the matrix is 2 x 3", "LSMR"}},
    {"LeastSquaresByAMethod", "--matrix A.mtx --least-squares --method gmres", {"--method: not with --least-squares", "LSMR"}},
    {"ComplexMatrixNotSquare",
     "--matrix tall_complex.mtx --rounded",
     {"--rounded: for square systems only; the matrix is 3 x 2"}},
    {"RectangularRestart", "--matrix wide.mtx --restart 5", {"--restart: for square systems only"}},
    {"RectangularNodes", "--matrix wide.mtx --unknowns-per-node 3", {"--unknowns-per-node: for square systems only"}},
    {"RectangularDropTolerance", "--matrix wide.mtx --drop-tolerance 1", {"--drop-tolerance: for square systems only"}},
    {"RectangularFillFactor", "--matrix wide.mtx --fill-factor 1", {"--fill-factor: for square systems only"}},
    {"RectangularProfile", "--matrix wide.mtx --profile gpu", {"--profile: for square systems only"}},
    {"ComplexRhsOfARealMatrix",
     "--matrix identity.mtx --rhs complex_b.mtx",
     {"complex_b.mtx: complex numbers, but the matrix is real, and the right-hand side must be, too"}},
    {"ComplexGuessOfARealMatrix", "--matrix identity.mtx --initial complex_b.mtx", {"complex numbers", "the initial guess"}},
    {"NearNullSpaceOfAComplexMatrix",
     "--matrix complex.mtx --near-null b2.mtx",
     {"b2.mtx: 2 rows", "near-null space needs 3 rows"}},
    {"RectangularPreconditioner", "--matrix wide.mtx --preconditioner ilu0", {"--preconditioner: for square systems only"}},
    {"ZeroDiagonal", "--matrix zero_diagonal.mtx --preconditioner jacobi", {"diagonal", "row 1", "none"}},
    {"RhsOfWrongSize", "--matrix A.mtx --rhs b2.mtx", {"b2.mtx", "2 rows", "40"}},
    {"RhsMissing", "--matrix A.mtx --rhs nowhere.mtx", {"nowhere.mtx: there is no such file", "ones, A*ones, random"}},
    {"InitialOfWrongSize", "--matrix A.mtx --initial b2.mtx", {"b2.mtx", "initial guess", "40"}},
    {"ReportIntoNoFolder", "--matrix A.mtx --report nowhere/report.json", {"--report", "nowhere/report.json"}},
    {"SolutionIsAFolder", "--matrix A.mtx --solution .", {"--solution", "folder"}},
    {"SolutionReplacesTheMatrix", "--matrix A.mtx --solution ./A.mtx", {"--solution", "replace", "--matrix"}},
    {"ReportReplacesTheRhs", "--matrix A.mtx --rhs b2.mtx --report b2.mtx", {"--report", "replace", "--rhs"}},
    {"HistoryReplacesTheInitialGuess",
     "--matrix A.mtx --initial b2.mtx --history b2.mtx",
     {"--history", "replace", "--initial"}},
    {"TwoOutputsInOneFile", "--matrix A.mtx --report out --history ./out", {"--report and --history", "same file"}},
    {"PlotOfAnUnknownKind", "--matrix A.mtx --plot a.pdf", {"--plot a.pdf", ".svg, .png or .html"}},
    {"PlotReplacesTheMatrix", "--matrix a.svg --plot a.svg", {"a.svg"}},
    {"PageReplacesTheMatrix", "--matrix a.html --plot a.html", {"a.html"}},
    {"PageInAFolderThatIsNotThere", "--matrix A.mtx --plot nowhere/a.html", {"--plot nowhere/a.html"}},
    {"PageIsTheReport", "--matrix A.mtx --plot a.html --report a.html", {"--report and --plot", "same file"}},
    {"ReferenceInSingle", "--matrix A.mtx --reference --precision single", {"--reference", "double or mixed"}},
    {"BlocksOfNoRows", "--matrix A.mtx --block-size 0", {"--block-size 0", "1 or more"}},
    {"BlocksOfTheAutomaticChoice",
     "--matrix A.mtx --block-size 2",
     {"--block-size has no effect on the automatic choice", "ilu0, isai, ilut or klu"}},
    {"BlocksOfTheAutomaticChoiceByName", "--matrix A.mtx --preconditioner auto --block-size 2", {"--block-size has no effect"}},
    {"DropToleranceAboveOne", "--matrix A.mtx --drop-tolerance 2", {"--drop-tolerance 2", "from 0 to 1"}},
    {"NodesOfNoUnknowns", "--matrix A.mtx --unknowns-per-node -1", {"--unknowns-per-node -1", "1 to 100"}},
    {"NodesThatDoNotFit", "--matrix A.mtx --preconditioner amg --unknowns-per-node 3", {"3 unknowns", "40 rows"}},
    {"NearNullSpaceOfWrongSize", "--matrix A.mtx --near-null b2.mtx", {"b2.mtx", "near-null space", "40"}},
    {"SolutionReplacesTheNearNullSpace",
     "--matrix A.mtx --near-null b2.mtx --solution b2.mtx",
     {"--solution", "replace", "--near-null"}},
    {"BoundAndRounding", "--matrix A.mtx --verify --rounded", {"--verify and --rounded", "choose one"}},
    {"DropToleranceOfJacobi",
     "--matrix A.mtx --preconditioner jacobi --drop-tolerance 0.1",
     {"--drop-tolerance has no effect with --preconditioner jacobi, but with ilut"}},
    {"BlocksOfMultigrid", "--matrix A.mtx --preconditioner amg --block-size 2", {"ilu0, isai, ilut, klu"}},
    {"RestartOfBicgstab", "--matrix A.mtx --method bicgstab --restart 9", {"--restart has no effect", "gmres"}},
    {"NoMemory", "--matrix A.mtx --memory-limit 0", {"--memory-limit 0", "gigabytes"}},
    {"LimitTooSmallForTheFactors",
     "--matrix A.mtx --preconditioner klu --memory-limit 1e-6",
     {"klu", "the limit is 1e-06 GB", "ilut"}},
    {"RhsWithoutColumns", "--matrix A.mtx --rhs none.mtx", {"none.mtx", "column"}},
    {"OneGuessForTwoRightHandSides",
     "--matrix identity.mtx --rhs two.mtx --initial one.mtx",
     {"one.mtx: 1 columns", "2 right-hand sides"}},
    {"QuietStillTellsErrors", "--quiet --matrix nowhere.mtx", {"nowhere.mtx"}},
};

INSTANTIATE_TEST_SUITE_P(SolverCommand, BadUsage, ::testing::ValuesIn(refusals),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace solver
