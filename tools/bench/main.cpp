/// The command `solver-bench`: the library beside its peers. See --help.

#include "benchmarks.hpp"
#include "options.hpp"
#include "report.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

namespace solver::bench {
namespace {

enum ExitStatus { exit_done = 0, exit_bad_input = 1, exit_not_exact = 2 };

int measure(const Options& options) {
    check_outputs(options);
    if (options.subject == Subject::report) return bench_report(options) ? exit_done : exit_not_exact;
    Report report(options);
    if (options.recorded.empty()) report.print_head();
    if (options.subject == Subject::bits) return bench_bits(options) ? exit_done : exit_not_exact;
    if (options.subject == Subject::robustness) return bench_robustness(options) ? exit_done : exit_not_exact;
    if (options.subject == Subject::scaling) return bench_scaling(options) ? exit_done : exit_not_exact;
    if (options.grade) return bench_grades(options) ? exit_done : exit_not_exact;
    if (options.paper) {
        options.paper == Paper::badin2011 ? bench_badin2011(options) : bench_badin2013(options);
        return exit_done;
    }
    run_benchmark(options, report);
    return report.verified() ? exit_done : exit_not_exact;
}

int run(int argc, const char* const* argv) {
    const auto wish = parse_options(argc, argv);
    if (const auto* text = std::get_if<std::string>(&wish)) {
        fmt::print("{}", *text);
        return exit_done;
    }
    return measure(std::get<Options>(wish));
}

int refuse(std::string_view message) {
    fmt::print(stderr, "solver-bench: {}\n", message);
    return exit_bad_input;
}

}  // namespace
}  // namespace solver::bench

int main(int argc, char** argv) {
    using namespace solver::bench;
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error to be told of, not the end
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        return refuse("not enough memory");
    } catch (const std::exception& error) {
        return refuse(error.what());
    }
}
