#pragma once

/// Products that go to several places at once, for recursive algorithms.

#include "gemm/tiled/tiled.cuh"

namespace solver::cuda::tiled {

/// value = base + alpha sum (base may be nullptr); each target = value, or += value.
template <class S>
struct SpreadResult {
    struct Target {
        S* data;
        std::int64_t stride;
        bool add;
    };
    static constexpr int most_targets = 3;

    S alpha = 1;
    const S* base = nullptr;
    std::int64_t base_stride = 0;
    Target targets[most_targets] = {};
    int count = 0;

    void to(S* data, std::int64_t stride, bool add) { targets[count++] = {data, stride, add}; }

    template <class T>
    __device__ __forceinline__ void finish(std::int64_t row, std::int64_t column, T sum) const {
        T value = mul_rn(static_cast<T>(alpha), sum);
        if (base != nullptr) value = add_rn(value, static_cast<T>(base[row * base_stride + column]));
#pragma unroll
        for (int t = 0; t < most_targets; ++t) {
            if (t >= count) break;
            S* const at = targets[t].data + row * targets[t].stride + column;
            *at = canonical(static_cast<S>(targets[t].add ? add_rn(value, static_cast<T>(*at)) : value));
        }
    }
};

/// The fastest plain product: of doubles in double, of floats in double, too.
void multiply_and_spread(const DenseView<float>& a, const DenseView<float>& b, const SpreadResult<float>& result,
                         Stream stream);
void multiply_and_spread(const DenseView<double>& a, const DenseView<double>& b, const SpreadResult<double>& result,
                         Stream stream);

}  // namespace solver::cuda::tiled
