#include "rehearsal.hpp"

#include "interrupt.hpp"
#include "matrices/stencils.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <vector>

namespace solver::command {
namespace {

/// What is solved by default where a matrix is large.
std::vector<PreconditionerKind> preconditioners(const Options& options) {
    if (options.preconditioner) return {*options.preconditioner};
    return {PreconditionerKind::jacobi, PreconditionerKind::amg};
}

/// As many iterations as a restart of GMRES takes, up to a hundred, and some more; fewer where it is time to stop.
template <class T>
void solve_once(const SpmvPlan<T>& a, PreconditionerKind preconditioner, const Options& options, const std::stop_token& stop) {
    SolveOptions method{
        .preconditioner = preconditioner, .method = options.method, .mixed = options.precision == Precision::mixed};
    method.iteration.accuracy = options.accuracy;
    method.iteration.max_iterations =
        std::min<std::int64_t>(options.restart, 100) + iterations_between_questions(options.device);
    method.iteration.restart = options.restart;
    method.iteration.callback = [&](const Iteration&) { return !stop.stop_requested(); };
    method.iteration.callback_interval = iterations_between_questions(options.device);
    const std::vector<T> b(static_cast<std::size_t>(a.rows()), T(1));
    std::vector<T> x(b.size());
    solve<T>(a, b, x, {}, method);
}

/// A symmetric matrix and one that is not, of more rows than multigrid leaves to its last level.
template <class T>
void solve_small_systems(const Options& options, const std::stop_token& stop) {
    constexpr std::int64_t side = 32;
    const SpmvOptions storage{.kernel = options.spmv,
                              .storage = options.storage == SpmvStorage::csr ? SpmvStorage::csr : SpmvStorage::packed};
    for (const CsrMatrix<double>& matrix : {matrices::poisson2d(side), matrices::convection_diffusion(side)}) {
        const CsrMatrix<T> in_precision = convert<T>(matrix.view());
        const SpmvPlan<T> a(in_precision, options.device, storage);
        for (const PreconditionerKind preconditioner : preconditioners(options)) {
            if (stop.stop_requested()) return;
            solve_once(a, preconditioner, options, stop);
        }
    }
}

}  // namespace

template <class T>
std::jthread rehearse(const Options& options) {
    if (options.device.kind() == Device::Kind::cpu) return {};
    return std::jthread([&options](const std::stop_token& stop) {
        try {
            solve_small_systems<T>(options, stop);
        } catch (const std::exception&) {
        }
    });
}

template std::jthread rehearse<float>(const Options&);
template std::jthread rehearse<double>(const Options&);

}  // namespace solver::command
