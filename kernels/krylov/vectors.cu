#include "vectors.hpp"

#include "core/krylov/updates.hpp"
#include "runtime/check.cuh"
#include "runtime/pack.cuh"
#include "runtime/workspace.cuh"

#include <algorithm>
#include <cstdint>
#include <type_traits>
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

/// update(i) for every i < n.
template <class Update>
void for_each_index(std::int64_t n, int device, Stream stream, const char* name, const Update& update) {
    if (n == 0) return;
    const CurrentDevice current(device);
    constexpr std::int64_t most_blocks = 1 << 16;
    const auto blocks = static_cast<unsigned>(std::min((n + vector_threads - 1) / vector_threads, most_blocks));
    update_elements<<<blocks, vector_threads, 0, stream>>>(n, update);
    check_launch(name);
}

/// update(i) for every element.
template <class T, class Update>
void for_each_element(const DeviceArray<T>& out, Stream stream, const char* name, const Update& update) {
    for_each_index(out.size(), out.device(), stream, name, update);
}

/// Terms of a combination that one launch takes.
constexpr std::size_t most_terms = 32;

/// Of vectors of complex numbers, whose parts take turns.
template <class T>
struct ComplexFactor {
    T re;
    T im;
};

template <class Factor>
struct GivenFactors {
    Factor a[most_terms];

    __device__ Factor operator()(int k) const { return a[k]; }
};

/// Of numbers on the device.
template <class T>
struct NegativeFactors {
    const T* a;

    __device__ T operator()(int k) const { return -a[k]; }
};

/// sum + a x
template <class T, int width>
__device__ __forceinline__ void add_term(T (&sum)[width], T a, const T (&x)[width]) {
#pragma unroll
    for (int j = 0; j < width; ++j) sum[j] = added(sum[j], a, x[j]);
}

/// (sum + Re a x) + Im a (i x), without the second addition where Im a is 0, as ComplexSteps says.
template <class T, int width>
__device__ __forceinline__ void add_term(T (&sum)[width], ComplexFactor<T> a, const T (&x)[width]) {
    add_term(sum, a.re, x);
    if (a.im == T(0)) return;
#pragma unroll
    for (int j = 0; j < width; ++j) sum[j] = added(sum[j], a.im, turned(x, j));
}

/// out = ((out + a_0 x_0) + a_1 x_1) + ..., index by index as many elements as 16 bytes have.
template <class T, class FactorOf>
struct AddTerms {
    std::int64_t n;
    T* out;
    int count;
    const T* x[most_terms];
    FactorOf factor_of;
    bool packed;  ///< whether all vectors begin at multiples of 16 bytes

    static constexpr int size = Pack<T>::size;
    static constexpr int elements_of_number = sizeof(std::invoke_result_t<FactorOf, int>) / sizeof(T);

    __device__ void operator()(std::int64_t i) const {
        const std::int64_t first = i * size;
        if (packed && first + size <= n) return add_to<size, sizeof(Pack<T>)>(first);
        for (std::int64_t k = first; k < first + size && k < n; k += elements_of_number)
            add_to<elements_of_number, sizeof(T)>(k);
    }

private:
    template <int width, int alignment>
    struct alignas(alignment) Elements {
        T element[width];
    };

    template <int width, int alignment>
    __device__ __forceinline__ void add_to(std::int64_t first) const {
        using Some = Elements<width, alignment>;
        Some sum = *reinterpret_cast<const Some*>(out + first);
#pragma unroll 8  // so that so many loads overlap
        for (int k = 0; k < count; ++k) {
            const Some term = *reinterpret_cast<const Some*>(x[k] + first);
            add_term(sum.element, factor_of(k), term.element);
        }
        *reinterpret_cast<Some*>(out + first) = sum;
    }
};

template <class T>
bool begins_packed(const T* x) {
    return reinterpret_cast<std::uintptr_t>(x) % sizeof(Pack<T>) == 0;
}

/// At most most_terms of them.
template <class T, class FactorOf>
void add_terms(const FactorOf& factor_of, std::span<const T* const> x, const DeviceArray<T>& out, Stream stream) {
    const bool packed = begins_packed(out.data()) && std::ranges::all_of(x, begins_packed<T>);
    AddTerms<T, FactorOf> add{out.size(), out.data(), static_cast<int>(x.size()), {}, factor_of, packed};
    std::ranges::copy(x, add.x);
    const std::int64_t packs = (out.size() + Pack<T>::size - 1) / Pack<T>::size;
    for_each_index(packs, out.device(), stream, "add_terms", add);
}

/// work(first, count) for every most_terms of so many terms.
template <class Work>
void for_each_launch(std::size_t terms, const Work& work) {
    for (std::size_t first = 0; first < terms; first += most_terms) work(first, std::min(most_terms, terms - first));
}

/// Puts the dot products of x_k and y to results[k] and, where it is wanted, the norm of y after them.
template <class T>
void launch_dots(Reducer& reducer, std::span<const T* const> x, const DeviceArray<T>& y, bool with_norm, Accuracy accuracy,
                 T* results, Stream stream) {
    constexpr std::size_t most = Reducer::most_dots;
    const std::size_t all = x.size() + (with_norm ? 1 : 0);
    for (std::size_t first = 0; first < all; first += most) {
        const bool norm_is_here = with_norm && all - first <= most;
        const std::size_t end = norm_is_here ? x.size() : std::min(first + most, x.size());
        std::vector<Factors<T>> factors;
        for (const T* vector : x.subspan(first, end - first)) factors.push_back({vector, y.data()});
        if (norm_is_here)
            reducer.dots_and_norm2(y.size(), factors, y.data(), accuracy, results + first, stream);
        else
            reducer.dots(y.size(), factors, accuracy, results + first, stream);
    }
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

template <class T>
void scale_without_rounding(T factor, const DeviceArray<T>& x, const DeviceArray<T>& out,
                            const DeviceArray<std::int32_t>& has_lost, Stream stream) {
    has_lost.fill_with_zeros(stream);
    for_each_element(x, stream, "scale_without_rounding",
                     [=, xs = x.data(), to = out.data(), flag = has_lost.data()] __device__(std::int64_t i) {
                         to[i] = mul_rn(factor, xs[i]);
                         if (!is_exact_multiple(xs[i], to[i])) *flag = 1;
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
    for_each_launch(a.size(), [&](std::size_t first, std::size_t count) {
        GivenFactors<T> factors{};
        std::ranges::copy(a.subspan(first, count), factors.a);
        add_terms(factors, x.subspan(first, count), out, stream);
    });
}

template <class T>
void add_combination(std::span<const std::complex<T>> a, std::span<const T* const> x, const DeviceArray<T>& out,
                     Stream stream) {
    for_each_launch(a.size(), [&](std::size_t first, std::size_t count) {
        GivenFactors<ComplexFactor<T>> factors{};
        std::ranges::transform(a.subspan(first, count), factors.a, [](std::complex<T> factor) {
            return ComplexFactor<T>{factor.real(), factor.imag()};
        });
        add_terms(factors, x.subspan(first, count), out, stream);
    });
}

template <class T>
void finish_product(const RowTask<T>& task, std::int64_t rows, int device, Stream stream) {
    for_each_index(rows, device, stream, "finish_product", [task] __device__(std::int64_t i) {
        task.y[i] = added(mul_rn(task.beta, task.y_in[i]), task.alpha, task.y[i]);
    });
}

template <class T>
void turn(const DeviceArray<T>& x, const DeviceArray<T>& out, Stream stream) {
    for_each_element(out, stream, "turn",
                     [xs = x.data(), to = out.data()] __device__(std::int64_t i) { to[i] = turned(xs, i); });
}

template <class T>
void conjugate(const DeviceArray<T>& x, const DeviceArray<T>& out, Stream stream) {
    for_each_element(out, stream, "conjugate",
                     [xs = x.data(), to = out.data()] __device__(std::int64_t i) { to[i] = conjugated(xs, i); });
}

template <class T>
T norm2(Reducer& reducer, const DeviceArray<T>& x, Accuracy accuracy, const DeviceArray<double>& place, Stream stream) {
    auto* const result = reinterpret_cast<T*>(place.data());
    reducer.reduce(Reduction::norm2, x.size(), x.data(), x.data(), accuracy, result, stream);
    return copy_to_host(x.device(), result, 1, stream)[0];
}

template <class T>
void dots(Reducer& reducer, std::span<const T* const> x, const DeviceArray<T>& y, Accuracy accuracy,
          const DeviceArray<double>& places, std::span<double> to, Stream stream) {
    auto* const results = reinterpret_cast<T*>(places.data());
    launch_dots(reducer, x, y, false, accuracy, results, stream);
    std::ranges::copy(copy_to_host(y.device(), results, std::ssize(x), stream), to.begin());
}

template <class T>
void subtract_projections(Reducer& reducer, std::span<const T* const> x, const DeviceArray<T>& y, Accuracy accuracy, T* numbers,
                          Stream stream) {
    T* const h = numbers + 1;
    launch_dots(reducer, x, y, true, accuracy, h, stream);
    for_each_launch(x.size(), [&](std::size_t first, std::size_t count) {
        add_terms(NegativeFactors<T>{h + first}, x.subspan(first, count), y, stream);
    });
    reducer.reduce(Reduction::norm2, y.size(), y.data(), nullptr, accuracy, numbers, stream);
}

template <class T>
void normalise(const DeviceArray<T>& x, std::span<const T> numbers, T* copies, const DeviceArray<T>& out, Stream stream) {
    const std::int64_t n = out.size();
    const std::int64_t count = std::ssize(numbers);
    for_each_index(std::max(n, count), out.device(), stream, "normalise",
                   [=, from = numbers.data(), xs = x.data(), to = out.data()] __device__(std::int64_t i) {
                       if (i < count) copies[i] = from[i];
                       if (i < n) to[i] = mul_rn(static_cast<T>(div_rn(1.0, double{from[0]})), xs[i]);
                   });
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
template void scale_without_rounding(float, const DeviceArray<float>&, const DeviceArray<float>&,
                                     const DeviceArray<std::int32_t>&, Stream);
template void scale_without_rounding(double, const DeviceArray<double>&, const DeviceArray<double>&,
                                     const DeviceArray<std::int32_t>&, Stream);
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
template void add_combination(std::span<const std::complex<float>>, std::span<const float* const>, const DeviceArray<float>&,
                              Stream);
template void add_combination(std::span<const std::complex<double>>, std::span<const double* const>, const DeviceArray<double>&,
                              Stream);
template void finish_product(const RowTask<float>&, std::int64_t, int, Stream);
template void finish_product(const RowTask<double>&, std::int64_t, int, Stream);
template void turn(const DeviceArray<float>&, const DeviceArray<float>&, Stream);
template void turn(const DeviceArray<double>&, const DeviceArray<double>&, Stream);
template void conjugate(const DeviceArray<float>&, const DeviceArray<float>&, Stream);
template void conjugate(const DeviceArray<double>&, const DeviceArray<double>&, Stream);
template void dots(Reducer&, std::span<const float* const>, const DeviceArray<float>&, Accuracy, const DeviceArray<double>&,
                   std::span<double>, Stream);
template void dots(Reducer&, std::span<const double* const>, const DeviceArray<double>&, Accuracy, const DeviceArray<double>&,
                   std::span<double>, Stream);
template void subtract_projections(Reducer&, std::span<const float* const>, const DeviceArray<float>&, Accuracy, float*,
                                   Stream);
template void subtract_projections(Reducer&, std::span<const double* const>, const DeviceArray<double>&, Accuracy, double*,
                                   Stream);
template void normalise(const DeviceArray<float>&, std::span<const float>, float*, const DeviceArray<float>&, Stream);
template void normalise(const DeviceArray<double>&, std::span<const double>, double*, const DeviceArray<double>&, Stream);
template float norm2(Reducer&, const DeviceArray<float>&, Accuracy, const DeviceArray<double>&, Stream);
template double norm2(Reducer&, const DeviceArray<double>&, Accuracy, const DeviceArray<double>&, Stream);

}  // namespace solver::cuda
