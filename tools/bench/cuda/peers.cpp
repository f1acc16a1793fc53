#include "peers.hpp"

#include "check.hpp"

#include <fmt/format.h>

#include <complex>
#include <vector>

namespace solver::bench::on_cuda {
namespace {

template <class T>
constexpr cudaDataType cuda_type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
template <>
constexpr cudaDataType cuda_type<std::complex<double>> = CUDA_C_64F;
template <>
constexpr cudaDataType cuda_type<std::complex<float>> = CUDA_C_32F;

std::string version_of(int major, int minor, int patch) { return fmt::format("{}.{}.{}", major, minor, patch); }

int property(libraryPropertyType type, cusparseStatus_t (*get)(libraryPropertyType, int*)) {
    int value = 0;
    BENCH_CHECK(get(type, &value));
    return value;
}

int property(libraryPropertyType type, cublasStatus_t (*get)(libraryPropertyType, int*)) {
    int value = 0;
    BENCH_CHECK(get(type, &value));
    return value;
}

template <class Get>
std::string version_by(Get get) {
    return version_of(property(MAJOR_VERSION, get), property(MINOR_VERSION, get), property(PATCH_LEVEL, get));
}

}  // namespace

std::string cub_version();  // cub.cu

std::string device_description(int device) {
    const cuda::DeviceDescription about = cuda::describe(device);
    int driver = 0;
    BENCH_CHECK(cudaDriverGetVersion(&driver));
    return fmt::format("{} ({} multiprocessors, {} MiB of level 2 cache, compute capability {}.{}), driver for CUDA {}.{}",
                       about.name, about.multiprocessors, about.level2_bytes >> 20, about.compute_capability / 10,
                       about.compute_capability % 10, driver / 1000, driver % 1000 / 10);
}

std::string description() {
    return fmt::format("cuSPARSE {}, cuBLAS {}, CUB {}", version_by(cusparseGetProperty), version_by(cublasGetProperty),
                       cub_version());
}

std::string to_string(SpmvAlgorithm algorithm) { return algorithm == SpmvAlgorithm::alg1 ? "cusparse alg1" : "cusparse alg2"; }

template <class T>
CuSparseMatrix<T>::CuSparseMatrix(const CsrView<T>& a, const cuda::DeviceCsrView<T>& on_device, SpmvAlgorithm algorithm,
                                  cuda::Stream stream)
    : algorithm_(algorithm == SpmvAlgorithm::alg1 ? CUSPARSE_SPMV_CSR_ALG1 : CUSPARSE_SPMV_CSR_ALG2),
      offsets_(on_device.device, std::vector<std::int32_t>(a.row_offsets.begin(), a.row_offsets.end()), "cuSPARSE", stream) {
    const cuda::DeviceArray<T> x(on_device.device, a.columns, "cuSPARSE");
    const cuda::DeviceArray<T> y(on_device.device, a.rows, "cuSPARSE");
    constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    BENCH_CHECK(cusparseCreate(&handle_));
    BENCH_CHECK(cusparseSetStream(handle_, stream));
    BENCH_CHECK(cusparseCreateCsr(&matrix_, a.rows, a.columns, a.nonzeros(), offsets_.data(),
                                  const_cast<std::int32_t*>(on_device.column_indices), const_cast<T*>(on_device.values),
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, cuda_type<T>));
    BENCH_CHECK(cusparseCreateDnVec(&x_, a.columns, x.data(), cuda_type<T>));
    BENCH_CHECK(cusparseCreateDnVec(&y_, a.rows, y.data(), cuda_type<T>));
    std::size_t bytes = 0;
    BENCH_CHECK(cusparseSpMV_bufferSize(handle_, plain, &one_, matrix_, x_, &zero_, y_, cuda_type<T>, algorithm_, &bytes));
    buffer_ = cuda::DeviceArray<char>(on_device.device, static_cast<std::int64_t>(bytes) + 16, "cuSPARSE");
    BENCH_CHECK(
        cusparseSpMV_preprocess(handle_, plain, &one_, matrix_, x_, &zero_, y_, cuda_type<T>, algorithm_, buffer_.data()));
    cuda::synchronize(on_device.device, stream);
}

template <class T>
CuSparseMatrix<T>::~CuSparseMatrix() {
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(y_);
    cusparseDestroySpMat(matrix_);
    cusparseDestroy(handle_);
}

template <class T>
void CuSparseMatrix<T>::multiply(const T* x, T* y) {
    BENCH_CHECK(cusparseDnVecSetValues(x_, const_cast<T*>(x)));
    BENCH_CHECK(cusparseDnVecSetValues(y_, y));
    BENCH_CHECK(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, cuda_type<T>,
                             algorithm_, buffer_.data()));
}

template class CuSparseMatrix<float>;
template class CuSparseMatrix<double>;
template class CuSparseMatrix<std::complex<float>>;
template class CuSparseMatrix<std::complex<double>>;

template <class T>
CuSparseTriangle<T>::CuSparseTriangle(int device, const CsrView<T>& a, Triangle triangle, Diagonal diagonal, const T* b, T* x,
                                      cuda::Stream stream)
    : a_(device, a, stream),
      offsets_(device, std::vector<std::int32_t>(a.row_offsets.begin(), a.row_offsets.end()), "cuSPARSE", stream) {
    const cusparseFillMode_t fill = triangle == Triangle::lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    const cusparseDiagType_t unit = diagonal == Diagonal::unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    BENCH_CHECK(cusparseCreate(&handle_));
    BENCH_CHECK(cusparseSetStream(handle_, stream));
    BENCH_CHECK(cusparseCreateCsr(&matrix_, a.rows, a.columns, a.nonzeros(), offsets_.data(),
                                  const_cast<std::int32_t*>(a_.view().column_indices), const_cast<T*>(a_.view().values),
                                  CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, cuda_type<T>));
    BENCH_CHECK(
        cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_FILL_MODE, const_cast<cusparseFillMode_t*>(&fill), sizeof fill));
    BENCH_CHECK(
        cusparseSpMatSetAttribute(matrix_, CUSPARSE_SPMAT_DIAG_TYPE, const_cast<cusparseDiagType_t*>(&unit), sizeof unit));
    BENCH_CHECK(cusparseCreateDnVec(&b_, a.rows, const_cast<T*>(b), cuda_type<T>));
    BENCH_CHECK(cusparseCreateDnVec(&x_, a.rows, x, cuda_type<T>));
    BENCH_CHECK(cusparseSpSV_createDescr(&solve_));
    std::size_t bytes = 0;
    BENCH_CHECK(cusparseSpSV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, b_, x_, cuda_type<T>,
                                        CUSPARSE_SPSV_ALG_DEFAULT, solve_, &bytes));
    buffer_ = cuda::DeviceArray<char>(device, static_cast<std::int64_t>(bytes) + 16, "cuSPARSE");
    BENCH_CHECK(cusparseSpSV_analysis(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, b_, x_, cuda_type<T>,
                                      CUSPARSE_SPSV_ALG_DEFAULT, solve_, buffer_.data()));
    cuda::synchronize(device, stream);
}

template <class T>
CuSparseTriangle<T>::~CuSparseTriangle() {
    cusparseSpSV_destroyDescr(solve_);
    cusparseDestroyDnVec(b_);
    cusparseDestroyDnVec(x_);
    cusparseDestroySpMat(matrix_);
    cusparseDestroy(handle_);
}

template <class T>
void CuSparseTriangle<T>::solve() {
    BENCH_CHECK(cusparseSpSV_solve(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, b_, x_, cuda_type<T>,
                                   CUSPARSE_SPSV_ALG_DEFAULT, solve_));
}

template class CuSparseTriangle<float>;
template class CuSparseTriangle<double>;

CuBlas::CuBlas(Scalars scalars, cuda::Stream stream) {
    BENCH_CHECK(cublasCreate(&handle_));
    BENCH_CHECK(cublasSetStream(handle_, stream));
    BENCH_CHECK(
        cublasSetPointerMode(handle_, scalars == Scalars::on_host ? CUBLAS_POINTER_MODE_HOST : CUBLAS_POINTER_MODE_DEVICE));
}

CuBlas::~CuBlas() { cublasDestroy(handle_); }

void CuBlas::dot(std::int64_t n, const double* x, const double* y, double* result) {
    BENCH_CHECK(cublasDdot_64(handle_, n, x, 1, y, 1, result));
}
void CuBlas::dot(std::int64_t n, const float* x, const float* y, float* result) {
    BENCH_CHECK(cublasSdot_64(handle_, n, x, 1, y, 1, result));
}
void CuBlas::norm2(std::int64_t n, const double* x, double* result) { BENCH_CHECK(cublasDnrm2_64(handle_, n, x, 1, result)); }
void CuBlas::norm2(std::int64_t n, const float* x, float* result) { BENCH_CHECK(cublasSnrm2_64(handle_, n, x, 1, result)); }
void CuBlas::axpy(std::int64_t n, double alpha, const double* x, double* y) {
    BENCH_CHECK(cublasDaxpy_64(handle_, n, &alpha, x, 1, y, 1));
}
void CuBlas::axpy(std::int64_t n, float alpha, const float* x, float* y) {
    BENCH_CHECK(cublasSaxpy_64(handle_, n, &alpha, x, 1, y, 1));
}
void CuBlas::scale(std::int64_t n, double alpha, double* x) { BENCH_CHECK(cublasDscal_64(handle_, n, &alpha, x, 1)); }
void CuBlas::scale(std::int64_t n, float alpha, float* x) { BENCH_CHECK(cublasSscal_64(handle_, n, &alpha, x, 1)); }
void CuBlas::copy(std::int64_t n, const double* x, double* y) { BENCH_CHECK(cublasDcopy_64(handle_, n, x, 1, y, 1)); }
void CuBlas::copy(std::int64_t n, const float* x, float* y) { BENCH_CHECK(cublasScopy_64(handle_, n, x, 1, y, 1)); }
namespace {

cublasComputeType_t compute_type(BlasGemm how, bool in_double) {
    if (in_double) return how == BlasGemm::plain ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT;
    if (how == BlasGemm::tf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
    return how == BlasGemm::emulated ? CUBLAS_COMPUTE_32F_EMULATED_16BFX9 : CUBLAS_COMPUTE_32F;
}

/// 55 bits: what cuBLAS itself takes to be as good as double. 0 bits: as many as it allows at most.
void keep_bits(cublasHandle_t handle, BlasGemm how) {
    const bool fixed = how == BlasGemm::emulated;
    BENCH_CHECK(cublasSetFixedPointEmulationMantissaControl(
        handle, fixed ? CUDA_EMULATION_MANTISSA_CONTROL_FIXED : CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC));
    BENCH_CHECK(cublasSetFixedPointEmulationMaxMantissaBitCount(handle, fixed ? 55 : 0));
}

template <class T>
bool blas_gemm(cublasHandle_t handle, BlasGemm how, std::int64_t n, const T* a, const T* b, T* c) {
    constexpr bool in_double = std::is_same_v<T, double>;
    if (how == BlasGemm::three_products) return false;
    if (how == (in_double ? BlasGemm::tf32 : BlasGemm::emulated_dynamic)) return false;
    if (in_double && how != BlasGemm::plain) keep_bits(handle, how);
    const T one = 1, zero = 0;
    return cublasGemmEx_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, cuda_type<T>, n, b, cuda_type<T>, n, &zero, c,
                           cuda_type<T>, n, compute_type(how, in_double), CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS;
}

/// S: cuBLAS's name of std::complex<T>.
template <class S, class T, class Gemm>
bool complex_gemm(cublasHandle_t handle, BlasGemm how, std::int64_t n, const std::complex<T>* a, const std::complex<T>* b,
                  std::complex<T>* c, Gemm plain, Gemm by_three) {
    if (how != BlasGemm::plain && how != BlasGemm::three_products) return false;
    const auto size = static_cast<int>(n);
    const S one{1, 0}, zero{0, 0};
    const auto read = [](const std::complex<T>* x) { return reinterpret_cast<const S*>(x); };
    return (how == BlasGemm::plain ? plain : by_three)(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, read(a), size,
                                                       read(b), size, &zero, reinterpret_cast<S*>(c),
                                                       size) == CUBLAS_STATUS_SUCCESS;
}

}  // namespace

bool CuBlas::gemm(BlasGemm how, std::int64_t n, const double* a, const double* b, double* c) {
    return blas_gemm(handle_, how, n, a, b, c);
}
bool CuBlas::gemm(BlasGemm how, std::int64_t n, const float* a, const float* b, float* c) {
    return blas_gemm(handle_, how, n, a, b, c);
}
bool CuBlas::gemm(BlasGemm how, std::int64_t n, const std::complex<double>* a, const std::complex<double>* b,
                  std::complex<double>* c) {
    return complex_gemm<cuDoubleComplex>(handle_, how, n, a, b, c, cublasZgemm, cublasZgemm3m);
}
bool CuBlas::gemm(BlasGemm how, std::int64_t n, const std::complex<float>* a, const std::complex<float>* b,
                  std::complex<float>* c) {
    return complex_gemm<cuComplex>(handle_, how, n, a, b, c, cublasCgemm, cublasCgemm3m);
}
void CuBlas::emulate_eagerly(int device, std::int64_t n, cuda::Stream stream) {
    constexpr std::int64_t bytes_an_element = 32;  // slices of 8 bits of two matrices, ten of each for 79 bits, and a half more
    constexpr std::int64_t around = std::int64_t{256} << 20;
    const std::int64_t padded = (n + 1023) / 1024 * 1024;
    bits_ = cuda::DeviceArray<int>(device, 1, "bits of an emulated product");
    workspace_ = cuda::DeviceArray<char>(device, bytes_an_element * padded * padded + around, "emulated products");
    BENCH_CHECK(cublasSetStream(handle_, stream));  // which takes away the workspace of before
    BENCH_CHECK(cublasSetWorkspace(handle_, workspace_.data(), static_cast<std::size_t>(workspace_.size())));
    BENCH_CHECK(cublasSetEmulationStrategy(handle_, CUBLAS_EMULATION_STRATEGY_EAGER));
    BENCH_CHECK(cublasSetFixedPointEmulationMantissaBitCountPointer(handle_, bits_.data()));
}
int CuBlas::bits_kept(cuda::Stream stream) const {
    int bits = -1;
    bits_.copy_to(std::span(&bits, 1), stream);
    return bits;
}
void CuBlas::multiply(std::int64_t n, const double* d, const double* x, double* z) {
    BENCH_CHECK(cublasDdgmm_64(handle_, CUBLAS_SIDE_LEFT, n, 1, x, n, d, 1, z, n));
}
void CuBlas::multiply(std::int64_t n, const float* d, const float* x, float* z) {
    BENCH_CHECK(cublasSdgmm_64(handle_, CUBLAS_SIDE_LEFT, n, 1, x, n, d, 1, z, n));
}

}  // namespace solver::bench::on_cuda
