#include "krylov/columns.hpp"
#include "krylov/cpu_backend.hpp"
#include "krylov/methods.hpp"
#include "krylov/operator_products.hpp"
#include "krylov/place.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace solver {
namespace {

/// Methods take no more of a backend than its steps: they are compiled once for all that have these.
template <class T>
auto method_on_steps(KrylovMethod method, const KrylovOptions& options) {
    return [method, &options](CpuVectors<T>& steps) { return make_recurrence(method, steps, options); };
}

template <class Wide, class Value>
class OnProcessor final : public KrylovPlace<Wide, Value> {
public:
    OnProcessor(const SpmvPlan<Wide>& a, const SpmvPlan<Value>& in_value) : system_(a, in_value) {}

    std::vector<SolveResult> run(KrylovMethod method, const Preconditioner<Value>& m, const KrylovCall<Wide>& call) override {
        using Backend = typename CpuSystem<Value, Wide>::Backend;
        system_.drop_products();  // which an exception may have left
        return solve_together<Backend>(
            call,
            [&](const Unknown<Wide>& unknown, std::int64_t) {
                return system_.backend(m, unknown.b, !unknown.x_low.empty(), call.options.accuracy);
            },
            method_on_steps<Value>(method, call.options), [&] { system_.make_products(); });
    }

private:
    CpuSystem<Value, Wide> system_;
};

}  // namespace

template <class Wide, class Value>
std::unique_ptr<KrylovPlace<Wide, Value>> krylov_on_processor(const SpmvPlan<Wide>& a, const SpmvPlan<Value>& in_value) {
    return std::make_unique<OnProcessor<Wide, Value>>(a, in_value);
}
template std::unique_ptr<KrylovPlace<float, float>> krylov_on_processor(const SpmvPlan<float>&, const SpmvPlan<float>&);
template std::unique_ptr<KrylovPlace<double, double>> krylov_on_processor(const SpmvPlan<double>&, const SpmvPlan<double>&);
template std::unique_ptr<KrylovPlace<double, float>> krylov_on_processor(const SpmvPlan<double>&, const SpmvPlan<float>&);

template <class T>
SolveResult solve_operator_on_processor(KrylovMethod method, const LinearOperator<T>& a, const Preconditioner<T>& m,
                                        const KrylovCall<T>& call, const Device& processor) {
    OperatorProducts<T> products(a, processor);
    const auto results = solve_together<CpuSolverBackend<T>>(
        call,
        [&](const Unknown<T>& unknown, std::int64_t) {
            return CpuSolverBackend<T>(products, m, unknown.b, false, call.options.accuracy);
        },
        method_on_steps<T>(method, call.options), [&] { products.run(); });
    return results.front();
}
template SolveResult solve_operator_on_processor(KrylovMethod, const LinearOperator<float>&, const Preconditioner<float>&,
                                                 const KrylovCall<float>&, const Device&);
template SolveResult solve_operator_on_processor(KrylovMethod, const LinearOperator<double>&, const Preconditioner<double>&,
                                                 const KrylovCall<double>&, const Device&);

}  // namespace solver
