/// Triangular solves.

#include "benchmarks.hpp"
#include "triangles.hpp"

namespace solver::bench {

void bench_triangular(const Options& options, Report& report) {
    for_each_triangle(options, report, [&](const auto& system) {
        const std::unique_ptr<Operation> solve = make_triangular_solve(options, system);
        Contest contest{.parameters = system.parameters(), .heading = system.heading()};
        enter(contest, *solve);
        report.run(contest);
    });
}

}  // namespace solver::bench
