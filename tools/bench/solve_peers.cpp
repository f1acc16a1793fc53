#include "cuda/benchmarks.hpp"
#include "eigen_bicgstab.hpp"
#include "solves.hpp"

#include <type_traits>

namespace solver::bench {
namespace {

std::vector<Competitor> by_eigen(const Options& options, Solves<double>& solves, const CsrView<double>& a) {
    const auto solve = [&options, &solves, a](std::int64_t max_iterations, std::vector<double>* half_steps) {
        return eigen::bicgstab(eigen::Preconditioner::jacobi,
                               {a, solves.b(), solves.x(), options.tolerance, max_iterations, options.threads}, half_steps);
    };
    Competitor peer = solves.competitor("eigen", [solve](std::int64_t max_iterations) {
        const PeerSolve result = solve(max_iterations, nullptr);
        return Solve{.iterations = result.iterations,
                     .status = result.converged ? "converged" : "not converged",
                     .seconds = result.solve_seconds};
    });
    if (options.keep_residuals)
        peer.residuals = [&options, &solves, solve] {
            std::vector<double> half_steps;
            const PeerSolve result = solve(options.max_iterations, &half_steps);
            Residuals residuals;
            for (std::size_t i = 0; i < half_steps.size(); ++i)
                residuals.believed.push_back({static_cast<double>(i) + 0.5, half_steps[i]});
            residuals.truth.push_back(solves.residual_at(result.iterations));
            return residuals;
        };
    return {peer};
}

}  // namespace

template <class T>
std::vector<Competitor> make_solve_peers(const Options& options, Solves<T>& solves, const CsrView<T>& a) {
    if (options.cuda_device) return on_cuda::make_solve_peers(options, solves, a);
    if constexpr (std::is_same_v<T, double>)
        return by_eigen(options, solves, a);
    else
        return {};
}

template std::vector<Competitor> make_solve_peers(const Options&, Solves<float>&, const CsrView<float>&);
template std::vector<Competitor> make_solve_peers(const Options&, Solves<double>&, const CsrView<double>&);

}  // namespace solver::bench
