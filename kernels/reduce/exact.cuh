#pragma once

/// Superaccumulators in shared memory, one for each thread of a warp, which is all the block.

#include "reduce/accumulators.cuh"

namespace solver::cuda {

using ThreadSuperaccumulator = BasicSuperaccumulator<StridedDigits<warp_size>>;

/// The exact sum of a block, for another to merge.
struct ExactPart {
    std::int64_t digit[superaccumulator_digits];
    double special;
};

struct WarpDigits {
    std::int64_t digit[superaccumulator_digits * warp_size];  ///< digit k of thread j at 32 k + j

    /// A sum of the calling thread, 0 at first.
    __device__ ThreadSuperaccumulator thread_sum() {
        const StridedDigits<warp_size> own{digit + threadIdx.x};
        for (int k = 0; k < superaccumulator_digits; ++k) own[k] = 0;
        return ThreadSuperaccumulator(own);
    }

    /// What a thread has to do with thread 0's sum: digits threadIdx.x, threadIdx.x + 32, ...
    struct OwnShare {
        static constexpr int size = (superaccumulator_digits + warp_size - 1) / warp_size;
        std::int64_t value[size] = {};

        /// work(digit's number, value) for each, side by side.
        template <class Work>
        __device__ __forceinline__ void for_each(const Work& work) {
#pragma unroll
            for (int i = 0; i < size; ++i) {
                const int k = static_cast<int>(threadIdx.x) + i * warp_size;
                if (k < superaccumulator_digits) work(k, value[i]);
            }
        }
    };

    /// Makes these the digits of thread 0's sum, by all threads.
    __device__ void set_first(OwnShare& share) {
        __syncwarp();
        share.for_each([&](int k, std::int64_t value) { digit[k * warp_size] = value; });
        __syncwarp();
    }

    /// Adds all threads' sums up, in thread 0, where the result is valid and has its carries resolved.
    __device__ ThreadSuperaccumulator collected(ThreadSuperaccumulator& sum) {
        sum.resolve_carries();
        double special = sum.special();
        for (int mask = warp_size / 2; mask > 0; mask /= 2)
            special = add_rn(special, __shfl_xor_sync(0xFFFFFFFFu, special, mask));
        __syncwarp();  // a shuffle does not order what threads write to shared memory
        OwnShare share;
        for (int j = 0; j < warp_size; ++j) {  // each thread begins elsewhere, in a bank of its own
            const int column = (j + static_cast<int>(threadIdx.x)) % warp_size;
            share.for_each([&](int k, std::int64_t& total) { total += digit[k * warp_size + column]; });
        }
        set_first(share);
        ThreadSuperaccumulator all(StridedDigits<warp_size>{digit}, special);
        if (threadIdx.x == 0) all.resolve_carries();
        __syncwarp();
        return all;
    }

    /// Writes all threads' sums for another block to merge.
    __device__ void store_collected(ThreadSuperaccumulator& sum, ExactPart& part) {
        const ThreadSuperaccumulator all = collected(sum);
        const int thread = static_cast<int>(threadIdx.x);
        for (int k = thread; k < superaccumulator_digits; k += warp_size) part.digit[k] = digit[k * warp_size];
        if (thread == 0) part.special = all.special();
        __syncwarp();
    }

    /// The sum of what so many blocks have written, valid in thread 0.
    __device__ ThreadSuperaccumulator merged(const ExactPart* parts, std::int64_t count) {
        double special = 0;
        for (std::int64_t i = threadIdx.x; i < count; i += warp_size) special = add_rn(special, __ldcg(&parts[i].special));
        for (int mask = warp_size / 2; mask > 0; mask /= 2)
            special = add_rn(special, __shfl_xor_sync(0xFFFFFFFFu, special, mask));
        OwnShare share;
#pragma unroll 8
        for (std::int64_t i = 0; i < count; ++i)
            share.for_each(
                [&](int k, std::int64_t& total) { total += __ldcg(reinterpret_cast<const long long*>(&parts[i].digit[k])); });
        set_first(share);
        return ThreadSuperaccumulator(StridedDigits<warp_size>{digit}, special);
    }
};

}  // namespace solver::cuda
