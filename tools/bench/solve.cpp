/// BiCGStab with Jacobi.

#include "benchmarks.hpp"
#include "solve_peers.hpp"

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
    for (const auto& found : find_matrices(options, report, "G3_circuit", {"stencil27_64", "dc2_like"})) {
        if (!found.announcement.empty()) report.note(found.announcement);
        if (options.in_double) bench_solve<double>(options, name_of(found), load<double>(found, options.threads), report);
        if (options.in_single) bench_solve<float>(options, name_of(found), load<float>(found, options.threads), report);
    }
}

}  // namespace solver::bench
