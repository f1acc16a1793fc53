#include "apply.hpp"

#include "core/multigrid/level.hpp"

// Vectors as long as the processor has them: the bits do not depend on that, there being no fused operation and no sum.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define PETSCSOLVER_LONG_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PETSCSOLVER_LONG_VECTORS
#endif

namespace petscsolver {
namespace {

template <class Update>
PETSCSOLVER_LONG_VECTORS void apply_here(std::int64_t n, const Update& update) {
    const Update its_own = update;  // stores do not change it
    for (std::int64_t i = 0; i < n; ++i) its_own(i);
}

}  // namespace

template <class Update>
void apply(const Place& place, std::int64_t n, const Update& update) {
    if constexpr (has_device_types)
        if (place.on_device()) return apply_on_device(place, n, update);
    apply_here(n, update);
}

template void apply(const Place&, std::int64_t, const Scale&);
template void apply(const Place&, std::int64_t, const Axpy&);
template void apply(const Place&, std::int64_t, const Aypx&);
template void apply(const Place&, std::int64_t, const Axpby&);
template void apply(const Place&, std::int64_t, const Waxpy&);
template void apply(const Place&, std::int64_t, const Axpbypcz&);
template void apply(const Place&, std::int64_t, const Maxpy&);
template void apply(const Place&, std::int64_t, const Copy<float>&);
template void apply(const Place&, std::int64_t, const Copy<double>&);
template void apply(const Place&, std::int64_t, const Gather<float>&);
template void apply(const Place&, std::int64_t, const Gather<double>&);
template void apply(const Place&, std::int64_t, const Scatter<double>&);
template void apply(const Place&, std::int64_t, const ScaleInto<double, float>&);
template void apply(const Place&, std::int64_t, const ScaleInto<float, double>&);
template void apply(const Place&, std::int64_t, const solver::amg::BeginAtZero<float>&);
template void apply(const Place&, std::int64_t, const solver::amg::BeginAtZero<double>&);
template void apply(const Place&, std::int64_t, const solver::amg::Smooth<float>&);
template void apply(const Place&, std::int64_t, const solver::amg::Smooth<double>&);
#if defined(PETSCSOLVER_COMPLEX)
template void apply(const Place&, std::int64_t, const Copy<Number>&);
template void apply(const Place&, std::int64_t, const Gather<Number>&);
template void apply(const Place&, std::int64_t, const Scatter<Number>&);
#endif

}  // namespace petscsolver
