#include "vectors.hpp"

#include "core/krylov/updates.hpp"
#include "runtime/check.cuh"

#include <algorithm>
#include <array>
#include <vector>

namespace solver::cuda {
namespace {

constexpr int vector_threads = 256;

template <class Update>
__global__ void update_elements(std::int64_t n, Update update) {
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * vector_threads + threadIdx.x; i < n;
         i += static_cast<std::int64_t>(gridDim.x) * vector_threads)
        update(i);
}

/// update(i) for every element.
template <class T, class Update>
void for_each_element(const DeviceArray<T>& out, Stream stream, const char* name, const Update& update) {
    if (out.size() == 0) return;
    const CurrentDevice current(out.device());
    constexpr std::int64_t most_blocks = 1 << 16;
    const auto blocks = static_cast<unsigned>(std::min((out.size() + vector_threads - 1) / vector_threads, most_blocks));
    update_elements<<<blocks, vector_threads, 0, stream>>>(out.size(), update);
    check_launch(name);
}

}  // namespace

template <class T>
void copy(const DeviceArray<T>& x, const DeviceArray<T>& out, Stream stream) {
    if (x.size() == 0) return;
    const CurrentDevice current(x.device());
    check(cudaMemcpyAsync(out.data(), x.data(), static_cast<std::size_t>(x.bytes()), cudaMemcpyDeviceToDevice, stream),
          "cudaMemcpyAsync", "a copy of a vector");
}

template <class T>
void fill_random(std::uint64_t seed, const DeviceArray<T>& out, Stream stream) {
    for_each_element(out, stream, "fill_random",
                     [=, to = out.data()] __device__(std::int64_t i) { to[i] = random_element<T>(seed, i); });
}

template <class T>
void multiply_elements(const DeviceArray<T>& x, const DeviceArray<T>& y, const DeviceArray<T>& out, Stream stream) {
    for_each_element(
        out, stream, "multiply_elements",
        [xs = x.data(), ys = y.data(), to = out.data()] __device__(std::int64_t i) { to[i] = mul_rn(xs[i], ys[i]); });
}

template <class From, class To>
void scale(double factor, const DeviceArray<From>& x, const DeviceArray<To>& out, Stream stream) {
    for_each_element(out, stream, "scale",
                     [scale = static_cast<From>(factor), xs = x.data(), to = out.data()] __device__(std::int64_t i) {
                         to[i] = static_cast<To>(mul_rn(scale, xs[i]));
                     });
}

template <class Value, class Wide>
void add_scaled(double factor, const DeviceArray<Value>& z, const DeviceArray<Wide>& x, Stream stream) {
    for_each_element(x, stream, "add_scaled",
                     [scale = static_cast<Wide>(factor), zs = z.data(), to = x.data()] __device__(std::int64_t i) {
                         to[i] = added(to[i], scale, static_cast<Wide>(zs[i]));
                     });
}

template <class T>
void add_scaled_to_pair(double factor, const DeviceArray<T>& z, const DeviceArray<T>& x, const DeviceArray<T>& low,
                        Stream stream) {
    for_each_element(
        x, stream, "add_scaled_to_pair",
        [scale = static_cast<T>(factor), zs = z.data(), to = x.data(), lows = low.data()] __device__(std::int64_t i) {
            const Split<T> pair = added_to_pair(to[i], lows[i], mul_rn(scale, zs[i]));
            to[i] = pair.value;
            lows[i] = pair.error;
        });
}

template <class T>
void scale_and_add(T a, const DeviceArray<T>& x, const DeviceArray<T>& out, Stream stream) {
    for_each_element(out, stream, "scale_and_add",
                     [=, xs = x.data(), to = out.data()] __device__(std::int64_t i) { to[i] = added(xs[i], a, to[i]); });
}

template <class T>
void make_direction(const DeviceArray<T>& x, T a, T b, const DeviceArray<T>& y, const DeviceArray<T>& out, Stream stream) {
    for_each_element(out, stream, "make_direction",
                     [=, xs = x.data(), ys = y.data(), to = out.data()] __device__(std::int64_t i) {
                         to[i] = solver::direction(xs[i], a, to[i], b, ys[i]);
                     });
}

template <class T>
void add_combination(std::span<const T> a, std::span<const T* const> x, const DeviceArray<T>& out, Stream stream) {
    constexpr std::size_t most = 8;
    for (std::size_t first = 0; first < a.size(); first += most) {
        const auto count = std::min(most, a.size() - first);
        std::array<T, most> factors{};
        std::array<const T*, most> vectors{};
        std::ranges::copy(a.subspan(first, count), factors.begin());
        std::ranges::copy(x.subspan(first, count), vectors.begin());
        for_each_element(out, stream, "add_combination", [=, to = out.data()] __device__(std::int64_t i) {
            T sum = to[i];
            for (std::size_t k = 0; k < count; ++k) sum = added(sum, factors[k], vectors[k][i]);
            to[i] = sum;
        });
    }
}

template <class T>
void turn(const DeviceArray<T>& x, const DeviceArray<T>& out, Stream stream) {
    for_each_element(out, stream, "turn",
                     [xs = x.data(), to = out.data()] __device__(std::int64_t i) { to[i] = turned(xs, i); });
}

std::int64_t free_bytes(int device) {
    const CurrentDevice current(device);
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return static_cast<std::int64_t>(free);
}

template <class T>
T norm2(Reducer& reducer, const DeviceArray<T>& x, Accuracy accuracy, const DeviceArray<double>& place, Stream stream) {
    auto* const result = reinterpret_cast<T*>(place.data());
    reducer.reduce(Reduction::norm2, x.size(), x.data(), x.data(), accuracy, result, stream);
    T norm = 0;
    detail::copy_to_host(x.device(), &norm, result, sizeof(T), stream);
    return norm;
}

template <class T>
void dots(Reducer& reducer, std::span<const T* const> x, const DeviceArray<T>& y, Accuracy accuracy,
          const DeviceArray<double>& places, std::span<double> to, Stream stream) {
    auto* const results = reinterpret_cast<T*>(places.data());
    for (std::size_t first = 0; first < x.size(); first += Reducer::most_dots) {
        std::vector<Factors<T>> factors;
        for (const T* vector : x.subspan(first, std::min<std::size_t>(Reducer::most_dots, x.size() - first)))
            factors.push_back({vector, y.data()});
        reducer.dots(y.size(), factors, accuracy, results + first, stream);
    }
    std::vector<T> values(x.size());
    detail::copy_to_host(y.device(), values.data(), results, static_cast<std::int64_t>(values.size() * sizeof(T)), stream);
    std::ranges::copy(values, to.begin());
}

template void copy(const DeviceArray<float>&, const DeviceArray<float>&, Stream);
template void copy(const DeviceArray<double>&, const DeviceArray<double>&, Stream);
template void fill_random(std::uint64_t, const DeviceArray<float>&, Stream);
template void fill_random(std::uint64_t, const DeviceArray<double>&, Stream);
template void multiply_elements(const DeviceArray<float>&, const DeviceArray<float>&, const DeviceArray<float>&, Stream);
template void multiply_elements(const DeviceArray<double>&, const DeviceArray<double>&, const DeviceArray<double>&, Stream);
template void scale(double, const DeviceArray<float>&, const DeviceArray<float>&, Stream);
template void scale(double, const DeviceArray<double>&, const DeviceArray<double>&, Stream);
template void scale(double, const DeviceArray<double>&, const DeviceArray<float>&, Stream);
template void add_scaled(double, const DeviceArray<float>&, const DeviceArray<float>&, Stream);
template void add_scaled(double, const DeviceArray<double>&, const DeviceArray<double>&, Stream);
template void add_scaled(double, const DeviceArray<float>&, const DeviceArray<double>&, Stream);
template void add_scaled_to_pair(double, const DeviceArray<float>&, const DeviceArray<float>&, const DeviceArray<float>&,
                                 Stream);
template void add_scaled_to_pair(double, const DeviceArray<double>&, const DeviceArray<double>&, const DeviceArray<double>&,
                                 Stream);
template void scale_and_add(float, const DeviceArray<float>&, const DeviceArray<float>&, Stream);
template void scale_and_add(double, const DeviceArray<double>&, const DeviceArray<double>&, Stream);
template void make_direction(const DeviceArray<float>&, float, float, const DeviceArray<float>&, const DeviceArray<float>&,
                             Stream);
template void make_direction(const DeviceArray<double>&, double, double, const DeviceArray<double>&, const DeviceArray<double>&,
                             Stream);
template void add_combination(std::span<const float>, std::span<const float* const>, const DeviceArray<float>&, Stream);
template void add_combination(std::span<const double>, std::span<const double* const>, const DeviceArray<double>&, Stream);
template void turn(const DeviceArray<float>&, const DeviceArray<float>&, Stream);
template void turn(const DeviceArray<double>&, const DeviceArray<double>&, Stream);
template void dots(Reducer&, std::span<const float* const>, const DeviceArray<float>&, Accuracy, const DeviceArray<double>&,
                   std::span<double>, Stream);
template void dots(Reducer&, std::span<const double* const>, const DeviceArray<double>&, Accuracy, const DeviceArray<double>&,
                   std::span<double>, Stream);
template float norm2(Reducer&, const DeviceArray<float>&, Accuracy, const DeviceArray<double>&, Stream);
template double norm2(Reducer&, const DeviceArray<double>&, Accuracy, const DeviceArray<double>&, Stream);

}  // namespace solver::cuda
