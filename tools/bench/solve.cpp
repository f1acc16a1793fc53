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
    if constexpr (std::is_same_v<T, double>) {
        const auto solve = [&](std::int64_t max_iterations, std::vector<double>* half_steps) {
            return eigen::bicgstab(eigen::Preconditioner::jacobi, a, solves.b(), solves.x(), options.tolerance, max_iterations,
                                   options.threads, half_steps);
        };
        peers.push_back(solves.competitor("eigen", [solve](std::int64_t max_iterations) {
            const eigen::Solve result = solve(max_iterations, nullptr);
            return Solve{.iterations = result.iterations,
                         .status = result.converged ? "converged" : "not converged",
                         .seconds = result.solve_seconds};
        }));
        if (options.keep_residuals)
            peers.back().residuals = [&options, &solves, solve] {
                std::vector<double> half_steps;
                const eigen::Solve result = solve(options.max_iterations, &half_steps);
                Residuals residuals;
                for (std::size_t i = 0; i < half_steps.size(); ++i)
                    residuals.believed.push_back({static_cast<double>(i) + 0.5, half_steps[i]});
                residuals.truth.push_back(solves.residual_at(result.iterations));
                return residuals;
            };
    }
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
