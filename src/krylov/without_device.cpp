// What stands for run_on_device.cpp in builds without CUDA.

#include "krylov/place.hpp"
#include "solver/error.hpp"

#include <memory>

namespace solver {

/// Never called: no plan of such a build is on a device.
template <class Wide, class Value>
std::unique_ptr<KrylovPlace<Wide, Value>> krylov_on_device(const SpmvPlan<Wide>&, const SpmvPlan<Value>&) {
    throw NotSupported("this library was built without CUDA; use the processor, or build it where nvcc is found");
}
template std::unique_ptr<KrylovPlace<float, float>> krylov_on_device(const SpmvPlan<float>&, const SpmvPlan<float>&);
template std::unique_ptr<KrylovPlace<double, double>> krylov_on_device(const SpmvPlan<double>&, const SpmvPlan<double>&);
template std::unique_ptr<KrylovPlace<double, float>> krylov_on_device(const SpmvPlan<double>&, const SpmvPlan<float>&);

}  // namespace solver
