// What the command makes of a solve: tables, reports, pages and scripts, of made-up results whose numbers all differ.

#include "comparison.hpp"
#include "page.hpp"
#include "plot.hpp"
#include "report.hpp"
#include "support/expected_text.hpp"
#include "table.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace solver::command {
namespace {

using ::testing::AllOf;
using testing::expect_text;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

SolveResult result(SolveStatus status, std::int64_t iterations, double truth, double belief) {
    SolveResult made;
    made.status = status;
    made.iterations = iterations;
    made.relative_residual = truth;
    made.recursive_residual = belief;
    return made;
}

/// A true residual of -1: not computed.
Iteration step(std::int64_t number, double belief, double truth = -1, std::int64_t column = 0) {
    Iteration made;
    made.number = number;
    made.recursive_residual = belief;
    made.true_residual = truth;
    made.column = column;
    return made;
}

/// Three attempts: refused, given up, and one by multigrid.
Run long_run() {
    Run run;
    run.accuracy = Accuracy::compensated;
    SolveResult good = result(SolveStatus::converged, 1, 2.5e-11, 2e-11);
    SolveResult bad = result(SolveStatus::stagnated, 1234, 3.5e-9, 4.5e-12);
    good.history = {step(0, 1, 1), step(1, 2e-11, 2.5e-11)};
    bad.replacements = 2;
    bad.restarts = 1;
    bad.history = {step(0, 1, 0.5, 1), step(1, 0.25, -1, 1), step(1234, 4.5e-12, 0, 1)};
    bad.history.back().replaced = true;
    Attempt refused, given_up, last;
    refused.preconditioner = PreconditionerKind::klu;
    refused.refusal = "too much fill";
    refused.setup_seconds = 0.125;
    given_up.preconditioner = PreconditionerKind::ilu0;
    given_up.mixed = true;
    given_up.factor_entries = 54321;
    given_up.factor_hash = 0xabc;
    given_up.pivot_ratio = 0.75;
    given_up.columns = {0, 1};
    given_up.results = {result(SolveStatus::converged, 3, 1e-11, 1e-11),
                        result(SolveStatus::iteration_limit, 200, 0.03125, 0.0625)};
    given_up.setup_seconds = 0.25;
    given_up.solve_seconds = 1.5;
    last.preconditioner = PreconditionerKind::amg;
    last.method = KrylovMethod::cg;
    last.repeated = true;
    last.factor_entries = 777;
    last.levels = {{1000, 4000, 1}, {100, 600, 3}};
    last.columns = {1};
    last.results = {bad};
    last.setup_seconds = 2;
    last.solve_seconds = 4;
    run.report = {.results = {good, bad}, .attempts = {refused, given_up, last}, .profile = CostProfile::gpu, .obstacle = ""};
    run.forward_error = ForwardError{7e-8, 6e-17, 5e-9};
    run.setup_seconds = 2.375;
    run.solve_seconds = 5.5;
    run.sha256 = "0123456789abcdef0123456789abcdef";
    run.solution = {2, 2, {1, 2, 3, 4}};
    return run;
}

Run short_run(Accuracy accuracy, SolveStatus status) {
    Run run;
    run.accuracy = accuracy;
    SolveResult only = result(status, 17, 8e-11, 9e-11);
    only.history = {step(0, 1), step(17, 9e-11)};
    run.report.results = {only};
    run.report.attempts.resize(1);
    run.report.attempts[0].columns = {0};
    run.report.attempts[0].results = {only};
    run.setup_seconds = 0.5;
    run.solve_seconds = 0.25;
    run.sha256 = "fedcba98765432100";
    run.solution = {2, 1, {1.5, 2}};
    return run;
}

ReferenceRun reference(const std::string& name) {
    return {.name = name,
            .claim = "converged",
            .iterations = 2,
            .claimed_residual = 1e-11,
            .true_residual = 1e-5,
            .forward_error = {},
            .seconds = 123.4,
            .half_steps = {0.5, 1e-11},
            .solution = {1, 2}};
}

Outcome several_columns() {
    Outcome outcome;
    outcome.matrix = "folder/A<1>_x.mtx";
    outcome.rows = 12345;
    outcome.columns = 12346;
    outcome.nonzeros = 1234567;
    outcome.right_hand_sides = 2;
    outcome.structure = {.rows = 12345,
                         .structural_rank = 12340,
                         .unmatched_rows = {},
                         .empty_rows = {1, 6},
                         .empty_columns = {2, 8},
                         .zero_diagonals = {1000, 0}};
    outcome.spmv = SpmvKernel::adaptive;
    outcome.storage = {SpmvStorage::packed, 6.25, "differences in a byte"};
    outcome.read_seconds = 0.00025;
    outcome.setup_seconds = 0.125;
    outcome.runs = {long_run()};
    return outcome;
}

Options options_of(const std::string& command) {
    Options options;
    options.command = command;
    options.device = Device::cpu(3);
    options.threads = 3;
    return options;
}

TEST(SolverTexts, OfSeveralRightHandSidesAndAttempts) {
    Options options = options_of("solver --matrix 'A<1>_x.mtx'");
    options.rhs = RhsFile{"b.mtx"};
    options.initial = "x0.mtx";
    options.accuracy = Accuracy::compensated;
    options.tolerance = 2e-10;
    options.absolute_tolerance = 3e-7;
    const Outcome outcome = several_columns();
    expect_text(table(options, outcome, false), "solver_several_columns.txt");
    expect_text(table(options, outcome, true), "solver_several_columns_coloured.txt");
    expect_text(report_json(options, outcome), "solver_several_columns.json");
    expect_text(history_csv(outcome.runs), "solver_several_columns.csv");
    expect_text(page_html(options, outcome), "solver_several_columns.html");
    EXPECT_EQ(comparison(options, outcome, false), "") << "of one run";
}

SolutionProof proof(ProofStatus status, const char* reason) {
    SolutionProof made;
    made.status = status;
    made.reason = reason;
    return made;
}

SolutionProof rounding(ProofStatus status, const char* reason, std::int64_t undecided) {
    SolutionProof made = proof(status, reason);
    made.rounded = 12000 - undecided;
    made.undecided = undecided;
    made.ties = 3;
    made.zeros = 1;
    made.refinements = 2;
    made.iterations = 31;
    return made;
}

/// A reader must see at once whether x is proven, and how far.
TEST(SolverTexts, OfRoundedSolutions) {
    Options options = options_of("solver --matrix A.mtx --rounded");
    options.guarantee = Guarantee::rounded;
    Outcome outcome = several_columns();
    command::Run& run = outcome.runs[0];
    run.backward_error = 1.5e-16;
    run.report.certificate_iterations = 4;
    run.report.guarantee_seconds = 0.25;
    run.report.proofs = {rounding(ProofStatus::proven, "H-matrix", 0)};
    std::string text = table(options, outcome, false);
    EXPECT_THAT(text, HasSubstr("backward error    1.5e-16  proven, by components, of all columns\n"));
    EXPECT_THAT(text,
                HasSubstr("rounded           12 000 of 12 000 components, 2 refinements, 31 iterations; ties 3, zeros 1\n"));
    EXPECT_THAT(text, HasSubstr("proven: H-matrix (4 iterations)\n"));
    EXPECT_THAT(text, HasSubstr("solve 5.50 s, proof 250 ms\n"));
    EXPECT_THAT(text, HasSubstr("of the bits of x, whatever computes it\n"));

    run.report.proofs[0].dropped = 1;
    EXPECT_THAT(table(options, outcome, false), HasSubstr("ties 3, zeros 1, of these 1 by their size alone\n"));
    EXPECT_THAT(report_json(options, outcome), HasSubstr("\"dropped\": 1"));

    run.report.proofs.push_back(rounding(ProofStatus::unproven, "7 components", 7));
    text = table(options, outcome, false);
    EXPECT_THAT(text, HasSubstr("least is proven of column 2:\n  rounded           11 993 of 12 000 components"));
    EXPECT_THAT(text, HasSubstr("1 of 2 right-hand sides converged; of the worst, column 2:\n"));
    EXPECT_THAT(text, Not(HasSubstr("whatever computes it")));
}

TEST(SolverTexts, OfBounds) {
    Options options = options_of("solver --matrix A.mtx --verify");
    options.guarantee = Guarantee::bound;
    Outcome outcome = several_columns();
    SolutionProof bound = proof(ProofStatus::proven, "H-matrix");
    bound.error_bound = 2e-9;
    bound.certified_digits = 10.99;  // never more digits than there are
    outcome.runs[0].report.proofs = {bound};
    EXPECT_THAT(table(options, outcome, false),
                HasSubstr("error bound       2.0e-09 relative at most, 10.9 digits in the mean; proven: H-matrix"));
    EXPECT_THAT(report_json(options, outcome), HasSubstr("\"estimated_error\": null"));
    for (const auto& [error, text] : {std::pair(2.0001e-9, "2.1e-09"), std::pair(2.0999e-9, "2.1e-09"),
                                      std::pair(9.9001e-9, "1.0e-08"), std::pair(1e-8, "1.0e-08"), std::pair(0.0, "0")}) {
        outcome.runs[0].report.proofs[0].error_bound = error;
        EXPECT_THAT(table(options, outcome, false), HasSubstr(std::string("error bound       ") + text + " relative at most"));
    }
    bound.error_bound = std::numeric_limits<double>::infinity();  // some x_i is 0
    outcome.runs[0].report.proofs = {bound};
    EXPECT_THAT(report_json(options, outcome), HasSubstr("\"error_bound\": \"Infinity\""));
    bound.error_bound = 5e-324;  // no claim of 0
    outcome.runs[0].report.proofs = {bound};
    EXPECT_THAT(table(options, outcome, false), HasSubstr("error bound       1.0e-300 relative at most"));
    SolutionProof estimated = proof(ProofStatus::unproven, "not an H-matrix");
    estimated.estimated_error = 3.4e-9;
    outcome.runs[0].report.proofs = {estimated};
    EXPECT_THAT(table(options, outcome, false),
                HasSubstr("error bound       could not prove: not an H-matrix (estimated, not proven: 3e-09 of the largest "
                          "component)\n"));
    EXPECT_THAT(report_json(options, outcome), HasSubstr("\"estimated_error\": 3.4e-09"));
    EXPECT_THAT(report_json(options, outcome), HasSubstr("\"error_bound\": null"));
    outcome.runs[0].report.proofs = {proof(ProofStatus::singular, "structural rank 2 of 3")};
    EXPECT_THAT(table(options, outcome, false), HasSubstr("error bound       singular: structural rank 2 of 3\n"));
    EXPECT_THAT(report_json(options, outcome), HasSubstr("\"status\": \"singular\""));
    EXPECT_THAT(table(options, outcome, false), HasSubstr("stagnated after")) << "singular, as was seen after a solve";
}

Outcome compared() {
    Outcome outcome = several_columns();
    outcome.matrix = "poisson2d_3";
    outcome.generated = true;
    outcome.right_hand_sides = 1;
    outcome.rows = outcome.columns = 2;
    outcome.nonzeros = 4;
    outcome.structure = Diagnosis();
    outcome.structure.rows = outcome.structure.structural_rank = 2;
    outcome.runs = {short_run(Accuracy::fast, SolveStatus::converged),
                    short_run(Accuracy::exact, SolveStatus::iteration_limit)};
    outcome.runs[1].solution.values = {1, nan};
    outcome.references = {reference("Eigen BiCGSTAB, none"), reference("KLU, refined")};
    outcome.references[1].half_steps.clear();
    outcome.references[1].true_residual = 3e-17;
    outcome.references[1].claimed_residual = 2e-17;
    outcome.references[1].iterations = 1;
    page::UlpHistogram histogram;
    page::count(histogram, 0, 100);
    page::count(histogram, 3, 100);
    outcome.products = {{"<i>x</i> = ones", {{"fast", {}, histogram}}}};
    return outcome;
}

TEST(SolverTexts, OfAccuraciesAndReferencesSideBySide) {
    Options options = options_of("solver --compare --reference");
    options.rhs = RhsRandom{7};
    options.accuracy = Accuracy::fast;
    options.compare = options.reference = true;
    options.preconditioner = PreconditionerKind::none;
    Outcome outcome = compared();
    expect_text(table(options, outcome, false) + comparison(options, outcome, false), "solver_compared.txt");
    EXPECT_THAT(comparison(options, outcome, true), HasSubstr("\x1b[2m  "));
    expect_text(report_json(options, outcome), "solver_compared.json");
    expect_text(history_csv(outcome.runs), "solver_compared.csv");
    expect_text(page_html(options, outcome), "solver_compared.html");
    options.plot = "a.svg";
    expect_text(plot_script(options, outcome), "solver_compared_svg.gnuplot");
    options.plot = "a.png";
    EXPECT_THAT(plot_script(options, outcome),
                HasSubstr("set terminal pngcairo size 1440,900 font 'sans-serif,18' linewidth 1.5\n"));
    EXPECT_THAT(plot_script(options, outcome), HasSubstr("title \"tolerance\""));
    options.tolerance = 0;
    EXPECT_THAT(plot_script(options, outcome), Not(HasSubstr("title \"tolerance\"")));
}

/// Nothing ran into a limit of iterations where there were none.
TEST(SolverTexts, OfWhatIsSeenToBeSingularBeforeItIsSolved) {
    Options options = options_of("solver --matrix A.mtx --verify");
    options.guarantee = Guarantee::bound;
    Outcome outcome = compared();
    outcome.runs = {short_run(Accuracy::exact, SolveStatus::iteration_limit)};
    SolveReport& report = outcome.runs[0].report;
    report.results[0].iterations = 0;
    report.obstacle = "A is singular: why";
    report.proofs = {proof(ProofStatus::singular, "A is singular: why")};
    EXPECT_THAT(table(options, outcome, false),
                AllOf(HasSubstr("\n  status            not solved\n                    A is singular: why\n"),
                      Not(HasSubstr("iteration limit"))));
    EXPECT_THAT(report_json(options, outcome), HasSubstr("\"status\": \"not solved\""));
}

/// A direct solution that could not be made says why, and no run is compared with it.
TEST(SolverTexts, OfAReferenceThatFailed) {
    Options options = options_of("solver --reference");
    options.rhs = RhsOnes{};
    options.reference = true;
    Outcome outcome = compared();
    outcome.runs.resize(1);
    outcome.references[1].solution.clear();
    outcome.references[1].claim = "no memory";
    outcome.references[1].claimed_residual = outcome.references[1].true_residual = nan;
    expect_text(comparison(options, outcome, false), "solver_failed_reference.txt");
    EXPECT_THAT(page_html(options, outcome), HasSubstr("<p class=\"note\">KLU, refined: no memory</p>\n"));
}

TEST(SolverTexts, AdviseByHowASolveEnded) {
    Options options = options_of("solver");
    Outcome outcome = compared();
    outcome.references.clear();
    outcome.products.clear();
    const auto advice = [&](Accuracy accuracy, SolveStatus status) {
        outcome.runs = {short_run(accuracy, status)};
        const std::string text = table(options, outcome, false);
        const std::size_t begin = text.find('\n', text.find("\n  status") + 1) + 1;
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    const std::string gap(20, ' ');
    EXPECT_THAT(advice(Accuracy::fast, SolveStatus::converged), ::testing::StartsWith("  true residual     8.0e-11"));
    EXPECT_EQ(advice(Accuracy::fast, SolveStatus::iteration_limit), gap + "what may help: --exact, a larger --max-iterations");
    options.precision = Precision::single_precision;
    options.preconditioner = PreconditionerKind::none;
    EXPECT_EQ(advice(Accuracy::fast, SolveStatus::stagnated),
              gap +
                  "the residual stopped falling; what may help: --exact, --precision double, --preconditioner auto, a "
                  "larger --tolerance");
    outcome.runs[0].report.results[0].relative_residual = 1;
    EXPECT_THAT(
        table(options, outcome, false),
        HasSubstr(gap + "no better than x = 0: A may be singular, or the solution beyond the range of numbers; what may "
                        "help: --exact, --precision double, --preconditioner auto, A or b in other units\n"));
    options.precision = Precision::mixed;
    EXPECT_EQ(advice(Accuracy::exact, SolveStatus::breakdown),
              gap + "restarts included; what may help: --preconditioner auto, another --initial");
    EXPECT_EQ(advice(Accuracy::exact, SolveStatus::indefinite),
              gap + "conjugate gradients need A and M positive definite; what may help: minres, bicgstab");
    EXPECT_EQ(advice(Accuracy::exact, SolveStatus::non_finite),
              gap + "Inf or NaN on the way: numbers beyond the range of this precision, or a singular preconditioner");
}

TEST(SolverTexts, SayWhatStandsInTheWayAndWhoInterrupted) {
    const Options options = options_of("solver");
    Outcome outcome = compared();
    outcome.runs = {short_run(Accuracy::fast, SolveStatus::stagnated)};
    outcome.runs[0].report.obstacle = "the matrix is singular";
    EXPECT_THAT(table(options, outcome, false), HasSubstr("\n                    the matrix is singular\n"));
    EXPECT_THAT(report_json(options, outcome), HasSubstr("\"obstacle\": \"the matrix is singular\""));
    outcome.runs[0].interrupted = true;
    EXPECT_THAT(table(options, outcome, false),
                HasSubstr("interrupted after 17 iterations\n                    by Ctrl-C; x is the iterate reached\n"));
    EXPECT_THAT(table(options, outcome, true), HasSubstr("\x1b[31;1minterrupted\x1b[0m"));
}

/// Of the units of time, those beside the ends of their ranges.
TEST(SolverTexts, WriteTimesInReadableUnits) {
    const Options options = options_of("solver");
    Outcome outcome = compared();
    outcome.setup_seconds = 0;
    const auto times = [&](double read, double setup, double solve) {
        outcome.read_seconds = read;
        outcome.runs[0].setup_seconds = setup;
        outcome.runs[0].solve_seconds = solve;
        const std::string text = table(options, outcome, false);
        const std::size_t begin = text.find("  time  ") + 20;
        return text.substr(begin, text.find('\n', begin) - begin);
    };
    EXPECT_EQ(times(4e-6, 9.99e-4, 1e-3), "generate 4 us, setup 999 us, solve 1 ms");
    EXPECT_EQ(times(0.0123, 0.9994, 0.9996), "generate 12.3 ms, setup 999 ms, solve 1.00 s");
    EXPECT_EQ(times(0, 123.456, 60), "generate 0 us, setup 123.46 s, solve 60.00 s");
}

TEST(SolverTexts, WriteSecondsToThreeDigits) {
    const Options options = options_of("solver");
    Outcome outcome = compared();
    outcome.references.clear();
    outcome.runs.resize(1);
    const auto seconds = [&](double setup, double solve) {
        outcome.runs[0].setup_seconds = setup;
        outcome.runs[0].solve_seconds = solve;
        const std::string text = page_html(options, outcome);
        const std::size_t begin = text.find('>', text.find("--share:1.000")) + 1;
        return text.substr(begin, text.find('<', begin) - begin);
    };
    EXPECT_EQ(seconds(1, 2), "3.00");
    EXPECT_EQ(seconds(99, 0.94), "99.9");
    EXPECT_EQ(seconds(99, 0.96), "100");
    EXPECT_EQ(seconds(1000, 234.4), "1234");
}

TEST(SolverTexts, SayThatBIsExactOrHowFarItIsRounded) {
    Options options = options_of("solver");
    Outcome outcome = compared();
    outcome.runs = {short_run(Accuracy::fast, SolveStatus::converged)};
    outcome.runs[0].forward_error = ForwardError{3e-9, 0, 0};
    EXPECT_THAT(table(options, outcome, false),
                HasSubstr("  forward error     3.0e-09  floor 0: b is A * ones without any rounding\n"));
    outcome.runs[0].forward_error = ForwardError{3e-9, 2e-16, 4e-10};
    EXPECT_THAT(
        table(options, outcome, false),
        HasSubstr("  forward error     3.0e-09  floor about 4e-10: b is A * ones rounded by 2e-16, amplified as seen here\n"));

    options.guarantee = Guarantee::rounded;
    outcome.runs[0].report.proofs = {rounding(ProofStatus::proven, "H-matrix", 0)};
    EXPECT_THAT(table(options, outcome, false),
                HasSubstr("that of the solution of the system itself, whose b is A * ones rounded\n"));
    outcome.runs[0].forward_error = ForwardError{0, 0, 0};
    EXPECT_THAT(table(options, outcome, false),
                HasSubstr("  forward error     0.0e+00  floor 0: b is A * ones without any rounding\n"));
}

TEST(SolverRun, HasAWorstRightHandSide) {
    command::Run run;
    const auto worst_of = [&](std::vector<SolveResult> results) {
        run.report.results = std::move(results);
        return run.worst().iterations;
    };
    const SolveResult good = result(SolveStatus::converged, 1, 1e-3, 0), better = result(SolveStatus::converged, 2, 1e-4, 0);
    const SolveResult limit = result(SolveStatus::iteration_limit, 3, 1e-9, 0),
                      lost = result(SolveStatus::non_finite, 4, nan, 0);
    EXPECT_EQ(worst_of({good, better}), 1);
    EXPECT_EQ(worst_of({better, good}), 1);
    EXPECT_EQ(worst_of({good, limit, better}), 3);
    EXPECT_EQ(worst_of({limit, lost, good}), 4);
    EXPECT_EQ(worst_of({lost, limit}), 4);
}

}  // namespace
}  // namespace solver::command
