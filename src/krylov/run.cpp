#include "krylov/run.hpp"

#include "core/floating_point_guard.hpp"
#include "krylov/columns.hpp"
#include "krylov/cpu_backend.hpp"
#include "krylov/cuda_backend.hpp"
#include "krylov/methods.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

namespace solver {
namespace {

template <class Value, class Wide>
std::vector<SolveResult> solve_on_processor(KrylovMethod method, CpuSystem<Value, Wide>& system, const Preconditioner<Value>& m,
                                            const Call<Wide>& call) {
    using Backend = typename CpuSystem<Value, Wide>::Backend;
    system.drop_products();  // which an exception may have left
    return with_method(method, [&]<class Method>(Method) {
        return with_recurrence<Method, Backend>(call.options, [&]<class R>() {
            return solve_together<R, Backend>(
                call,
                [&](const Unknown<Wide>& unknown, std::int64_t) {
                    return system.backend(m, unknown.b, !unknown.x_low.empty(), call.options.accuracy);
                },
                [&] { system.make_products(); });
        });
    });
}

/// So many columns at once.
template <class R, class Value, class Wide, class MakeProducts>
std::vector<SolveResult> solve_some_at_once(CudaSystem<Value, Wide>& system, const Call<Wide>& call, std::size_t at_once,
                                            const MakeProducts& make_products) {
    using Backend = CudaSolverBackend<Value, Wide>;
    std::vector<SolveResult> results;
    while (results.size() < call.unknowns.size()) {
        const auto first = results.size();
        const auto some = call.unknowns.subspan(first, std::min(at_once, call.unknowns.size() - first));
        std::ranges::move(solve_together<R, Backend>(
                              {some, call.options, call.pauses, static_cast<std::int64_t>(first)},
                              [&](const Unknown<Wide>& unknown, std::int64_t column) {
                                  return Backend(system, static_cast<int>(column), unknown.b, !unknown.x_low.empty());
                              },
                              make_products),
                          std::back_inserter(results));
    }
    return results;
}

/// Every operation is launched by itself, and columns follow one another.
template <class Method, class Value, class Wide>
std::vector<SolveResult> solve_step_by_step(CudaSystem<Value, Wide>& system, const Preconditioner<Value>& m,
                                            const Call<Wide>& call) {
    system.precondition(m);
    return with_recurrence<Method, CudaSolverBackend<Value, Wide>>(
        call.options, [&]<class R>() { return solve_some_at_once<R>(system, call, 1, [] {}); });
}

/// As many columns at once as the system can take, where a method's kernels make whole steps: these share products.
template <class Value, class Wide>
std::vector<SolveResult> solve_on_device(KrylovMethod method, CudaSystem<Value, Wide>& system, const Preconditioner<Value>& m,
                                         const Call<Wide>& call) {
    using Backend = CudaSolverBackend<Value, Wide>;
    return with_method(method, [&]<class Method>(Method) {
        if constexpr (HasKernelsOfSteps<Method>) {
            if (call.options.complex_scalars && HasComplexScalars<Method, Backend>)
                return solve_step_by_step<Method>(system, m, call);
            using Scalars = typename Method::template Scalars<Value>;
            const std::size_t at_once = std::min<std::size_t>(system.columns, call.unknowns.size());
            system.template precondition<Scalars>(m, static_cast<int>(at_once));
            return solve_some_at_once<CudaRecurrence<Backend, Scalars>>(system, call, at_once,
                                                                        [&] { system.template recurrence<Scalars>().run(); });
        } else {
            return solve_step_by_step<Method>(system, m, call);
        }
    });
}

}  // namespace

template <class Wide, class Value>
KrylovSystem<Wide, Value>::KrylovSystem(const SpmvPlan<Wide>& a, const SpmvPlan<Value>& a_in_value)
    : a_(a), a_in_value_(a_in_value) {
    if constexpr (!std::is_same_v<Wide, Value>) check_rounded(a, a_in_value);
}

template <class Wide, class Value>
KrylovSystem<Wide, Value>::~KrylovSystem() = default;

template <class Wide, class Value>
std::vector<SolveResult> KrylovSystem<Wide, Value>::run(KrylovMethod method, const Preconditioner<Value>& m,
                                                        std::span<const Unknown<Wide>> unknowns, const KrylovOptions& options,
                                                        const Pauses& pauses) {
    using System = CudaSystem<Value, Wide>;
    const cpu::FloatingPointGuard guard;
    const Call<Wide> call{unknowns, options, pauses};
    if (options.complex_scalars && a_.rows() % 2 != 0)
        throw InvalidArgument(fmt::format("{}: complex scalars need a real form, whose order is even; A has {} rows",
                                          to_string(method), a_.rows()));
    if (!a_.on_device()) {
        check_memory(method, options, a_.rows(), sizeof(Value), unknowns.size());
        if (!on_processor_) on_processor_ = std::make_unique<CpuSystem<Value, Wide>>(a_, a_in_value_);
        return solve_on_processor(method, *on_processor_, m, call);
    }
    if (!on_device_ || on_device_->accuracy != options.accuracy) {
        on_device_.reset();
        const int columns = System::columns_at_once(a_.device().index(), a_.rows(), std::ssize(unknowns));
        on_device_ = std::make_unique<System>(a_, a_in_value_, options.accuracy, columns);
    }
    return solve_on_device(method, *on_device_, m, call);
}

template class KrylovSystem<float>;
template class KrylovSystem<double>;
template class KrylovSystem<double, float>;

template <class T>
std::vector<SolveResult> run_krylov(KrylovMethod method, const SpmvPlan<T>& a, const Preconditioner<T>& m,
                                    std::span<const Unknown<T>> unknowns, const KrylovOptions& options, const Pauses& pauses) {
    return KrylovSystem<T>(a, a).run(method, m, unknowns, options, pauses);
}

std::vector<SolveResult> run_krylov(KrylovMethod method, const SpmvPlan<double>& a, const SpmvPlan<float>& a_single,
                                    const Preconditioner<float>& m, std::span<const Unknown<double>> unknowns,
                                    const KrylovOptions& options, const Pauses& pauses) {
    return KrylovSystem<double, float>(a, a_single).run(method, m, unknowns, options, pauses);
}

template std::vector<SolveResult> run_krylov(KrylovMethod, const SpmvPlan<float>&, const Preconditioner<float>&,
                                             std::span<const Unknown<float>>, const KrylovOptions&, const Pauses&);
template std::vector<SolveResult> run_krylov(KrylovMethod, const SpmvPlan<double>&, const Preconditioner<double>&,
                                             std::span<const Unknown<double>>, const KrylovOptions&, const Pauses&);

}  // namespace solver
