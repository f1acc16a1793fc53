#include "openblas_peer.hpp"

#include <chrono>
#include <complex>
#include <stdexcept>
#include <thread>
#include <type_traits>

#ifdef SOLVER_BENCH_OPENBLAS
extern "C" {
char* openblas_get_config();
char* openblas_get_corename();
void openblas_set_num_threads(int threads);
void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c, const int* ldc);
void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k, const float* alpha,
            const float* a, const int* lda, const float* b, const int* ldb, const float* beta, float* c, const int* ldc);
void zgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k, const void* alpha,
            const void* a, const int* lda, const void* b, const int* ldb, const void* beta, void* c, const int* ldc);
void cgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k, const void* alpha,
            const void* a, const int* lda, const void* b, const int* ldb, const void* beta, void* c, const int* ldc);
}
#endif

namespace solver::bench::openblas {

#ifdef SOLVER_BENCH_OPENBLAS

bool is_there() { return true; }

std::string description() { return std::string(openblas_get_config()) + " (" + openblas_get_corename() + ")"; }

void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }

template <class T>
void multiply(int threads, std::int64_t n, std::span<const T> a, std::span<const T> b, std::span<T> c) {
    openblas_set_num_threads(threads);
    const auto size = static_cast<int>(n);
    const T one = 1;
    const T zero = 0;
    const auto gemm = [&](auto function) {
        function("N", "N", &size, &size, &size, &one, a.data(), &size, b.data(), &size, &zero, c.data(), &size);
    };
    if constexpr (std::is_same_v<T, double>)
        gemm(dgemm_);
    else if constexpr (std::is_same_v<T, float>)
        gemm(sgemm_);
    else if constexpr (std::is_same_v<T, std::complex<double>>)
        gemm(zgemm_);
    else
        gemm(cgemm_);
}

#else

bool is_there() { return false; }
std::string description() { return "no OpenBLAS"; }
void rest() {}

template <class T>
void multiply(int, std::int64_t, std::span<const T>, std::span<const T>, std::span<T>) {
    throw std::logic_error("solver-bench was built without OpenBLAS");
}

#endif

template void multiply(int, std::int64_t, std::span<const float>, std::span<const float>, std::span<float>);
template void multiply(int, std::int64_t, std::span<const double>, std::span<const double>, std::span<double>);
template void multiply(int, std::int64_t, std::span<const std::complex<float>>, std::span<const std::complex<float>>,
                       std::span<std::complex<float>>);
template void multiply(int, std::int64_t, std::span<const std::complex<double>>, std::span<const std::complex<double>>,
                       std::span<std::complex<double>>);

}  // namespace solver::bench::openblas
