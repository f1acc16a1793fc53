/// Triangular solves.

#include "benchmarks.hpp"
#include "tools/page/ulp_error.hpp"
#include "triangles.hpp"

namespace solver::bench {
namespace {

template <class T>
void bench(const Options& options, const TriangularSystem<T>& system, Report& report) {
    const TriangularSolvePlan<T> plan(system.a, system.triangle, system.diagonal, Device::cpu(options.threads));
    std::vector<T> exact(system.b.size()), x(system.b.size());
    TriangularSolvePlan<T>(system.a, system.triangle, system.diagonal, Device::cpu(1)).solve(system.b, exact, Accuracy::exact);
    Contest contest{.parameters = system.parameters(), .heading = system.heading()};
    for (const Accuracy accuracy : all_accuracies)
        contest.competitors.push_back({.name = std::string(to_string(accuracy)),
                                       .threads = options.threads,
                                       .bytes = traffic(system.a, sizeof(std::int64_t)),
                                       .run = [&, accuracy] { plan.solve(system.b, x, accuracy); },
                                       .error =
                                           [&] {
                                               const double error = max_ulp_error<T>(x, exact);
                                               std::fill(x.begin(), x.end(), std::numeric_limits<T>::quiet_NaN());
                                               return error;
                                           }});
    contest.must_be_exact = contest.competitors.size() - 1;
    report.run(contest);
}

}  // namespace

void bench_triangular(const Options& options, Report& report) {
    for_each_triangle(options, report, [&](const auto& system) { bench(options, system, report); });
}

}  // namespace solver::bench
