#include "krylov/run.hpp"

#include "core/floating_point_guard.hpp"
#include "krylov/cpu_backend.hpp"
#include "krylov/cuda_backend.hpp"
#include "krylov/methods.hpp"
#include "krylov/solve.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace solver {
namespace {

/// One right-hand side on its way.
template <class B, class R>
class Column {
public:
    Column(B backend, std::span<const typename B::Wide> initial, const KrylovOptions& options, const Pauses& pauses,
           std::int64_t number)
        : backend_(std::move(backend)),
          recurrence_(backend_),
          solve_(backend_, recurrence_, options, pauses, number),
          task_(solve_.run(initial)) {
        task_.start(stack_);
    }
    Column(const Column&) = delete;  // its parts refer to one another
    Column& operator=(const Column&) = delete;

    /// Goes on to the next product. False once the solve has ended.
    bool advance() {
        if (result_) return false;
        stack_.resume();
        if (stack_.is_done()) result_ = task_.result();
        return !result_;
    }

    /// Once it has ended.
    SolveResult finish(const Unknown<typename B::Wide>& unknown) {
        backend_.store(solve_.solution(), unknown.x, unknown.x_low);
        return std::move(*result_);
    }

private:
    B backend_;
    R recurrence_;
    KrylovSolve<B, R> solve_;
    TaskStack stack_;
    Task<SolveResult> task_;
    std::optional<SolveResult> result_;
};

/// What a call is given besides A and M.
template <class Wide>
struct Call {
    std::span<const Unknown<Wide>> unknowns;
    const KrylovOptions& options;
    const Pauses& pauses;
    std::int64_t first = 0;  ///< the number of the first unknown
};

/// Columns advance from product to product; what all wait for is made in one go. make_backend(unknown, i) is that of number i
/// of these unknowns.
template <class R, class B, class MakeBackend, class MakeProducts>
std::vector<SolveResult> solve_together(const Call<typename B::Wide>& call, const MakeBackend& make_backend,
                                        const MakeProducts& make_products) {
    std::deque<Column<B, R>> columns;
    for (const auto& unknown : call.unknowns) {
        const std::int64_t i = std::ssize(columns);
        columns.emplace_back(make_backend(unknown, i), unknown.x, call.options, call.pauses, call.first + i);
    }
    const auto advance_all = [&] {
        bool any = false;
        for (Column<B, R>& column : columns) any = column.advance() || any;
        return any;
    };
    while (advance_all()) make_products();
    std::vector<SolveResult> results;
    for (std::size_t i = 0; i < columns.size(); ++i) results.push_back(columns[i].finish(call.unknowns[i]));
    return results;
}

template <class Value, class Wide>
std::vector<SolveResult> solve_on_processor(KrylovMethod method, CpuSystem<Value, Wide>& system, const Preconditioner<Value>& m,
                                            const Call<Wide>& call) {
    using Backend = typename CpuSystem<Value, Wide>::Backend;
    system.drop_products();  // which an exception may have left
    return with_method(method, [&]<class Method>(Method) {
        return solve_together<typename Method::template Recurrence<Backend>, Backend>(
            call,
            [&](const Unknown<Wide>& unknown, std::int64_t) {
                return system.backend(m, unknown.b, !unknown.x_low.empty(), call.options.accuracy);
            },
            [&] { system.make_products(); });
    });
}

/// As many columns at once as the system can take.
template <class Value, class Wide>
std::vector<SolveResult> solve_on_device(KrylovMethod method, CudaSystem<Value, Wide>& system, const Preconditioner<Value>& m,
                                         const Call<Wide>& call) {
    using Backend = CudaSolverBackend<Value, Wide>;
    const std::size_t at_once = std::min<std::size_t>(system.columns, call.unknowns.size());
    return with_method(method, [&]<class Method>(Method) {
        using Scalars = typename Method::template Scalars<Value>;
        system.template precondition<Scalars>(m, static_cast<int>(at_once));
        std::vector<SolveResult> results;
        while (results.size() < call.unknowns.size()) {
            const auto first = results.size();
            const auto some = call.unknowns.subspan(first, std::min(at_once, call.unknowns.size() - first));
            std::ranges::move(solve_together<CudaRecurrence<Backend, Scalars>, Backend>(
                                  {some, call.options, call.pauses, static_cast<std::int64_t>(first)},
                                  [&](const Unknown<Wide>& unknown, std::int64_t column) {
                                      return Backend(system, static_cast<int>(column), unknown.b, !unknown.x_low.empty());
                                  },
                                  [&] { system.template recurrence<Scalars>().run(); }),
                              std::back_inserter(results));
        }
        return results;
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
    if (!a_.on_device()) {
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
