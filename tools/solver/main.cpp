/// The command `solver`: A x = b from files, at the accuracy asked for. See --help.

#include "comparison.hpp"
#include "io/atomic_file.hpp"
#include "live_line.hpp"
#include "matrices/find_matrix.hpp"
#include "options.hpp"
#include "output_paths.hpp"
#include "page.hpp"
#include "plot.hpp"
#include "report.hpp"
#include "solve.hpp"
#include "solver/matrix_market.hpp"
#include "table.hpp"
#include "tools/cli/program.hpp"

#include <fmt/format.h>

#include <complex>
#include <cstdio>

namespace solver::command {
namespace {

enum ExitStatus { exit_converged = 0, exit_not_converged = 2, exit_not_proven = 3 };

void write_solution(const std::filesystem::path& path, const Outcome& outcome) {
    const DenseMatrix<double>& x = outcome.run().solution;
    if (!outcome.is_complex) return write_matrix_market(path, x.view());
    const auto* const z = reinterpret_cast<const std::complex<double>*>(x.values.data());
    write_matrix_market(path, DenseView<std::complex<double>>{outcome.columns, x.columns, 1, outcome.columns, z});
}

void write_files(const Options& options, const Outcome& outcome) {
    if (!options.solution.empty()) write_solution(options.solution, outcome);
    if (!options.history.empty()) write_file(options.history, history_csv(outcome.runs));
    if (!options.report.empty()) write_file(options.report, report_json(options, outcome));
    if (options.wants_page())
        write_file(options.plot, page_html(options, outcome));
    else if (!options.plot.empty())
        plot(options, outcome);
}

int solve_and_tell(const Options& options) {
    const matrices::FoundMatrix matrix =
        matrices::find_matrix(options.matrix, matrices::matrix_folders(),
                              options.quiet ? matrices::Fetching::quietly : matrices::Fetching::announced);
    check_outputs(options, matrix);
    if (!options.quiet && !matrix.announcement.empty()) fmt::print(stderr, "{}\n", matrix.announcement);
    LiveLine live(!options.quiet);
    const Outcome outcome = solve(options, matrix, live);
    if (!options.quiet)
        fmt::print("{}{}", table(options, outcome, wants_colour()), comparison(options, outcome, wants_colour()));
    std::fflush(stdout);  // an output may be /dev/stdout
    write_files(options, outcome);
    if (outcome.run().worst().status != SolveStatus::converged) return exit_not_converged;
    return outcome.run().is_proven() ? exit_converged : exit_not_proven;
}

int run(int argc, char** argv) {
    const auto wish = parse_options(argc, argv);
    if (const auto* text = std::get_if<std::string>(&wish)) {
        fmt::print("{}", *text);
        return 0;
    }
    return solve_and_tell(std::get<Options>(wish));
}

}  // namespace
}  // namespace solver::command

int main(int argc, char** argv) { return solver::cli::run_program("solver", argc, argv, solver::command::run); }
