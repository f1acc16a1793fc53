// What stands for run_on_device.cpp and lsmr_on_device.cpp in builds without CUDA.

#include "krylov/lsmr_way.hpp"
#include "krylov/place.hpp"
#include "solver/error.hpp"

#include <memory>
#include <span>

namespace solver {
namespace {

constexpr const char* no_cuda = "this library was built without CUDA; use the processor, or build it where nvcc is found";

}  // namespace

// Never called: no plan of such a build is on a device, and there is none that a call could name.

template <class Wide, class Value>
std::unique_ptr<KrylovPlace<Wide, Value>> krylov_on_device(const SpmvPlan<Wide>&, const SpmvPlan<Value>&) {
    throw NotSupported(no_cuda);
}
template std::unique_ptr<KrylovPlace<float, float>> krylov_on_device(const SpmvPlan<float>&, const SpmvPlan<float>&);
template std::unique_ptr<KrylovPlace<double, double>> krylov_on_device(const SpmvPlan<double>&, const SpmvPlan<double>&);
template std::unique_ptr<KrylovPlace<double, float>> krylov_on_device(const SpmvPlan<double>&, const SpmvPlan<float>&);

template <class T>
SolveResult solve_operator_on_device(KrylovMethod, const cuda::LinearOperator<T>&, const Preconditioner<T>&,
                                     const KrylovCall<T>&, int, cuda::Stream) {
    throw NotSupported(no_cuda);
}
template SolveResult solve_operator_on_device(KrylovMethod, const cuda::LinearOperator<float>&, const Preconditioner<float>&,
                                              const KrylovCall<float>&, int, cuda::Stream);
template SolveResult solve_operator_on_device(KrylovMethod, const cuda::LinearOperator<double>&, const Preconditioner<double>&,
                                              const KrylovCall<double>&, int, cuda::Stream);

template <class T>
LeastSquaresResult lsmr_on_device(const LsmrWay<T>&, const SpmvPlan<T>&, const SpmvPlan<T>&, std::span<const T>, std::span<T>,
                                  const KrylovOptions&) {
    throw NotSupported(no_cuda);
}
template LeastSquaresResult lsmr_on_device(const LsmrWay<float>&, const SpmvPlan<float>&, const SpmvPlan<float>&,
                                           std::span<const float>, std::span<float>, const KrylovOptions&);
template LeastSquaresResult lsmr_on_device(const LsmrWay<double>&, const SpmvPlan<double>&, const SpmvPlan<double>&,
                                           std::span<const double>, std::span<double>, const KrylovOptions&);

}  // namespace solver
