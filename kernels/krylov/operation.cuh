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
__device__ __forceinline__ void add_products(Sink& sink, const T* x, const T* y, std::int64_t i, std::int64_t n) {
    const Pack<T> xs = load_pack(x, i, n);
    const Pack<T> ys = load_pack(y, i, n);
#pragma unroll
    for (int j = 0; j < Pack<T>::size; ++j) sink.add_product(xs.element[j], ys.element[j]);
}

/// Their squares.
template <class Sink, class T>
__device__ __forceinline__ void add_squares_of_products(Sink& sink, const T* x, const T* y, std::int64_t i, std::int64_t n) {
    const Pack<T> xs = load_pack(x, i, n);
    const Pack<T> ys = load_pack(y, i, n);
#pragma unroll
    for (int j = 0; j < Pack<T>::size; ++j) sink.add_square(0, mul_rn(xs.element[j], ys.element[j]));
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
