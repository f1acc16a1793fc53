#include "krylov/run.hpp"

#include "core/floating_point_guard.hpp"
#include "krylov/place.hpp"

#include <memory>
#include <type_traits>

namespace solver {

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
    const cpu::FloatingPointGuard guard;
    check_complex_scalars(method, options, a_.rows());
    if (!a_.on_device()) check_memory(method, options, !m.is_identity(), a_.rows(), sizeof(Value), unknowns.size());
    if (!place_) place_ = a_.on_device() ? krylov_on_device(a_, a_in_value_) : krylov_on_processor(a_, a_in_value_);
    return place_->run(method, m, {unknowns, options, pauses});
}

template class KrylovSystem<float>;
template class KrylovSystem<double>;
template class KrylovSystem<double, float>;

}  // namespace solver
