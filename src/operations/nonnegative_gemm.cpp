#include "solver/nonnegative_gemm.hpp"

#include "cuda/without_gaps.hpp"
#include "kernels/gemm.hpp"
#include "operations/dense_check.hpp"
#include "solver/cuda/nonnegative_gemm.hpp"
#include "solver/error.hpp"

#include <cmath>
#include <string>

namespace solver {
namespace {

thread_local std::string last_error;

constexpr const char* operation = "non-negative product";

template <class T>
NonnegativeReport multiply_on_host(const GemmTask<T>& task, const Device& device, const NonnegativeOptions& options) {
    require_valid(operation, task);
    if (device.kind() == Device::Kind::cpu)
        throw NotSupported(
            "non-negative product on a CPU: there is none that would be faster than gemm; use gemm, or a CUDA device");
    if (task.c.rows == 0 || task.c.columns == 0) return {};
    const cuda::WithoutGaps<T> a_layout(task.a);
    const cuda::WithoutGaps<T> b_layout(task.b);
    const cuda::WithoutGaps<T> c_layout(task.c);
    const auto a = a_layout.upload(device.index(), task.a.data, "A of a non-negative product", nullptr);
    const auto b = b_layout.upload(device.index(), task.b.data, "B of a non-negative product", nullptr);
    const auto c = task.beta == T(0) ? cuda::DeviceArray<T>(device.index(), c_layout.size(), "C of a non-negative product")
                                     : c_layout.upload(device.index(), task.c.data, "C of a non-negative product", nullptr);
    const NonnegativeReport report =
        cuda::NonnegativeMultiplier(device.index())
            .gemm({task.alpha, a_layout.view(a.data()), b_layout.view(b.data()), task.beta, c_layout.view(c.data())}, options);
    c_layout.download(c, task.c.data, nullptr);
    return report;
}

bool is_transposed(char text, const char* name) {
    if (text == 'N' || text == 'n') return false;
    if (text == 'T' || text == 't' || text == 'C' || text == 'c') return true;
    throw InvalidArgument(std::string("non-negative product: ") + name + " is '" + text + "'; expected 'N' or 'T'");
}

/// A BLAS matrix, rows x columns after op().
template <class T>
DenseView<T> blas_view(bool transposed, std::int64_t rows, std::int64_t columns, const T* data, std::int64_t stride) {
    return {rows, columns, transposed ? stride : 1, transposed ? 1 : stride, data};
}

template <class T>
int multiply_as_blas(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a,
                     std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) noexcept {
    try {
        if (m < 0 || n < 0 || k < 0)
            throw InvalidArgument("non-negative product: m, n and k are " + std::to_string(m) + ", " + std::to_string(n) +
                                  " and " + std::to_string(k) + "; expected none below 0");
        const GemmTask<T> task{alpha,
                               blas_view(is_transposed(transa, "transa"), m, k, a, lda),
                               blas_view(is_transposed(transb, "transb"), k, n, b, ldb),
                               beta,
                               {m, n, 1, ldc, c}};
        const Device device = Device::cuda(0);
        if (!cuda::lies_on_a_device(c)) {
            multiply_on_host(task, device, {});
            return 0;
        }
        require_valid(operation, task);
        cuda::NonnegativeMultiplier(0).gemm(task);
        cuda::synchronize(0, nullptr);
        return 0;
    } catch (const std::exception& error) {
        last_error = error.what();
        return -1;
    }
}

}  // namespace

double nonnegative_error_factor(std::int64_t inner, int depth) {
    const double k = static_cast<double>(inner);
    const double leaf = k / std::exp2(depth);
    return std::pow(18.0, depth) * (leaf * leaf + 6 * leaf) - 6 * k;
}

NonnegativeReport dngemm(const GemmTask<double>& task, const Device& device, const NonnegativeOptions& options) {
    return multiply_on_host(task, device, options);
}
NonnegativeReport sngemm(const GemmTask<float>& task, const Device& device, const NonnegativeOptions& options) {
    return multiply_on_host(task, device, options);
}

}  // namespace solver

int solver_sngemm(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a,
                  std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
    return solver::multiply_as_blas(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
int solver_dngemm(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const double* a,
                  std::int64_t lda, const double* b, std::int64_t ldb, double beta, double* c, std::int64_t ldc) {
    return solver::multiply_as_blas(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
const char* solver_last_error() { return solver::last_error.c_str(); }
