#pragma once

/// What the operations of all methods' steps are made of.

#include "core/krylov/updates.hpp"
#include "krylov/state.cuh"
#include "runtime/pack.cuh"

namespace solver::cuda {

/// What an operation is unless it says otherwise. Each has visit(), which hands the products of one pack of elements to a sink,
/// after updating the vectors where `update` is set, and take(), which gets the sums.
template <class S>
struct StepOperation {
    using Scalars = S;
    using Value = typename S::Value;
    using Stage = typename Steps<S>::Stage;
    static constexpr bool begins_chain = false;
    static constexpr bool decides = true;        ///< the next stage
    static constexpr Stage rest = Stage::ended;  ///< where a filter cannot certify a sum
    static constexpr int norms = 0;
    static constexpr int dots = 0;

    explicit __device__ StepOperation(const StepState<S>&) {}
};

/// The products x_i y_i of one pack, for a sink.
template <class Sink, class T>
__device__ __forceinline__ void add_products(Sink& sink, const Pack<T>& x, const Pack<T>& y) {
#pragma unroll
    for (int j = 0; j < Pack<T>::size; ++j) sink.add_product(x.element[j], y.element[j]);
}
template <class Sink, class T>
__device__ __forceinline__ void add_products(Sink& sink, const T* x, const T* y, std::int64_t i, std::int64_t n) {
    const Pack<T> xs = load_pack(x, i, n);
    add_products(sink, xs, load_pack(y, i, n));
}

/// The squares x_i^2, for a sink's norm of this number.
template <class Sink, class T>
__device__ __forceinline__ void add_squares(Sink& sink, int norm, const Pack<T>& x) {
#pragma unroll
    for (int j = 0; j < Pack<T>::size; ++j) sink.add_square(norm, x.element[j]);
}

/// The squares of the rounded products x_i y_i.
template <class Sink, class T>
__device__ __forceinline__ void add_squares_of_products(Sink& sink, int norm, const Pack<T>& x, const Pack<T>& y) {
#pragma unroll
    for (int j = 0; j < Pack<T>::size; ++j) sink.add_square(norm, mul_rn(x.element[j], y.element[j]));
}
template <class Sink, class T>
__device__ __forceinline__ void add_squares_of_products(Sink& sink, const T* x, const T* y, std::int64_t i, std::int64_t n) {
    const Pack<T> xs = load_pack(x, i, n);
    add_squares_of_products(sink, 0, xs, load_pack(y, i, n));
}

/// x + a y and x - a y.
template <class T>
__device__ __forceinline__ void add_times(Pack<T>& x, T a, const Pack<T>& y) {
#pragma unroll
    for (int j = 0; j < Pack<T>::size; ++j) x.element[j] = added(x.element[j], a, y.element[j]);
}
template <class T>
__device__ __forceinline__ void subtract_times(Pack<T>& x, T a, const Pack<T>& y) {
#pragma unroll
    for (int j = 0; j < Pack<T>::size; ++j) x.element[j] = subtracted(x.element[j], a, y.element[j]);
}

/// x_i / d_i of one pack; zeros beyond the end, as load_pack gives them, for what is added up there must not be 0 / 0.
template <class T>
__device__ __forceinline__ Pack<T> divided(Pack<T> x, const T* d, std::int64_t i, std::int64_t n) {
    const Pack<T> ds = load_pack(d, i, n);
#pragma unroll
    for (int j = 0; j < Pack<T>::size; ++j)
        x.element[j] = i * Pack<T>::size + j < n ? div_rn(x.element[j], ds.element[j]) : T(0);
    return x;
}

}  // namespace solver::cuda
