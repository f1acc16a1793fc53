/// BiCGStab with Jacobi.

#include "benchmarks.hpp"
#include "eigen_bicgstab.hpp"
#include "solves.hpp"

namespace solver::bench {
namespace {

template <class T>
void bench(const Options& options, const matrices::FoundMatrix& found, Report& report) {
    if (!found.announcement.empty()) report.note(found.announcement);
    const CsrMatrix<T> a = load<T>(found, options.threads);
    Solves<T> solves(options, name_of(found), a, Device::cpu(options.threads));
    std::vector<Competitor> peers;
    if constexpr (std::is_same_v<T, double>)
        peers.push_back(solves.competitor("eigen", [&](std::int64_t max_iterations) {
            const eigen::Solve solve = eigen::bicgstab(eigen::Preconditioner::jacobi, a, solves.b(), solves.x(),
                                                       options.tolerance, max_iterations, options.threads);
            return Solve{.iterations = solve.iterations,
                         .status = solve.converged ? "converged" : "not converged",
                         .seconds = solve.solve_seconds};
        }));
    solves.run(std::move(peers), report);
}

}  // namespace

void bench_solve(const Options& options, Report& report) {
    for (const auto& found : find_matrices(options, report, "G3_circuit", {"stencil27_64", "dc2_like"})) {
        if (options.in_double) bench<double>(options, found, report);
        if (options.in_single) bench<float>(options, found, report);
    }
}

}  // namespace solver::bench
