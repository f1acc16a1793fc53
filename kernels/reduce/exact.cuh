#pragma once

/// Superaccumulators in shared memory, one for each thread of a block.

#include "reduce/accumulators.cuh"

namespace solver::cuda {

/// The exact sum of a block, for another to merge.
struct ExactPart {
    std::int64_t digit[superaccumulator_digits];
    double special;
};

/// Digits in shared memory, every 32nd number one. Zeros, whose exponent is the lowest, ask for digits below the range, to add
/// nothing to them: they are given the first. (Generic addresses on purpose: told by __builtin_assume(__isShared(first)) where
/// they are, the compiler makes sums a tenth faster, and dot products half as fast.)
template <DigitRange its_range>
struct SharedDigits {
    static constexpr DigitRange range = its_range;

    __host__ __device__ std::int64_t& operator[](int k) const {
        constexpr bool has_the_digit_of_zeros = range.first <= digits_of_sums<double>.first;
        const int place = has_the_digit_of_zeros || k > range.first ? k - range.first : 0;
        return first[place * warp_size];
    }
    std::int64_t* first;
};

/// Digits in `range` of all threads of so many warps: the fewer digits, the more threads of a multiprocessor have a sum.
template <DigitRange range, int warps = 1>
struct BlockDigits {
    using Sum = BasicSuperaccumulator<SharedDigits<range>>;

    std::int64_t digit[warps][range.size() * warp_size];  ///< digit k of lane j at 32 (k - first) + j
    double special[warps];

    /// A sum of the calling thread, 0 at first.
    __device__ Sum thread_sum() {
        const SharedDigits<range> own{own_digits() + lane()};
        for (int k = range.first; k < range.end; ++k) own[k] = 0;
        return Sum(own);
    }

    /// Writes the sum of all threads' sums for another block to merge.
    __device__ void store_total(Sum& sum, ExactPart& part) {
        Share share;
        const double all_special = add_warps(share, add_lanes(share, sum));
        if (warp() != 0) return;
        share.resolve_carries();
        share.for_each([&](int k, std::int64_t value) { part.digit[k] = value; });
        if (threadIdx.x == 0) part.special = all_special;
    }

    /// The sum of what so many blocks have written, valid in thread 0.
    __device__ Sum merged(const ExactPart* parts, std::int64_t count) {
        double own_special = 0;
        for (std::int64_t i = threadIdx.x; i < count; i += warps * warp_size)
            own_special = add_rn(own_special, __ldcg(&parts[i].special));
        Share share;
#pragma unroll 8
        for (std::int64_t i = warp(); i < count; i += warps)
            share.for_each(
                [&](int k, std::int64_t& total) { total += __ldcg(reinterpret_cast<const long long*>(&parts[i].digit[k])); });
        const double all_special = add_warps(share, over_lanes(own_special));
        if (warp() == 0) share.for_each([&](int k, std::int64_t value) { digit[0][(k - range.first) * warp_size] = value; });
        __syncwarp();
        return Sum(SharedDigits<range>{digit[0]}, all_special);
    }

private:
    /// The digits that a lane adds up, first + lane, first + lane + 32, ...
    struct Share {
        static constexpr int size = (range.size() + warp_size - 1) / warp_size;
        std::int64_t value[size] = {};

        /// work(digit's number, value) for each, side by side.
        template <class Work>
        __device__ __forceinline__ void for_each(const Work& work) {
#pragma unroll
            for (int i = 0; i < size; ++i) {
                const int k = range.first + lane() + i * warp_size;
                if (k < range.end) work(k, value[i]);
            }
        }

        /// As BasicSuperaccumulator::resolve_carries, by all lanes.
        __device__ void resolve_carries() {
            constexpr int bits = superaccumulator_digit_bits;
            std::int64_t from_last_lane = 0;
#pragma unroll
            for (int i = 0; i < size; ++i) {
                const bool is_top = range.first + lane() + i * warp_size + 1 >= range.end;
                const std::int64_t up = is_top ? 0 : (value[i] + (std::int64_t{1} << (bits - 1))) >> bits;
                const std::int64_t from_below = __shfl_up_sync(0xFFFFFFFFu, up, 1);
                value[i] += (lane() == 0 ? from_last_lane : from_below) - up * (std::int64_t{1} << bits);
                from_last_lane = __shfl_sync(0xFFFFFFFFu, up, warp_size - 1);
            }
        }
    };

    __device__ static int lane() { return static_cast<int>(threadIdx.x) % warp_size; }
    __device__ static int warp() { return static_cast<int>(threadIdx.x) / warp_size; }
    __device__ std::int64_t* own_digits() { return digit[warp()]; }

    __device__ static double over_lanes(double x) {
        for (int mask = warp_size / 2; mask > 0; mask /= 2) x = add_rn(x, __shfl_xor_sync(0xFFFFFFFFu, x, mask));
        return x;
    }

    /// Adds the sums of the warp's threads to the share, below 2^57 each digit, and returns what is special.
    __device__ double add_lanes(Share& share, Sum& sum) {
        sum.resolve_carries();
        const double its_special = over_lanes(sum.special());
        __syncwarp();                          // a shuffle does not order what threads write to shared memory
        for (int j = 0; j < warp_size; ++j) {  // each thread begins elsewhere, in a bank of its own
            const int column = (j + lane()) % warp_size;
            share.for_each([&](int k, std::int64_t& total) { total += own_digits()[(k - range.first) * warp_size + column]; });
        }
        __syncwarp();
        return its_special;
    }

    /// Adds the other warps' shares to that of the first one, and returns what is special.
    __device__ double add_warps(Share& share, double its_special) {
        if constexpr (warps == 1) return its_special;
        share.for_each([&](int k, std::int64_t value) { own_digits()[k - range.first] = value; });
        if (lane() == 0) special[warp()] = its_special;
        __syncthreads();
        for (int other = 1; other < warps && warp() == 0; ++other) {
            share.for_each([&](int k, std::int64_t& total) { total += digit[other][k - range.first]; });
            its_special = add_rn(its_special, special[other]);
        }
        __syncthreads();
        return its_special;
    }
};

}  // namespace solver::cuda
