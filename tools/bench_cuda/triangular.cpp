// solver-bench-cuda-triangular: triangular solves with factors of matrices, beside cuSPARSE in the same run.
//
// Arguments are FACTORS:MATRIX with FACTORS ilu0, ilut or klu and a file or a generator. One line of CSV for L and U each:
// medians in microseconds. The matrix is prepared for ilut and klu.

#include "matrices/generators.hpp"
#include "preconditioner/ilu0.hpp"
#include "preconditioner/ilut.hpp"
#include "preconditioner/klu.hpp"
#include "solver/cuda/triangular_solve.hpp"
#include "solver/matrix_market.hpp"

#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace solver::bench {
namespace {

void check(cudaError_t status) {
    if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}
void check(cusparseStatus_t status) {
    if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(status));
}

/// The median time of one call, in microseconds.
double median_microseconds(cudaStream_t stream, const std::function<void()>& call) {
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    const auto time = [&](int calls) {
        check(cudaEventRecord(begin, stream));
        for (int i = 0; i < calls; ++i) call();
        check(cudaEventRecord(end, stream));
        check(cudaEventSynchronize(end));
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        return 1000.0 * milliseconds / calls;
    };
    time(1);
    const int calls = static_cast<int>(std::clamp(2000.0 / time(1), 1.0, 50.0));
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) times.push_back(time(calls));
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

template <class T>
constexpr cudaDataType cuda_type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;

template <class T>
double cusparse_microseconds(cudaStream_t stream, const CsrView<T>& a, Triangle triangle, Diagonal diagonal, const T* b, T* x) {
    const std::vector<std::int32_t> narrow(a.row_offsets.begin(), a.row_offsets.end());
    const cuda::DeviceArray<std::int32_t> offsets(0, narrow, "cuSPARSE");
    const cuda::DeviceCsrMatrix<T> matrix(0, a);
    cusparseHandle_t handle;
    cusparseSpMatDescr_t descriptor;
    cusparseDnVecDescr_t vector_b, vector_x;
    cusparseSpSVDescr_t solve;
    check(cusparseCreate(&handle));
    check(cusparseSetStream(handle, stream));
    check(cusparseCreateCsr(&descriptor, a.rows, a.columns, a.nonzeros(), const_cast<std::int32_t*>(offsets.data()),
                            const_cast<std::int32_t*>(matrix.view().column_indices), const_cast<T*>(matrix.view().values),
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, cuda_type<T>));
    cusparseFillMode_t fill = triangle == Triangle::lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    cusparseDiagType_t unit = diagonal == Diagonal::unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    check(cusparseSpMatSetAttribute(descriptor, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    check(cusparseSpMatSetAttribute(descriptor, CUSPARSE_SPMAT_DIAG_TYPE, &unit, sizeof unit));
    check(cusparseCreateDnVec(&vector_b, a.rows, const_cast<T*>(b), cuda_type<T>));
    check(cusparseCreateDnVec(&vector_x, a.rows, x, cuda_type<T>));
    check(cusparseSpSV_createDescr(&solve));
    const T one = 1;
    std::size_t bytes = 0;
    check(cusparseSpSV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, descriptor, vector_b, vector_x, cuda_type<T>,
                                  CUSPARSE_SPSV_ALG_DEFAULT, solve, &bytes));
    const cuda::DeviceArray<char> buffer(0, static_cast<std::int64_t>(bytes) + 16, "cuSPARSE");
    check(cusparseSpSV_analysis(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, descriptor, vector_b, vector_x, cuda_type<T>,
                                CUSPARSE_SPSV_ALG_DEFAULT, solve, buffer.data()));
    const double time = median_microseconds(stream, [&] {
        check(cusparseSpSV_solve(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, descriptor, vector_b, vector_x, cuda_type<T>,
                                 CUSPARSE_SPSV_ALG_DEFAULT, solve));
    });
    check(cusparseSpSV_destroyDescr(solve));
    check(cusparseDestroyDnVec(vector_b));
    check(cusparseDestroyDnVec(vector_x));
    check(cusparseDestroySpMat(descriptor));
    check(cusparseDestroy(handle));
    return time;
}

template <class T>
void bench(cudaStream_t stream, const std::string& name, const CsrView<T>& a, Triangle triangle, Diagonal diagonal) {
    std::vector<T> host_b(static_cast<std::size_t>(a.rows));
    for (std::int64_t i = 0; i < a.rows; ++i) host_b[i] = static_cast<T>(1 + i * 7919 % 1009 / 1009.0);
    std::vector<T> right(host_b.size());
    TriangularSolvePlan<T>(a, triangle, diagonal, Device::cpu()).solve(host_b, right, Accuracy::exact);
    const cuda::DeviceArray<T> b(0, host_b, "b");
    const cuda::DeviceArray<T> x(0, a.rows, "x");
    const bool with_peer = std::getenv("NO_PEER") == nullptr;
    const double peer = with_peer ? cusparse_microseconds<T>(stream, a, triangle, diagonal, b.data(), x.data()) : 0;
    const auto before = std::chrono::steady_clock::now();
    const cuda::TriangularSolvePlan<T> plan(0, a, triangle, diagonal);
    const double analysis = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count();
    std::printf("%s %s,%s,%lld,%lld,%.1f,%.1f", name.c_str(), triangle == Triangle::lower ? "L" : "U",
                sizeof(T) == 8 ? "double" : "float", static_cast<long long>(a.rows), static_cast<long long>(a.nonzeros()),
                analysis, peer);
    for (const Accuracy accuracy : all_accuracies)
        std::printf(",%.1f", median_microseconds(stream, [&] { plan.solve(b.data(), x.data(), accuracy, stream); }));
    std::vector<T> found(right.size());
    x.copy_to(found, stream);
    std::printf(",%s\n", std::memcmp(found.data(), right.data(), found.size() * sizeof(T)) == 0 ? "same" : "WRONG BITS");
    std::fflush(stdout);
}

template <class T>
IluFactors<T> factors_of(const std::string& kind, const CsrMatrix<double>& a) {
    if (kind == "ilu0") return factor_ilu0<T>(convert<T, double>(a), Accuracy::fast);
    const Preparation preparation = prepare<double>(a, Ordering::amd);
    if (kind == "klu") return factor_klu<T, double>(a, preparation, 0).factors;
    return factor_ilut<T>(convert<T, double>(prepared_matrix<double>(a, preparation)), {});
}

template <class T>
IluFactors<T> chain(std::int64_t rows) {
    IluFactors<T> factors;
    factors.lower.rows = factors.lower.columns = factors.upper.rows = factors.upper.columns = rows;
    for (std::int64_t i = 0; i < rows; ++i) {
        if (i > 0) factors.lower.column_indices.push_back(static_cast<std::int32_t>(i - 1));
        factors.lower.row_offsets.push_back(i);
        for (std::int64_t j = i; j < std::min(i + 2, rows); ++j)
            factors.upper.column_indices.push_back(static_cast<std::int32_t>(j));
        factors.upper.row_offsets.push_back(std::ssize(factors.upper.column_indices));
    }
    factors.lower.values.assign(factors.lower.column_indices.size(), T(0.5));
    factors.upper.values.assign(factors.upper.column_indices.size(), T(1.5));
    return factors;
}

template <class T>
void bench_factors(cudaStream_t stream, const std::string& name, const IluFactors<T>& factors) {
    bench<T>(stream, name, factors.lower, Triangle::lower, Diagonal::unit);
    bench<T>(stream, name, factors.upper, Triangle::upper, Diagonal::stored);
}

void run(const std::vector<std::string>& inputs) {
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    std::printf("factor,type,rows,entries,analysis ms,cusparse,fast,compensated,exact,bits\n");
    for (const std::string& input : inputs) {
        const std::string kind = input.substr(0, input.find(':'));
        const std::string name = input.substr(input.find(':') + 1);
        if (kind == "chain") {
            bench_factors(stream, input, chain<double>(std::stoll(name)));
            continue;
        }
        const auto generator = matrices::find_generator(name);
        const CsrMatrix<double> a = generator ? generator->make() : read_csr<double>(name);
        bench_factors(stream, input, factors_of<double>(kind, a));
        if (std::getenv("WITH_FLOAT") != nullptr) bench_factors(stream, input, factors_of<float>(kind, a));
    }
    check(cudaStreamDestroy(stream));
}

}  // namespace
}  // namespace solver::bench

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s FACTORS:MATRIX ...\n", argv[0]);
        return 2;
    }
    try {
        solver::bench::run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}
