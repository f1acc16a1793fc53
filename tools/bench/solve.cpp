/// BiCGStab with Jacobi.

#include "benchmarks.hpp"
#include "solves.hpp"

namespace solver::bench {
namespace {

template <class T>
void bench_solve(const Options& options, const std::string& name, const CsrView<T>& a, Report& report) {
    const Device device = options.cuda_device ? Device::cuda(*options.cuda_device) : Device::cpu(options.threads);
    Solves<T> solves(options, name, a, device);
    solves.run(make_solve_peers(options, solves, a), report);
}

}  // namespace

void bench_solve(const Options& options, Report& report) {
    for_each_matrix(options, report,
                    [&](const std::string& name, const auto& a) { bench_solve(options, name, a.view(), report); });
}

}  // namespace solver::bench
