#include "solver/nonnegative_gemm.hpp"

#include "c/arguments.hpp"
#include "c/status.hpp"
#include "core/dense_check.hpp"
#include "kernels/gemm.hpp"
#include "solver/cuda/nonnegative_gemm.hpp"

namespace solver::c {
namespace {

bool is_transposed(char text, const char* name) {
    if (text == 'N' || text == 'n') return false;
    if (text == 'T' || text == 't' || text == 'C' || text == 'c') return true;
    throw InvalidArgument(fmt::format("non-negative product: {} is '{}'; expected 'N' or 'T'", name, text));
}

/// A BLAS matrix, rows x columns after op().
template <class T>
DenseView<T> blas_view(bool transposed, std::int64_t rows, std::int64_t columns, const T* data, std::int64_t stride) {
    return {rows, columns, transposed ? stride : 1, transposed ? 1 : stride, data};
}

template <class T>
GemmTask<T> blas_task(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a,
                      std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
    if (m < 0 || n < 0 || k < 0)
        throw InvalidArgument(
            fmt::format("non-negative product: m, n and k are {}, {} and {}; expected none below 0", m, n, k));
    return {alpha,
            blas_view(is_transposed(transa, "transa"), m, k, a, lda),
            blas_view(is_transposed(transb, "transb"), k, n, b, ldb),
            beta,
            {m, n, 1, ldc, c}};
}

NonnegativeReport on_host(const GemmTask<double>& task) { return dngemm(task, Device::cuda(0)); }
NonnegativeReport on_host(const GemmTask<float>& task) { return sngemm(task, Device::cuda(0)); }

template <class T>
void multiply(const GemmTask<T>& task) {
    static_cast<void>(Device::cuda(0));  // says why there is none
    if (!cuda::lies_on_a_device(task.c.data)) {
        on_host(task);
        return;
    }
    require_valid("non-negative product", task);
    cuda::NonnegativeMultiplier(0).gemm(task);
    cuda::synchronize(0, nullptr);
}

}  // namespace
}  // namespace solver::c

using namespace solver::c;

solver_status solver_sngemm(char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha, const float* a, int64_t lda,
                            const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
    return guarded([&] { multiply(blas_task(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)); });
}
solver_status solver_dngemm(char transa, char transb, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                            int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
    return guarded([&] { multiply(blas_task(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)); });
}
