#include "spmv/plan.cuh"

namespace solver::cuda {

template std::unique_ptr<CsrProducts<float>> make_products(const DeviceCsrView<float>&, SpmvKernel, Stream, std::int64_t,
                                                           OffsetWidth);
template const char* why_not_packed<float>(int, std::int64_t, std::int64_t);

}  // namespace solver::cuda
