#include "krylov/cg.cuh"
#include "krylov/recurrence.cuh"

namespace solver::cuda {

template class DeviceRecurrence<CgScalars<float>>;
template class DeviceRecurrence<CgScalars<double>>;

}  // namespace solver::cuda
