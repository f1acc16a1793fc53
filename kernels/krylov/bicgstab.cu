#include "krylov/bicgstab.cuh"
#include "krylov/recurrence.cuh"

namespace solver::cuda {

template class DeviceRecurrence<BicgstabScalars<float>>;
template class DeviceRecurrence<BicgstabScalars<double>>;

}  // namespace solver::cuda
