/// The command `solver-bench`: the library beside its peers. See --help.

#include "benchmarks.hpp"
#include "options.hpp"
#include "report.hpp"
#include "tools/cli/program.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace solver::bench {
namespace {

enum ExitStatus { exit_done = 0, exit_not_exact = 2 };

int measure(const Options& options) {
    check_outputs(options);
    Report report(options);
    report.print_head();
    if (options.subject == Subject::bits) return bench_bits(options) ? exit_done : exit_not_exact;
    if (options.subject == Subject::robustness) return bench_robustness(options) ? exit_done : exit_not_exact;
    if (options.subject == Subject::scaling) return bench_scaling(options) ? exit_done : exit_not_exact;
    if (options.grade) return bench_grades(options) ? exit_done : exit_not_exact;
    if (options.paper) {
        options.paper == Paper::badin2011 ? bench_badin2011(options) : bench_badin2013(options);
        return exit_done;
    }
    run_benchmark(options, report);
    report.finish();
    return report.verified() ? exit_done : exit_not_exact;
}

int run(int argc, char** argv) {
    const auto wish = parse_options(argc, argv);
    if (const auto* text = std::get_if<std::string>(&wish)) {
        fmt::print("{}", *text);
        return exit_done;
    }
    return measure(std::get<Options>(wish));
}

}  // namespace
}  // namespace solver::bench

int main(int argc, char** argv) { return solver::cli::run_program("solver-bench", argc, argv, solver::bench::run); }
