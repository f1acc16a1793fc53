#include "spmv/dense.cuh"

namespace solver::cuda {

template std::unique_ptr<MatrixProducts<double>> make_products(const DeviceDenseRows<double>&, Stream, std::int64_t);

}  // namespace solver::cuda
