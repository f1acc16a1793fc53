#include "support/solver_command.hpp"
#include "support/well_formed.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

namespace solver {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::Finished;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::SolverCommand;
using ::testing::StartsWith;

TEST_F(SolverCommand, PlotsResidualsAndLeavesNothingElseBehind) {
    if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "gnuplot is not installed";
    EXPECT_EQ(run("--matrix A.mtx --preconditioner none --compare --plot residuals.svg").status, 0);
    EXPECT_THAT(read("residuals.svg"),
                AllOf(HasSubstr("<svg"), HasSubstr("compensated: converged"), HasSubstr("true residual")));
    EXPECT_EQ(run("--matrix A.mtx --preconditioner none --plot residuals.png").status, 0);
    EXPECT_THAT(read("residuals.png"), StartsWith("\x89PNG"));
    EXPECT_EQ(run("--matrix A.mtx --plot \"it's a plot.svg\"").status, 0);
    EXPECT_THAT(read("it's a plot.svg"), HasSubstr("<svg"));
}

TEST_F(SolverCommand, MakesAPageOfEverythingItFound) {
    const Finished finished =
        run("--matrix A.mtx --device cpu --preconditioner jacobi --compare --reference --plot page.html", "PATH=/nowhere");
    EXPECT_EQ(finished.status, 0) << finished.err;
    const std::string page = read("page.html");
    EXPECT_TRUE(testing::stands_alone(page));
    EXPECT_TRUE(testing::tables_are_even(page));
    for (const char* text :
         {"<h1>A.mtx</h1>", "40 × 40", "118 nonzeros", "jacobi", "<b>fast</b> converged after", "<b>compensated</b>",
          "<b>exact</b>", "<b>Eigen BiCGSTAB, jacobi</b>", "KLU, refined", "claimed residual", "true residual", "forward error",
          "<i>x</i> = ones", "<i>x</i> random", ">no digit<", "superaccumulator", "GCC", "Eigen 3", "solver --matrix A.mtx"})
        EXPECT_THAT(page, HasSubstr(text));
    const json r = report("--matrix A.mtx --device cpu --preconditioner jacobi");
    EXPECT_THAT(page, HasSubstr(r["solution_sha256"].get<std::string>().substr(0, 16)));
    int exact_products = 0;  // of which every element is correctly rounded: all in the first column
    const std::string exact_row = "<th scope=\"row\">exact</th>";
    for (std::size_t row = page.find(exact_row); row != std::string::npos; row = page.find(exact_row, row + 1))
        if (page.substr(row, page.find("</td>", row) - row).ends_with("</i>40")) ++exact_products;
    EXPECT_EQ(exact_products, 2) << "of ones and of a random vector";
}

TEST_F(SolverCommand, PagesOfOneRunAndOfFilesWithStrangeNames) {
    const std::string name = "a<b>&\"c'.mtx";
    write(name, tridiagonal(5));
    EXPECT_EQ(run("--matrix 'a<b>&\"c'\\''.mtx' --precision single --tolerance 1e-5 --plot 'p<a>&.html'").status, 0);
    const std::string page = read("p<a>&.html");
    EXPECT_TRUE(testing::stands_alone(page));
    EXPECT_THAT(page, AllOf(HasSubstr("<h1>a&lt;b&gt;&amp;&quot;c&#39;.mtx</h1>"), HasSubstr("p&lt;a&gt;&amp;.html"),
                            HasSubstr("single precision"), Not(HasSubstr("compensated</b>"))));
}

/// What the recursion believes: of ours the residual before the first iteration and after each, of Eigen's one in the middle of
/// each.
TEST_F(SolverCommand, PagesShowEveryResidual) {
    EXPECT_EQ(run("--matrix A.mtx --device cpu --preconditioner jacobi --reference --plot page.html").status, 0);
    const std::string page = read("page.html");
    static const std::regex line(R"(believes: ([0-9]+) points, from [^ ]* to [^ ]* at iteration ([0-9.]+)\. )");
    std::vector<double> beyond;
    for (std::sregex_iterator each(page.begin(), page.end(), line), end; each != end; ++each) {
        EXPECT_GT(std::stod((*each)[2]), 2);
        beyond.push_back(std::stod((*each)[1]) - std::stod((*each)[2]));
    }
    EXPECT_THAT(beyond, ElementsAre(1, 0.5));
}

TEST_F(SolverCommand, PagesCountTheRightHandSides) {
    write("two.mtx", "%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n");
    EXPECT_EQ(run("--matrix identity.mtx --plot one.html").status, 0);
    EXPECT_EQ(run("--matrix identity.mtx --rhs two.mtx --plot two.html").status, 0);
    const auto head = [&](const char* name) {
        const std::string page = read(name);
        return page.substr(0, page.find("</header>"));
    };
    EXPECT_THAT(head("one.html"), Not(HasSubstr(" columns. Solved by")));
    EXPECT_THAT(head("two.html"), HasSubstr(", 2 columns. Solved by"));
}

TEST_F(SolverCommand, PagesShowWhatIsProven) {
    EXPECT_EQ(run("--matrix poisson2d_10 --verify --plot bound.html").status, 0);
    EXPECT_THAT(read("bound.html"), AllOf(HasSubstr("What is proven"), HasSubstr("H-matrix"), HasSubstr("the fewest digits")));
    EXPECT_EQ(run("--matrix poisson2d_10 --rounded --plot rounded.html").status, 0);
    EXPECT_THAT(read("rounded.html"), AllOf(HasSubstr("100 of 100 components"), Not(HasSubstr("the fewest digits"))));
    EXPECT_EQ(run("--matrix poisson2d_10 --plot none.html").status, 0);
    EXPECT_THAT(read("none.html"), Not(HasSubstr("What is proven")));
}

TEST_F(SolverCommand, SaysWhatIsMissingWhereThereIsNoGnuplotAndStillShowsTheResult) {
    const Finished finished = run("--matrix A.mtx --plot residuals.svg", "PATH=/nowhere");
    EXPECT_EQ(finished.status, 1);
    EXPECT_THAT(finished.err, AllOf(StartsWith("solver: --plot"), HasSubstr("gnuplot"), HasSubstr("--history")));
    EXPECT_THAT(finished.out, HasSubstr("converged"));
}

}  // namespace
}  // namespace solver
