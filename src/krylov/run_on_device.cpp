#include "krylov/columns.hpp"
#include "krylov/cuda_backend.hpp"
#include "krylov/methods.hpp"
#include "krylov/operator_on_device.hpp"
#include "krylov/place.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>
#include <vector>

namespace solver {
namespace {

/// A system and the products with A in Wide that b - A x needs.
template <class Value, class Wide>
struct CudaSolves {
    CudaSystem<Value>& system;
    const cuda::MatrixProducts<Wide>& residuals;
    const Preconditioner<Value>& m;
    const KrylovCall<Wide>& call;
};

/// So many columns at once.
template <class Value, class Wide, class MakeRecurrence, class MakeProducts>
std::vector<SolveResult> solve_some_at_once(const CudaSolves<Value, Wide>& solves, std::size_t at_once,
                                            const MakeRecurrence& make_recurrence_on, const MakeProducts& make_products) {
    using Backend = CudaSolverBackend<Value, Wide>;
    const KrylovCall<Wide>& call = solves.call;
    std::vector<SolveResult> results;
    while (results.size() < call.unknowns.size()) {
        const auto first = results.size();
        const auto some = call.unknowns.subspan(first, std::min(at_once, call.unknowns.size() - first));
        std::ranges::move(solve_together<Backend>(
                              {some, call.options, call.pauses, static_cast<std::int64_t>(first)},
                              [&](const Unknown<Wide>& unknown, std::int64_t column) {
                                  return Backend(solves.system, static_cast<int>(column), solves.residuals, unknown.b,
                                                 !unknown.x_low.empty());
                              },
                              make_recurrence_on, make_products),
                          std::back_inserter(results));
    }
    return results;
}

/// Every operation is launched by itself, and columns follow one another.
template <class Value, class Wide>
std::vector<SolveResult> solve_step_by_step(KrylovMethod method, const CudaSolves<Value, Wide>& solves) {
    solves.system.precondition(solves.m);
    return solve_some_at_once(
        solves, 1, [&](CudaVectors<Value>& vectors) { return make_recurrence(method, vectors, solves.call.options); }, [] {});
}

/// As many columns at once as the system can take, where a method's kernels make whole steps: these share products.
template <class Value, class Wide>
std::vector<SolveResult> solve_on_device(KrylovMethod method, const CudaSolves<Value, Wide>& solves) {
    const KrylovCall<Wide>& call = solves.call;
    return with_method(method, [&]<class Method>(Method) {
        if constexpr (HasKernelsOfSteps<Method>) {
            if (call.options.complex_scalars && HasComplexScalars<Method, CudaVectors<Value>>)
                return solve_step_by_step(method, solves);
            using Scalars = typename Method::template Scalars<Value>;
            CudaSystem<Value>& system = solves.system;
            const std::size_t at_once = std::min<std::size_t>(system.columns, call.unknowns.size());
            system.template precondition<Scalars>(solves.m, static_cast<int>(at_once));
            return solve_some_at_once(
                solves, at_once,
                [&](CudaVectors<Value>& vectors) { return make_recurrence<CudaRecurrence<Scalars>>(vectors, call.options); },
                [&] { system.template recurrence<Scalars>().run(); });
        } else {
            return solve_step_by_step(method, solves);
        }
    });
}

template <class Wide, class Value>
class OnDevice final : public KrylovPlace<Wide, Value> {
public:
    OnDevice(const SpmvPlan<Wide>& a, const SpmvPlan<Value>& in_value)
        : a_(a), in_value_(in_value), stream_(a.device().index()) {}

    std::vector<SolveResult> run(KrylovMethod method, const Preconditioner<Value>& m, const KrylovCall<Wide>& call) override {
        const Accuracy accuracy = call.options.accuracy;
        if (!system_ || system_->accuracy != accuracy) {
            system_.reset();  // before the next one takes its memory
            const int columns =
                System::template columns_at_once<Wide>(a_.device().index(), a_.rows(), std::ssize(call.unknowns));
            system_ = std::make_unique<System>(in_value_, accuracy, columns, stream_.get());
        }
        return solve_on_device<Value, Wide>(method, {*system_, residuals(), m, call});
    }

private:
    using System = CudaSystem<Value>;

    /// Of A in Wide.
    const cuda::MatrixProducts<Wide>& residuals() {
        if constexpr (std::is_same_v<Wide, Value>) {
            return *system_->products;
        } else {
            if (!in_wide_) in_wide_ = a_.on_device()->new_products(stream_.get(), 1);
            return *in_wide_;
        }
    }

    const SpmvPlan<Wide>& a_;
    const SpmvPlan<Value>& in_value_;
    cuda::OwnedStream stream_;
    std::unique_ptr<System> system_;
    std::unique_ptr<cuda::MatrixProducts<Wide>> in_wide_;  ///< where Wide is not Value; made when first used
};

}  // namespace

template <class Wide, class Value>
std::unique_ptr<KrylovPlace<Wide, Value>> krylov_on_device(const SpmvPlan<Wide>& a, const SpmvPlan<Value>& in_value) {
    return std::make_unique<OnDevice<Wide, Value>>(a, in_value);
}
template std::unique_ptr<KrylovPlace<float, float>> krylov_on_device(const SpmvPlan<float>&, const SpmvPlan<float>&);
template std::unique_ptr<KrylovPlace<double, double>> krylov_on_device(const SpmvPlan<double>&, const SpmvPlan<double>&);
template std::unique_ptr<KrylovPlace<double, float>> krylov_on_device(const SpmvPlan<double>&, const SpmvPlan<float>&);

template <class T>
SolveResult solve_operator_on_device(KrylovMethod method, const cuda::LinearOperator<T>& a, const Preconditioner<T>& m,
                                     const KrylovCall<T>& call, int device, cuda::Stream stream) {
    CudaSystem<T> system(std::make_unique<OperatorOnDevice<T>>(a, device), a.rows(), call.options.accuracy, device, stream);
    return solve_step_by_step<T, T>(method, {system, *system.products, m, call}).front();
}
template SolveResult solve_operator_on_device(KrylovMethod, const cuda::LinearOperator<float>&, const Preconditioner<float>&,
                                              const KrylovCall<float>&, int, cuda::Stream);
template SolveResult solve_operator_on_device(KrylovMethod, const cuda::LinearOperator<double>&, const Preconditioner<double>&,
                                              const KrylovCall<double>&, int, cuda::Stream);

}  // namespace solver
