// solver-bench-cuda: products and reductions on a CUDA device, beside cuSPARSE and cuBLAS in the same run.
//
// One line of CSV a measurement: medians over graph replays of several calls each; GB/s counts every input once and every
// output once. Errors are against the CPU's exact results, whose bits `exact` must have.

#include "solver/cuda.hpp"
#include "matrices/generators.hpp"
#include "solver/matrix_market.hpp"
#include "solver/reduce.hpp"
#include "solver/spmv.hpp"
#include "tools/bench/ulp_error.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <algorithm>
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
void check(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

std::uint64_t mixed(std::uint64_t z) {  // SplitMix64
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/// Uniform in (-1, 1), with full significands.
template <class T>
std::vector<T> random_vector(std::int64_t n, std::uint64_t seed) {
    std::vector<T> x(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i)
        x[i] =
            static_cast<T>(static_cast<double>(mixed(seed * 0x100000001u + static_cast<std::uint64_t>(i)) >> 11) * 0x1p-52 - 1);
    return x;
}

/// The median time of one call, in microseconds.
double median_microseconds(cudaStream_t stream, const std::function<void()>& call) {
    call();
    check(cudaStreamSynchronize(stream));
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    const auto time = [&](const std::function<void()>& work) {
        check(cudaEventRecord(begin, stream));
        work();
        check(cudaEventRecord(end, stream));
        check(cudaEventSynchronize(end));
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        return 1000.0 * milliseconds;
    };
    const double once = std::min(time(call), time(call));
    const int calls = static_cast<int>(std::clamp(2000.0 / once, 1.0, 50.0));
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < calls; ++i) call();
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    std::vector<double> times;
    for (int replay = 0; replay < 23; ++replay) {
        const double t = time([&] { check(cudaGraphLaunch(executable, stream)); }) / calls;
        if (replay >= 3) times.push_back(t);
    }
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    check(cudaEventDestroy(begin));
    check(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

struct Line {
    std::string name;
    double microseconds;
    double error = 0;  ///< in ulp
    std::int64_t open_rows = 0;
    bool peer = false;
};

void print(const char* what, const char* type, const char* input, double bytes, const std::vector<Line>& lines) {
    double best = 1e300;
    for (const Line& line : lines)
        if (line.peer) best = std::min(best, line.microseconds);
    for (const Line& line : lines)
        std::printf("%s,%s,%s,%s,%.2f,%.0f,%.3f,%.3g,%lld\n", what, type, input, line.name.c_str(), line.microseconds,
                    bytes / line.microseconds * 1e-3, best < 1e300 ? best / line.microseconds : 0.0, line.error,
                    static_cast<long long>(line.open_rows));
    std::fflush(stdout);
}

template <class T>
constexpr cudaDataType cuda_type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
template <class T>
constexpr const char* type_name = std::is_same_v<T, double> ? "double" : "float";

/// cuSPARSE's SpMV with 32-bit indices.
template <class T>
class CuSparse {
public:
    CuSparse(cudaStream_t stream, const CsrView<T>& a, const cuda::DeviceCsrView<T>& on_device, T* x, T* y,
             cusparseSpMVAlg_t algorithm)
        : algorithm_(algorithm),
          offsets_(0, std::vector<std::int32_t>(a.row_offsets.begin(), a.row_offsets.end()), "cuSPARSE") {
        check(cusparseCreate(&handle_));
        check(cusparseSetStream(handle_, stream));
        check(cusparseCreateCsr(&matrix_, a.rows, a.columns, a.nonzeros(), offsets_.data(),
                                const_cast<std::int32_t*>(on_device.column_indices), const_cast<T*>(on_device.values),
                                CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, cuda_type<T>));
        check(cusparseCreateDnVec(&x_, a.columns, x, cuda_type<T>));
        check(cusparseCreateDnVec(&y_, a.rows, y, cuda_type<T>));
        std::size_t bytes = 0;
        check(cusparseSpMV_bufferSize(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, cuda_type<T>,
                                      algorithm_, &bytes));
        buffer_ = cuda::DeviceArray<char>(0, static_cast<std::int64_t>(bytes) + 16, "cuSPARSE");
        check(cusparseSpMV_preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, cuda_type<T>,
                                      algorithm_, buffer_.data()));
    }
    CuSparse(const CuSparse&) = delete;
    CuSparse& operator=(const CuSparse&) = delete;
    ~CuSparse() {
        cusparseDestroyDnVec(x_);
        cusparseDestroyDnVec(y_);
        cusparseDestroySpMat(matrix_);
        cusparseDestroy(handle_);
    }
    void multiply() {
        check(cusparseSpMV(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, cuda_type<T>, algorithm_,
                           buffer_.data()));
    }

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

template <class T>
void bench_spmv_with(cudaStream_t stream, const char* input, const CsrView<T>& a, const cuda::DeviceCsrMatrix<T>& matrix,
                     const std::vector<T>& host_x) {
    std::vector<T> right(static_cast<std::size_t>(a.rows));
    spmv(T(1), a, std::span<const T>(host_x), T(0), std::span<T>(right), Accuracy::exact, Device::cpu());
    const cuda::DeviceArray<T> x(0, host_x, "x");
    cuda::DeviceArray<T> y(0, a.rows, "y");
    std::vector<Line> lines;
    const auto measure = [&](const std::string& name, bool peer, const std::function<void()>& call) {
        y.fill_with_zeros(stream);
        const double time = median_microseconds(stream, call);
        std::vector<T> found(right.size());
        y.copy_to(found, stream);
        lines.push_back({name, time, max_ulp_error<T>(found, right), 0, peer});
        return std::memcmp(found.data(), right.data(), found.size() * sizeof(T)) == 0;
    };
    for (const auto& [name, algorithm] :
         {std::pair{"cusparse alg1", CUSPARSE_SPMV_CSR_ALG1}, {"cusparse alg2", CUSPARSE_SPMV_CSR_ALG2}}) {
        CuSparse<T> peer(stream, a, matrix.view(), x.data(), y.data(), algorithm);
        measure(name, true, [&] { peer.multiply(); });
    }
    for (const SpmvKernel kernel : {SpmvKernel::general, SpmvKernel::adaptive}) {
        const cuda::SpmvPlan<T> plan(matrix.view(), kernel, stream);
        for (const Accuracy accuracy : all_accuracies) {
            const std::string name = std::string(to_string(kernel)) + " " + std::string(to_string(accuracy));
            const bool same = measure(name, false, [&] { plan.multiply({.x = x.data(), .y = y.data()}, accuracy, stream); });
            if (accuracy != Accuracy::exact) continue;
            lines.back().open_rows = plan.rows_not_certified(stream);
            if (!same) lines.back().name += " WRONG BITS";
        }
    }
    const double bytes = static_cast<double>(a.nonzeros()) * (sizeof(T) + 4) + 4.0 * static_cast<double>(a.rows + 1) +
                         static_cast<double>((a.rows + a.columns) * static_cast<std::int64_t>(sizeof(T)));
    print("spmv", type_name<T>, input, bytes, lines);
}

template <class T>
void bench_spmv(cudaStream_t stream, const std::string& name, const CsrView<T>& a) {
    const cuda::DeviceCsrMatrix<T> matrix(0, a, stream);
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    { const cuda::SpmvPlan<T> warm_up(matrix.view(), SpmvKernel::adaptive, stream); }
    check(cudaEventRecord(begin, stream));
    const cuda::SpmvPlan<T> plan(matrix.view(), SpmvKernel::adaptive, stream);
    check(cudaEventRecord(end, stream));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    std::printf("plan,%s,%s,adaptive,%.2f,,,,%lld\n", type_name<T>, name.c_str(), 1000.0 * milliseconds,
                static_cast<long long>(plan.workspace_bytes()));
    bench_spmv_with(stream, (name + " random").c_str(), a, matrix, random_vector<T>(a.columns, 1));
    bench_spmv_with(stream, (name + " ones").c_str(), a, matrix, std::vector<T>(static_cast<std::size_t>(a.columns), T(1)));
}

void bench_matrix(cudaStream_t stream, const std::string& name) {
    const auto generator = matrices::find_generator(name);
    const CsrMatrix<double> a = generator ? generator->make() : read_csr<double>(name);
    const std::string short_name = name.substr(name.rfind('/') + 1);
    bench_spmv<double>(stream, short_name, a);
    const CsrMatrix<float> single = convert<float, double>(a);
    bench_spmv<float>(stream, short_name, single);
}

cublasStatus_t cublas_dot(cublasHandle_t handle, std::int64_t n, const double* x, const double* y, double* result) {
    return cublasDdot_64(handle, n, x, 1, y, 1, result);
}
cublasStatus_t cublas_dot(cublasHandle_t handle, std::int64_t n, const float* x, const float* y, float* result) {
    return cublasSdot_64(handle, n, x, 1, y, 1, result);
}
cublasStatus_t cublas_norm(cublasHandle_t handle, std::int64_t n, const double* x, double* result) {
    return cublasDnrm2_64(handle, n, x, 1, result);
}
cublasStatus_t cublas_norm(cublasHandle_t handle, std::int64_t n, const float* x, float* result) {
    return cublasSnrm2_64(handle, n, x, 1, result);
}

/// `adversarial`: exponents over the full range, and every product is there with its negative, but for the last ones.
template <class T>
void bench_reductions(cudaStream_t stream, std::int64_t n, bool adversarial) {
    std::vector<T> host_x = random_vector<T>(n, 2);
    std::vector<T> host_y = random_vector<T>(n, 3);
    if (adversarial) {
        const int range = std::is_same_v<T, double> ? 500 : 60;
        for (std::int64_t i = 0; i + 3 < n; i += 2) {
            const int e =
                static_cast<int>(mixed(static_cast<std::uint64_t>(i)) % static_cast<std::uint64_t>(2 * range)) - range;
            host_x[i] = std::ldexp(host_x[i], e);
            host_x[i + 1] = -host_x[i];
            host_y[i + 1] = host_y[i] = std::ldexp(host_y[i], e);
        }
    }
    cublasHandle_t handle;
    check(cublasCreate(&handle));
    check(cublasSetStream(handle, stream));
    check(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    const cuda::DeviceArray<T> x(0, host_x, "x");
    const cuda::DeviceArray<T> y(0, host_y, "y");
    const cuda::DeviceArray<T> result(0, 1, "result");
    cuda::Reducer reducer(0);
    const std::string input = "2^" + std::to_string(std::ilogb(static_cast<double>(n))) + (adversarial ? " adversarial" : "");
    const auto value = [&] {
        T found;
        result.copy_to(std::span(&found, 1), stream);
        return found;
    };
    const auto bench = [&](const char* what, cuda::Reduction reduction, int vectors, T right,
                           const std::function<void()>& peer) {
        std::vector<Line> lines;
        if (peer) {
            const double time = median_microseconds(stream, peer);
            lines.push_back({"cublas", time, ulp_error(value(), right), 0, true});
        }
        for (const Accuracy accuracy : all_accuracies) {
            const double time = median_microseconds(
                stream, [&] { reducer.reduce(reduction, n, x.data(), y.data(), accuracy, result.data(), stream); });
            const T found = value();
            const bool wrong = accuracy == Accuracy::exact && std::memcmp(&found, &right, sizeof found) != 0;
            lines.push_back(
                {std::string(to_string(accuracy)) + (wrong ? " WRONG BITS" : ""), time, ulp_error(found, right), 0, false});
        }
        print(what, type_name<T>, input.c_str(), static_cast<double>(n) * vectors * sizeof(T), lines);
    };
    const std::span<const T> span_x = host_x;
    const std::span<const T> span_y = host_y;
    bench("dot", cuda::Reduction::dot, 2, dot(span_x, span_y, Accuracy::exact, Device::cpu()),
          [&] { check(cublas_dot(handle, n, x.data(), y.data(), result.data())); });
    bench("sum", cuda::Reduction::sum, 1, sum(span_x, Accuracy::exact, Device::cpu()), {});
    bench("norm2", cuda::Reduction::norm2, 1, norm2(span_x, Accuracy::exact, Device::cpu()),
          [&] { check(cublas_norm(handle, n, x.data(), result.data())); });
    check(cublasDestroy(handle));
}

void run(const std::vector<std::string>& inputs) {
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    std::printf("what,type,input,kernel,microseconds,GB/s,ratio to best peer,ulp,open rows\n");
    for (const std::string& input : inputs) {
        if (input.rfind("dot_", 0) == 0) {
            const std::int64_t n = std::int64_t{1} << std::stoi(input.substr(4));
            const bool adversarial = input.find('a', 4) != std::string::npos;
            bench_reductions<double>(stream, n, adversarial);
            bench_reductions<float>(stream, n, adversarial);
        } else {
            bench_matrix(stream, input);
        }
    }
    check(cudaStreamDestroy(stream));
}

}  // namespace
}  // namespace solver::bench

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s MATRIX|GENERATOR|dot_LOG2N|dot_LOG2Na ...\n", argv[0]);
        return 2;
    }
    try {
        solver::bench::run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
        return 1;
    }
}
