#pragma once

/// The peers on a CUDA device, as their users have them: cuSPARSE, cuBLAS, CUB.

#include "solver/csr_matrix.hpp"
#include "solver/cuda.hpp"
#include "solver/triangular_solve.hpp"

#include <cublas_v2.h>
#include <cusparse.h>

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

namespace solver::bench::on_cuda {

/// "NVIDIA H200 (132 multiprocessors, 60 MiB of level 2 cache, compute capability 9.0), driver 13.0"
std::string device_description(int device);

/// "cuSPARSE 12.6.3, cuBLAS 13.1.0, CUB 3.0.0"
std::string description();

enum class SpmvAlgorithm { alg1, alg2 };
std::string to_string(SpmvAlgorithm algorithm);  ///< "cusparse alg1" or "cusparse alg2"

/// cuSPARSE's product with 32-bit indices, preprocessed. Shares column indices and values with the matrix, which must outlive
/// it.
template <class T>
class CuSparseMatrix {
public:
    CuSparseMatrix(const CsrView<T>& a, const cuda::DeviceCsrView<T>& on_device, SpmvAlgorithm algorithm, cuda::Stream stream);
    ~CuSparseMatrix();
    CuSparseMatrix(const CuSparseMatrix&) = delete;
    CuSparseMatrix& operator=(const CuSparseMatrix&) = delete;

    /// y = A x
    void multiply(const T* x, T* y);

private:
    T one_ = 1;
    T zero_ = 0;
    cusparseSpMVAlg_t algorithm_;
    cuda::DeviceArray<std::int32_t> offsets_;
    cuda::DeviceArray<char> buffer_;
    cusparseHandle_t handle_{};
    cusparseSpMatDescr_t matrix_{};
    cusparseDnVecDescr_t x_{}, y_{};
};

/// cuSPARSE's SpSV with 32-bit indices, analysed: A x = b.
template <class T>
class CuSparseTriangle {
public:
    CuSparseTriangle(int device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal, const T* b, T* x,
                     cuda::Stream stream);
    ~CuSparseTriangle();
    CuSparseTriangle(const CuSparseTriangle&) = delete;
    CuSparseTriangle& operator=(const CuSparseTriangle&) = delete;

    void solve();

private:
    T one_ = 1;
    cuda::DeviceCsrMatrix<T> a_;
    cuda::DeviceArray<std::int32_t> offsets_;
    cuda::DeviceArray<char> buffer_;
    cusparseHandle_t handle_{};
    cusparseSpMatDescr_t matrix_{};
    cusparseDnVecDescr_t b_{}, x_{};
    cusparseSpSVDescr_t solve_{};
};

/// Where cuBLAS leaves and finds scalars.
enum class Scalars { on_host, on_device };

/// How cuBLAS multiplies dense matrices. three_products: of complex matrices, three real ones instead of four. emulated: floats
/// by nine products of BF16, doubles in fixed point with 55 bits, or with as many as the data ask for.
enum class BlasGemm { plain, three_products, tf32, emulated, emulated_dynamic };

/// A handle of cuBLAS on a stream.
class CuBlas {
public:
    CuBlas(Scalars scalars, cuda::Stream stream);
    ~CuBlas();
    CuBlas(const CuBlas&) = delete;
    CuBlas& operator=(const CuBlas&) = delete;

    void dot(std::int64_t n, const double* x, const double* y, double* result);
    void dot(std::int64_t n, const float* x, const float* y, float* result);
    void norm2(std::int64_t n, const double* x, double* result);
    void norm2(std::int64_t n, const float* x, float* result);
    /// y += alpha x, x *= alpha, y = x and z_i = d_i x_i, with alpha on the host.
    void axpy(std::int64_t n, double alpha, const double* x, double* y);
    void axpy(std::int64_t n, float alpha, const float* x, float* y);
    void scale(std::int64_t n, double alpha, double* x);
    void scale(std::int64_t n, float alpha, float* x);
    void copy(std::int64_t n, const double* x, double* y);
    void copy(std::int64_t n, const float* x, float* y);
    /// C = A B of n x n matrices, column by column. False where there is no such product of this type.
    bool gemm(BlasGemm how, std::int64_t n, const double* a, const double* b, double* c);
    bool gemm(BlasGemm how, std::int64_t n, const float* a, const float* b, float* c);
    /// Of complex matrices; BlasGemm::three_products for three real products instead of four.
    bool gemm(BlasGemm how, std::int64_t n, const std::complex<double>* a, const std::complex<double>* b,
              std::complex<double>* c);
    bool gemm(BlasGemm how, std::int64_t n, const std::complex<float>* a, const std::complex<float>* b, std::complex<float>* c);
    /// Emulated products of n x n matrices from now on are emulated wherever cuBLAS can (its eager strategy, with working
    /// memory that suffices), not only where it expects them to be faster: else it makes native ones, and does not say so.
    void emulate_eagerly(int device, std::int64_t n, cuda::Stream stream);
    /// Of the last emulated product of doubles, the bits that were kept, or -1 where it was a native one.
    int bits_kept(cuda::Stream stream) const;
    void multiply(std::int64_t n, const double* d, const double* x, double* z);
    void multiply(std::int64_t n, const float* d, const float* x, float* z);

private:
    cublasHandle_t handle_{};
    cuda::DeviceArray<char> workspace_;
    cuda::DeviceArray<int> bits_;
};

/// cub::DeviceReduce::Sum of n elements.
template <class T>
class CubSum {
public:
    CubSum(int device, std::int64_t n);
    void sum(const T* x, T* result, cuda::Stream stream);

private:
    std::int64_t n_;
    cuda::DeviceArray<char> workspace_;
};

/// Elements of x.
template <class T>
std::vector<T> gather(const cuda::DeviceArray<std::int64_t>& places, const T* x, cuda::Stream stream);

/// x_i = NaN
template <class T>
void fill_with_nan(std::int64_t n, T* x, cuda::Stream stream);

/// max_ulp_error of ulp_error.hpp on the device; then fills the result with NaN, for what is not computed cannot pass.
template <class T>
double take_max_ulp_error(std::int64_t n, T* result, const T* exact, cuda::Stream stream);

}  // namespace solver::bench::on_cuda
