#include "krylov/run.hpp"

#include "cpu/floating_point_guard.hpp"
#include "cpu/solver_backend.hpp"
#include "cuda/solver_backend.hpp"
#include "krylov/methods.hpp"
#include "krylov/solve.hpp"
#include "solver/error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
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
std::vector<SolveResult> solve_on_processor(KrylovMethod method, const SpmvPlan<Wide>& a, const SpmvPlan<Value>& a_in_value,
                                            const Preconditioner<Value>& m, const Call<Wide>& call) {
    using System = CpuSystem<Value, Wide>;
    using Backend = typename System::Backend;
    System system(a, a_in_value, m, call.options.accuracy);
    return with_method(method, [&]<class Method>(Method) {
        return solve_together<typename Method::template Recurrence<Backend>, Backend>(
            call, [&](const Unknown<Wide>& unknown, std::int64_t) { return system.backend(unknown.b, !unknown.x_low.empty()); },
            [&] { system.make_products(); });
    });
}

/// As many columns at once as the device's memory can hold.
template <class Value, class Wide>
std::vector<SolveResult> solve_on_device(KrylovMethod method, const SpmvPlan<Wide>& a, const SpmvPlan<Value>& a_in_value,
                                         const Preconditioner<Value>& m, const Call<Wide>& call) {
    using Backend = CudaSolverBackend<Value, Wide>;
    using System = CudaSystem<Value, Wide>;
    if (method != KrylovMethod::bicgstab) throw NotSupported("cg: runs on the processor only so far; use bicgstab on a GPU");
    const int at_once = System::columns_at_once(a.device().index(), a.rows(), std::ssize(call.unknowns));
    System system(a, a_in_value, m, call.options.accuracy, at_once);
    std::vector<SolveResult> results;
    while (results.size() < call.unknowns.size()) {
        const auto first = results.size();
        const auto some = call.unknowns.subspan(first, std::min<std::size_t>(at_once, call.unknowns.size() - first));
        std::ranges::move(solve_together<CudaRecurrence<Backend>, Backend>(
                              {some, call.options, call.pauses, static_cast<std::int64_t>(first)},
                              [&](const Unknown<Wide>& unknown, std::int64_t column) {
                                  return Backend(system, static_cast<int>(column), unknown.b, !unknown.x_low.empty());
                              },
                              [&] { system.recursion.run(); }),
                          std::back_inserter(results));
    }
    return results;
}

template <class Value, class Wide>
std::vector<SolveResult> solve(KrylovMethod method, const SpmvPlan<Wide>& a, const SpmvPlan<Value>& a_in_value,
                               const Preconditioner<Value>& m, const Call<Wide>& call) {
    const cpu::FloatingPointGuard guard;
    return a.on_device() ? solve_on_device(method, a, a_in_value, m, call) : solve_on_processor(method, a, a_in_value, m, call);
}

}  // namespace

template <class T>
std::vector<SolveResult> run_krylov(KrylovMethod method, const SpmvPlan<T>& a, const Preconditioner<T>& m,
                                    std::span<const Unknown<T>> unknowns, const KrylovOptions& options, const Pauses& pauses) {
    return solve<T, T>(method, a, a, m, {unknowns, options, pauses});
}

std::vector<SolveResult> run_krylov(KrylovMethod method, const SpmvPlan<double>& a, const SpmvPlan<float>& a_single,
                                    const Preconditioner<float>& m, std::span<const Unknown<double>> unknowns,
                                    const KrylovOptions& options, const Pauses& pauses) {
    check_rounded(a, a_single, to_string(method));
    return solve<float, double>(method, a, a_single, m, {unknowns, options, pauses});
}

template std::vector<SolveResult> run_krylov(KrylovMethod, const SpmvPlan<float>&, const Preconditioner<float>&,
                                             std::span<const Unknown<float>>, const KrylovOptions&, const Pauses&);
template std::vector<SolveResult> run_krylov(KrylovMethod, const SpmvPlan<double>&, const Preconditioner<double>&,
                                             std::span<const Unknown<double>>, const KrylovOptions&, const Pauses&);

}  // namespace solver
