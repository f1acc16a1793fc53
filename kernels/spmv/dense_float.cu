#include "spmv/dense.cuh"

namespace solver::cuda {

template std::unique_ptr<MatrixProducts<float>> make_products(const DeviceDenseRows<float>&, Stream, std::int64_t);

}  // namespace solver::cuda
