/// What needs nvcc: CUB's sum, and errors counted on the device.

#include "check.hpp"
#include "peers.hpp"

#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform_reduce.h>
#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>

#include <cfloat>

namespace solver::bench::on_cuda {
namespace {

/// |result_i - exact_i| in units in the last place of exact_i, as ulp_error.
template <class T>
struct UlpError {
    const T* result;
    const T* exact;

    __device__ double operator()(std::int64_t i) const {
        const T r = result[i], e = exact[i];
        if (r == e || (isnan(r) && isnan(e))) return 0;
        if (!isfinite(r) || !isfinite(e)) return HUGE_VAL;
        constexpr bool single = sizeof(T) == sizeof(float);
        constexpr int lowest = single ? FLT_MIN_EXP - 1 : DBL_MIN_EXP - 1;
        constexpr int digits = single ? FLT_MANT_DIG : DBL_MANT_DIG;
        const int exponent = e == 0 ? lowest : max(ilogb(e), lowest);
        return scalbn(fabs(static_cast<double>(r) - static_cast<double>(e)), digits - 1 - exponent);
    }
};

}  // namespace

std::string cub_version() {
    return std::to_string(CUB_MAJOR_VERSION) + '.' + std::to_string(CUB_MINOR_VERSION) + '.' +
           std::to_string(CUB_SUBMINOR_VERSION);
}

template <class T>
CubSum<T>::CubSum(int device, std::int64_t n) : n_(n) {
    std::size_t bytes = 0;
    BENCH_CHECK(cub::DeviceReduce::Sum(nullptr, bytes, static_cast<const T*>(nullptr), static_cast<T*>(nullptr), n));
    workspace_ = cuda::DeviceArray<char>(device, static_cast<std::int64_t>(bytes) + 16, "CUB");
}

template <class T>
void CubSum<T>::sum(const T* x, T* result, cuda::Stream stream) {
    auto bytes = static_cast<std::size_t>(workspace_.size());
    BENCH_CHECK(cub::DeviceReduce::Sum(workspace_.data(), bytes, x, result, n_, stream));
}

template class CubSum<float>;
template class CubSum<double>;

template <class T>
std::vector<T> gather(const cuda::DeviceArray<std::int64_t>& places, const T* x, cuda::Stream stream) {
    const cuda::DeviceArray<T> found(places.device(), places.size(), "elements of a result");
    thrust::gather(thrust::cuda::par.on(stream), places.data(), places.data() + places.size(), x, found.data());
    std::vector<T> on_host(static_cast<std::size_t>(places.size()));
    found.copy_to(on_host, stream);
    return on_host;
}

template std::vector<float> gather(const cuda::DeviceArray<std::int64_t>&, const float*, cuda::Stream);
template std::vector<double> gather(const cuda::DeviceArray<std::int64_t>&, const double*, cuda::Stream);

template <class T>
void fill_with_nan(std::int64_t n, T* x, cuda::Stream stream) {
    BENCH_CHECK(cudaMemsetAsync(x, 0xFF, static_cast<std::size_t>(n) * sizeof(T), stream));
}

template void fill_with_nan(std::int64_t, float*, cuda::Stream);
template void fill_with_nan(std::int64_t, double*, cuda::Stream);

template <class T>
double take_max_ulp_error(std::int64_t n, T* result, const T* exact, cuda::Stream stream) {
    const auto policy = thrust::cuda::par.on(stream);
    const thrust::counting_iterator<std::int64_t> first(0);
    const double error =
        thrust::transform_reduce(policy, first, first + n, UlpError<T>{result, exact}, 0.0, ::cuda::maximum<>());
    fill_with_nan(n, result, stream);
    BENCH_CHECK(cudaStreamSynchronize(stream));
    return error;
}

template double take_max_ulp_error(std::int64_t, float*, const float*, cuda::Stream);
template double take_max_ulp_error(std::int64_t, double*, const double*, cuda::Stream);

}  // namespace solver::bench::on_cuda
