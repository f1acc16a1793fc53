#pragma once

/// Superaccumulators in shared memory, one for each thread of a warp, which is all the block.

#include "accumulators.cuh"

namespace solver::cuda {

using ThreadSuperaccumulator = BasicSuperaccumulator<StridedDigits<warp_size>>;

struct WarpDigits {
    std::int64_t digit[superaccumulator_digits * warp_size];  ///< digit k of thread j at 32 k + j

    /// A sum of the calling thread, 0 at first.
    __device__ ThreadSuperaccumulator thread_sum() {
        const StridedDigits<warp_size> own{digit + threadIdx.x};
        for (int k = 0; k < superaccumulator_digits; ++k) own[k] = 0;
        return ThreadSuperaccumulator(own);
    }

    /// Sets digit k of thread 0's sum to digit_of(k), by all threads.
    template <class DigitOf>
    __device__ void set_first(const DigitOf& digit_of) {
        constexpr int each = (superaccumulator_digits + warp_size - 1) / warp_size;
        const int thread = static_cast<int>(threadIdx.x);
        std::int64_t found[each];
        __syncwarp();
#pragma unroll
        for (int i = 0; i < each; ++i)
            if (thread + i * warp_size < superaccumulator_digits) found[i] = digit_of(thread + i * warp_size);
        __syncwarp();
#pragma unroll
        for (int i = 0; i < each; ++i)
            if (thread + i * warp_size < superaccumulator_digits) digit[(thread + i * warp_size) * warp_size] = found[i];
        __syncwarp();
    }

    /// Adds all threads' sums up, in thread 0, where the result is valid and has its carries resolved.
    __device__ ThreadSuperaccumulator collected(ThreadSuperaccumulator& sum) {
        sum.resolve_carries();
        double special = sum.special();
        for (int mask = warp_size / 2; mask > 0; mask /= 2)
            special = add_rn(special, __shfl_xor_sync(0xFFFFFFFFu, special, mask));
        set_first([&](int k) {
            std::int64_t total = 0;
            for (int j = 0; j < warp_size; ++j)  // each thread begins elsewhere, in a bank of its own
                total += digit[k * warp_size + (j + static_cast<int>(threadIdx.x)) % warp_size];
            return total;
        });
        ThreadSuperaccumulator all(StridedDigits<warp_size>{digit}, special);
        if (threadIdx.x == 0) all.resolve_carries();
        __syncwarp();
        return all;
    }
};

/// The exact sum of a block, for another to merge.
struct ExactPart {
    std::int64_t digit[superaccumulator_digits];
    double special;
};

}  // namespace solver::cuda
