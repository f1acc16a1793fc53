#include "krylov/on_device.hpp"

#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace solver {
namespace {

template <class T>
void check_task(std::string_view caller, const SpmvPlan<T>& a, const cuda::SolveTask<T>& task) {
    if (a.device().kind() != Device::Kind::cuda)
        throw InvalidArgument(
            fmt::format("{}: the vectors lie on a CUDA device, and the plan of A was made for {}; make it for "
                        "Device::cuda()",
                        caller, to_string(a.device())));
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 8;
    if (task.columns < 0 || (a.rows() > 0 && task.columns > most / a.rows()))
        throw InvalidArgument(fmt::format("{}: there are {} columns of {} rows", caller, task.columns, a.rows()));
    if (a.rows() * task.columns > 0 && (task.b == nullptr || task.x == nullptr))
        throw InvalidArgument(fmt::format("{}: {} is null; expected {} elements in the memory of {}", caller,
                                          task.b == nullptr ? "b" : "x", a.rows() * task.columns, to_string(a.device())));
}

}  // namespace

template <class T>
std::vector<Unknown<T>> unknowns_on_device(const SpmvPlan<T>& a, const cuda::SolveTask<T>& task, const KrylovOptions& options,
                                           cuda::Stream stream, std::string_view caller) {
    check_task(caller, a, task);
    const auto n = static_cast<std::size_t>(a.rows());
    const std::size_t all = n * static_cast<std::size_t>(task.columns);
    check_apart<T>(caller, {task.b, all}, {task.x, all}, {task.x_low, task.x_low == nullptr ? 0 : all});
    std::vector<Unknown<T>> unknowns;
    for (std::int64_t j = 0; j < task.columns; ++j) {
        const std::int64_t begin = j * a.rows();
        const std::span<T> low = task.x_low == nullptr ? std::span<T>() : std::span<T>(task.x_low + begin, n);
        unknowns.push_back(checked_unknown<T>(a, std::span<const T>(task.b + begin, n), std::span<T>(task.x + begin, n), low,
                                              options, caller));
        unknowns.back().on_device = true;
    }
    cuda::synchronize(a.device().index(), stream);
    return unknowns;
}

template std::vector<Unknown<float>> unknowns_on_device(const SpmvPlan<float>&, const cuda::SolveTask<float>&,
                                                        const KrylovOptions&, cuda::Stream, std::string_view);
template std::vector<Unknown<double>> unknowns_on_device(const SpmvPlan<double>&, const cuda::SolveTask<double>&,
                                                         const KrylovOptions&, cuda::Stream, std::string_view);

namespace cuda {

template <class T>
std::vector<SolveResult> krylov_solve(KrylovMethod method, const solver::SpmvPlan<T>& a, const Preconditioner<T>& m,
                                      const SolveTask<T>& task, const KrylovOptions& options, Stream stream) {
    const std::vector<Unknown<T>> unknowns = unknowns_on_device(a, task, options, stream, to_string(method));
    check_symmetry(method, m.is_symmetric());
    return KrylovSystem(a, a).run(method, m, unknowns, options, pauses_of(options));
}

template std::vector<SolveResult> krylov_solve(KrylovMethod, const solver::SpmvPlan<float>&, const Preconditioner<float>&,
                                               const SolveTask<float>&, const KrylovOptions&, Stream);
template std::vector<SolveResult> krylov_solve(KrylovMethod, const solver::SpmvPlan<double>&, const Preconditioner<double>&,
                                               const SolveTask<double>&, const KrylovOptions&, Stream);

}  // namespace cuda
}  // namespace solver
