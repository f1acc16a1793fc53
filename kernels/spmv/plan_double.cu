#include "spmv/plan.cuh"

namespace solver::cuda {

template std::unique_ptr<CsrProducts<double>> make_products(const DeviceCsrView<double>&, SpmvKernel, Stream, std::int64_t,
                                                            OffsetWidth);
template const char* why_not_packed<double>(int, std::int64_t, std::int64_t);

}  // namespace solver::cuda
