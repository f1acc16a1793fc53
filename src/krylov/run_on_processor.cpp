#include "krylov/columns.hpp"
#include "krylov/cpu_backend.hpp"
#include "krylov/methods.hpp"
#include "krylov/place.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace solver {
namespace {

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
            [&](Backend& backend) { return make_recurrence(method, backend, call.options); }, [&] { system_.make_products(); });
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

}  // namespace solver
