#include "spmv/plan.cuh"

namespace solver::cuda {

template class SpmvPlan<double>;
template const char* why_not_packed<double>(int, std::int64_t, std::int64_t);

}  // namespace solver::cuda
