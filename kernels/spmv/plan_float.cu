#include "spmv/plan.cuh"

namespace solver::cuda {

template class SpmvPlan<float>;
template const char* why_not_packed<float>(int, std::int64_t, std::int64_t);

}  // namespace solver::cuda
