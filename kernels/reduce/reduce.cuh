#pragma once

/// The kernels of sums, dot products and norms: one pass that decides nearly all, and a second one for the rest.

#include "reduce/exact.cuh"
#include "runtime/check.cuh"
#include "runtime/pack.cuh"
#include "runtime/traits.hpp"
#include "solver/cuda/reduce.hpp"
#include "solver/partial.hpp"

#include <algorithm>
#include <cstdint>

namespace solver::cuda {

inline constexpr int reduce_threads = 256;
inline constexpr std::int64_t most_exact_blocks = 900;  // whose digits can be added
inline constexpr int most_blocks = 2048;

/// Products that one launch takes at most, and those of them that are made in one pass, as a group.
inline constexpr int most_dots = Reducer::most_dots;
inline constexpr int most_in_group = 4;

/// Blocks that a device can have at a time.
template <class Kernel>
std::int64_t resident_blocks(const Kernel& kernel, int threads, const Traits& traits) {
    int of_multiprocessor = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_multiprocessor, kernel, threads, 0),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
    return std::int64_t{of_multiprocessor} * traits.multiprocessors;
}

/// Of a kernel that reads each element once. Where there is little to add, waiting for memory and for the last block, which
/// merges the others' parts, is most of the time: threads take from 2 to 8 packs so that there are one or two blocks a
/// multiprocessor. Above that, 4 packs at least.
template <class Kernel>
unsigned blocks_of_pass(const Kernel& kernel, std::int64_t n, int pack_size, const Traits& traits) {
    const auto with_packs = [&](std::int64_t packs) { return n / (packs * pack_size * reduce_threads) + 1; };
    const std::int64_t each = traits.multiprocessors;
    const std::int64_t few = std::max(std::min(with_packs(2), each), std::min(with_packs(4), 2 * each));
    const std::int64_t wanted = with_packs(8) <= 2 * each ? few : with_packs(4);
    return static_cast<unsigned>(
        std::min({wanted, resident_blocks(kernel, reduce_threads, traits), std::int64_t{most_blocks}}));
}

template <class T>
struct Operands {
    using Value = T;

    std::int64_t n;
    const T* x;
    const T* y;  ///< of sums and norms not read
};

template <Summation A>
inline constexpr bool is_anchored = std::is_same_v<A, AnchoredTriple>;

__device__ inline int upper_word(double x) {
    const int word = __double2hiint(x) & 0x7FFFFFFF;
    return word != 0 || x == 0 ? word : 1;
}
__device__ inline int upper_word(float x) { return __float_as_int(x) & 0x7FFFFFFF; }

/// A sum that no filter judges, and the upper word of the largest magnitude in it, by which a norm may have to be scaled.
template <Summation A>
struct MeasuredSum {
    A sum;
    int largest_word = 0;

    template <class T>
    __device__ __forceinline__ void add_product(T a, T b) {
        sum.add_product(a, b);
    }
    template <class T>
    __device__ __forceinline__ void measure(T x) {
        largest_word = max(largest_word, upper_word(x));
    }
    __device__ void merge(const MeasuredSum& other) {
        sum.merge(other.sum);
        largest_word = max(largest_word, other.largest_word);
    }
};

/// What a block finds.
template <Summation A>
using Part = std::conditional_t<A::is_filter, TrackedSum<A>, MeasuredSum<A>>;

/// The least L with n < 2^L.
__device__ __forceinline__ int log2_above(std::int64_t n) { return 64 - __clzll(n); }

/// A part without terms, of a sum that will have so many.
template <class Part>
__device__ Part empty_part(std::int64_t terms) {
    if constexpr (std::is_same_v<Part, TrackedSum<AnchoredTriple>>)
        return {AnchoredTriple(log2_above(terms))};
    else if constexpr (std::is_constructible_v<Part, std::int64_t>)
        return Part(terms);
    else
        return {};
}

/// The sum over so many lanes side by side, in all of them.
template <int lanes, class Part>
__device__ void merge_warp(Part& part) {
    part = merge_lanes(part, lanes);
}
template <int lanes>
__device__ void merge_warp(TrackedSum<AnchoredTriple>& part) {
    part.sum.reach(__reduce_max_sync(0xFFFFFFFFu, part.sum.word()));
    for (int mask = lanes / 2; mask > 0; mask /= 2)
        part.sum.merge_by([&](auto value) { return __shfl_xor_sync(0xFFFFFFFFu, value, mask); });
    part.inexact = __reduce_or_sync(0xFFFFFFFFu, part.inexact);
}

/// The sum over all threads of a block, in the first threads of the first warp.
template <class Part>
__device__ Part merge_threads(Part part, Part* shared, std::int64_t n) {
    constexpr int warps = reduce_threads / warp_size;
    const int warp = static_cast<int>(threadIdx.x) / warp_size;
    const int lane = static_cast<int>(threadIdx.x) % warp_size;
    merge_warp<warp_size>(part);
    if (lane == 0) shared[warp] = part;
    __syncthreads();
    if (warp != 0) return part;
    part = lane < warps ? shared[lane] : empty_part<Part>(n);
    merge_warp<warps>(part);
    return part;
}

/// What the first pass leaves to the second.
struct Rest {
    int needed;        ///< 0 if nothing is left
    int largest_word;  ///< of |x_i|, as in Part
};

struct Counters {
    unsigned arrived[most_dots / most_in_group];
    unsigned arrived_again[most_dots];
    Rest rest[most_dots];
};

/// The exponent that upper_word tells, of subnormals too low a one, which is as good for scaling.
template <class T>
__device__ int exponent_of_word(int word) {
    return std::is_same_v<T, double> ? (word >> 20) - 1023 : (word >> 23) - 127;
}

template <Reduction reduction, class Part, class T, int count>
__device__ __forceinline__ void add_elements(Part& part, const T (&x)[count], const T (&y)[count]) {
#pragma unroll
    for (int j = 0; j < count; ++j) {
        if constexpr (reduction == Reduction::sum)
            part.sum.add(x[j]);
        else
            part.add_product(x[j], y[j]);
        if constexpr (reduction == Reduction::norm2 && requires { part.measure(x[j]); }) part.measure(x[j]);
    }
}

/// An anchored sum has to know the largest term first.
template <Reduction reduction, int count>
__device__ __forceinline__ void add_elements(TrackedSum<AnchoredTriple>& part, const double (&x)[count],
                                             const double (&y)[count]) {
    using A = AnchoredTriple;
    std::uint32_t word = 0;
    if constexpr (reduction == Reduction::sum) {
#pragma unroll
        for (int j = 0; j < count; ++j) word = max(word, A::word_of(x[j]));
        part.sum.reach(word);
#pragma unroll
        for (int j = 0; j < count; ++j) part.sum.add(x[j]);
    } else {
        A::Term term[count];
#pragma unroll
        for (int j = 0; j < count; ++j) {
            term[j] = A::product(x[j], y[j]);
            if (!product_is_exact(x[j], y[j], term[j].value)) part.inexact = 1;
            word = max(word, A::word_of(term[j].value));
        }
        part.sum.reach(word);
#pragma unroll
        for (int j = 0; j < count; ++j) part.sum.add_term(term[j]);
    }
}

/// A thread's sum as chains of bounded length, which are merged: the last digits that a long one loses grow with its length.
template <Summation A, class Parts>
class Chains {
public:
    __device__ __forceinline__ explicit Chains(std::int64_t terms)
        : terms_(terms), total_(empty_part<Parts>(terms)), chain_(empty_part<Parts>(terms)) {}

    /// What terms are added to.
    __device__ __forceinline__ Parts& chain() { return chain_; }

    /// So many terms more have been added.
    __device__ __forceinline__ void count(int terms) {
        if constexpr (is_anchored<A>) return;  // additions are exact but for the last digits
        length_ += terms;
        if (length_ < chain_length) return;
        total_.merge(chain_);
        chain_ = empty_part<Parts>(terms_);
        length_ = 0;
    }

    __device__ __forceinline__ Parts sum() {
        if constexpr (is_anchored<A>) return chain_;
        total_.merge(chain_);
        return total_;
    }

private:
    std::int64_t terms_;
    Parts total_;
    Parts chain_;
    int length_ = 0;
};

/// One thread's packs among `threads`, `unroll` at a time: add(all_inside, i) for packs i, i + threads, ..., all of them below
/// `packs` where all_inside says so.
template <int unroll, class Add>
__device__ __forceinline__ void for_each_batch(std::int64_t thread, std::int64_t threads, std::int64_t packs, const Add& add) {
    std::int64_t i = thread;
    for (; i + (unroll - 1) * threads < packs; i += unroll * threads) add(std::true_type(), i);
    if (i < packs) add(std::false_type(), i);
}

/// How many elements stand before those that can be read 16 bytes at once: all where x and y do not lie alike.
template <bool has_y, class T>
__device__ __forceinline__ std::int64_t elements_before_packs(const Operands<T>& in) {
    const auto address = reinterpret_cast<std::uintptr_t>(in.x);
    const bool packable = !has_y || (address % 16) == (reinterpret_cast<std::uintptr_t>(in.y) % 16);
    const std::int64_t head = packable ? static_cast<std::int64_t>((16 - address % 16) % 16 / sizeof(T)) : in.n;
    return head < in.n ? head : in.n;
}

/// The terms of one thread among `threads`, in chains: 16 bytes at once where x and y lie alike, else one by one.
template <Reduction reduction, Summation A, class T>
__device__ __forceinline__ Part<A> sum_of_thread(const Operands<T>& in, std::int64_t thread, std::int64_t threads) {
    constexpr int size = Pack<T>::size;
    constexpr bool has_y = reduction == Reduction::dot;
    constexpr int unroll = has_y || (is_anchored<A> && reduction == Reduction::norm2) ? 4 : 8;
    Chains<A, Part<A>> sum(in.n);
    const std::int64_t head = elements_before_packs<has_y>(in);
    const std::int64_t packs = (in.n - head) / size;
    const auto* packed_x = reinterpret_cast<const Pack<T>*>(in.x + head);
    const auto* packed_y = reinterpret_cast<const Pack<T>*>(in.y + (has_y ? head : 0));
    const auto load = [](T* to, const Pack<T>* from, bool inside) {  // zeros outside, which change no sum
        const float4 raw = inside ? __ldcs(reinterpret_cast<const float4*>(from)) : float4{};
        __builtin_memcpy(to, &raw, sizeof raw);
    };

    for_each_batch<unroll>(thread, threads, packs, [&](auto all_inside, std::int64_t i) {
        T x[unroll * size];
        T y[unroll * size];
#pragma unroll
        for (int j = 0; j < unroll; ++j) {
            const bool inside = all_inside || i + j * threads < packs;
            load(x + j * size, packed_x + i + j * threads, inside);
            if constexpr (has_y) load(y + j * size, packed_y + i + j * threads, inside);
        }
        add_elements<reduction>(sum.chain(), x, has_y ? y : x);
        sum.count(unroll * size);
    });
    const auto add_single = [&](std::int64_t k) {
        const T x[] = {in.x[k]};
        const T y[] = {has_y ? in.y[k] : in.x[k]};
        add_elements<reduction>(sum.chain(), x, y);
    };

    for (std::int64_t k = head + packs * size + thread; k < in.n; k += threads) add_single(k);
    for (std::int64_t i = thread; i < head; i += unroll * size * threads) {  // all of it where the vectors do not lie alike
#pragma unroll
        for (int j = 0; j < unroll * size; ++j)
            if (i + j * threads < head) add_single(i + j * threads);
        sum.count(unroll * size);
    }
    return sum.sum();
}

/// An exact sum of n terms, as others may be merged with it. What a lane adds to its last rest: its terms, a few more than the
/// others' at most, and what moving its sums leaves, once for each term at most (where vectors do not lie alike) and some times
/// in merges.
__device__ inline PartialSum<double> partial_sum_of(const TrackedSum<AnchoredTriple>& part, std::int64_t n) {
    const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * reduce_threads;
    constexpr int uneven = 2 * Pack<double>::size + 4;
    constexpr int moves_in_merges = 64;
    return {part.sum.total(static_cast<std::int32_t>(2 * (n / threads + uneven) + moves_in_merges)),
            part.lost(underflow_bound<double>(n))};
}

/// The result, or what is needed to get it.
template <Reduction reduction, Summation A, class T>
__device__ Rest finish(const TrackedSum<A>& part, std::int64_t n, T* result) {
    constexpr bool squares = reduction == Reduction::norm2;
    T value;
    bool proven;
    if constexpr (is_anchored<A>) {
        const PartialSum<double> total = partial_sum_of(part, n);
        proven = squares ? total.try_sqrt(value) : total.try_result(value);
    } else {
        const T bound = underflow_bound<T>(n);
        proven = squares ? part.try_sqrt(value, bound) : part.try_result(value, bound);
    }
    if (proven) *result = value;
    return {proven ? 0 : 1, 0};
}
template <Reduction reduction, Accumulator A, class T>
__device__ Rest finish(const MeasuredSum<A>& part, std::int64_t, T* result) {
    constexpr bool squares = reduction == Reduction::norm2;
    const T sum = part.sum.result();
    *result = squares ? canonical(sqrt_rn(sum)) : sum;
    constexpr int infinite = std::is_same_v<T, double> ? 0x7FF00000 : 0x7F800000;
    const bool scale = squares && !is_safe_square<A>(sum) && part.largest_word < infinite && part.largest_word != 0;
    return {scale ? 1 : 0, part.largest_word};
}

/// Puts a block's sum beside the others'. True in the block that comes last: then it is that of all, in the first warp.
template <class Part>
__device__ bool merge_blocks(Part& part, Part* parts, unsigned* arrived, Part* shared, std::int64_t n) {
    if (gridDim.x == 1) return true;
    if (threadIdx.x == 0) parts[blockIdx.x] = part;
    if (!block_comes_last(arrived, gridDim.x)) return false;
    part = empty_part<Part>(n);
    for (unsigned i = threadIdx.x; i < gridDim.x; i += reduce_threads) part.merge(load_fresh(parts + i));
    part = merge_threads(part, shared, n);
    return true;
}

template <Reduction reduction, Summation A, class T>
__global__ void __launch_bounds__(reduce_threads) reduce_all(Operands<T> in, Part<A>* parts, Counters* counters, T* result) {
    __shared__ Shared<Part<A>, reduce_threads / warp_size> warp_parts;
    wait_for_former_kernel();
    let_next_kernel_start();
    const int thread = static_cast<int>(threadIdx.x);
    Part<A> part = sum_of_thread<reduction, A>(in, static_cast<std::int64_t>(blockIdx.x) * reduce_threads + thread,
                                               static_cast<std::int64_t>(gridDim.x) * reduce_threads);
    part = merge_threads(part, warp_parts.data(), in.n);
    if (!merge_blocks(part, parts, counters->arrived, warp_parts.data(), in.n)) return;
    if (thread == 0) counters->rest[0] = finish<reduction>(part, in.n, result);
}

/// x 2^-exponent by two factors, each a normal number.
template <class T>
__device__ T scaled_down(T x, int exponent) {
    const int half = exponent / 2;
    return std::is_same_v<T, double> ? T(scalbn(scalbn(double(x), -half), -(exponent - half)))
                                     : T(scalbnf(scalbnf(float(x), -half), -(exponent - half)));
}

template <Accumulator A, class T>
__device__ void norm_of_scaled(const Operands<T>& in, int exponent, Part<A>* parts, Counters* counters, T* result) {
    __shared__ Shared<Part<A>, reduce_threads / warp_size> warp_parts;
    const std::int64_t threads = static_cast<std::int64_t>(gridDim.x) * reduce_threads;
    Part<A> total;
    Part<A> part;
    int chain = 0;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * reduce_threads + threadIdx.x; i < in.n; i += threads) {
        const T x = scaled_down(in.x[i], exponent);
        part.sum.add_product(x, x);
        if (++chain < chain_length) continue;
        total.merge(part);
        part = Part<A>();
        chain = 0;
    }
    total.merge(part);
    part = merge_threads(total, warp_parts.data(), in.n);
    if (threadIdx.x == 0) parts[blockIdx.x] = part;
    if (!block_comes_last(counters->arrived_again, gridDim.x)) return;
    part = Part<A>();
    for (unsigned i = threadIdx.x; i < gridDim.x; i += reduce_threads) part.merge(load_fresh(parts + i));
    part = merge_threads(part, warp_parts.data(), in.n);
    if (threadIdx.x == 0) *result = scaled_down(sqrt_rn(part.sum.result()), -exponent);
}

/// What threads of the second pass add up in: the digits that their terms reach, and as many warps a block as 48 KiB of shared
/// memory hold.
template <Reduction reduction, class T>
inline constexpr DigitRange digits_needed = reduction == Reduction::sum ? digits_of_sums<T> : digits_of_products<T>;
template <Reduction reduction, class T>
inline constexpr int exact_warps =
    std::min(8, 48 * 1000 / (digits_needed<reduction, T>.size() * warp_size * static_cast<int>(sizeof(std::int64_t))));
template <Reduction reduction, class T>
inline constexpr int exact_threads = exact_warps<reduction, T>* warp_size;

/// count elements i, i + step, ... of a vector, zeros beyond its end.
template <int count, class Elements>
__device__ __forceinline__ void load_elements(double (&to)[count], const Elements& from, std::int64_t i, std::int64_t step,
                                              std::int64_t n) {
#pragma unroll
    for (int j = 0; j < count; ++j) to[j] = i + j * step < n ? double{from[i + j * step]} : 0.0;
}

/// The sums of all threads, then of all blocks by the last one, whose first thread calls take(sum). `In` has n, x[i] and y[i].
template <Reduction reduction, class In, class Take>
__device__ void reduce_exactly(const In& in, ExactPart* parts, unsigned* arrived, const Take& take) {
    using T = typename In::Value;
    using Digits = BlockDigits<digits_needed<reduction, T>, exact_warps<reduction, T>>;
    __shared__ Digits digits;
    typename Digits::Sum sum = digits.thread_sum();
    constexpr int batch = 8;  // loads that overlap
    constexpr int group = 4;  // additions that do
    const std::int64_t threads = exact_threads<reduction, T>;
    const std::int64_t step = gridDim.x * threads;
    for (std::int64_t i = blockIdx.x * threads + threadIdx.x; i < in.n; i += batch * step) {
        double x[batch / group][group];
        double y[batch / group][group];
#pragma unroll
        for (int g = 0; g < batch / group; ++g) {
            load_elements(x[g], in.x, i + g * group * step, step, in.n);
            if constexpr (reduction == Reduction::dot) load_elements(y[g], in.y, i + g * group * step, step, in.n);
        }
#pragma unroll
        for (int g = 0; g < batch / group; ++g) {
            const auto& factor = reduction == Reduction::dot ? y[g] : x[g];
            if constexpr (reduction == Reduction::sum) {
                sum.add_several(x[g]);
            } else if constexpr (std::is_same_v<T, float>) {
                double product[group];
#pragma unroll
                for (int j = 0; j < group; ++j) product[j] = mul_rn(x[g][j], factor[j]);  // exact
                sum.add_several(product);
            } else {
                sum.add_several(x[g], factor);
            }
        }
    }
    digits.store_total(sum, parts[blockIdx.x]);
    if (!block_comes_last(arrived, gridDim.x)) return;
    const typename Digits::Sum all = digits.merged(parts, gridDim.x);
    if (threadIdx.x == 0) take(all);
}

/// The second pass of exact, which ends at once where the first one found the result.
template <Reduction reduction, class T>
__global__ void __launch_bounds__(exact_threads<reduction, T>)
    round_rest(Operands<T> in, ExactPart* exact_parts, Counters* counters, T* result) {
    wait_for_former_kernel();
    if (counters->rest[0].needed == 0) return;
    reduce_exactly<reduction>(in, exact_parts, counters->arrived_again, [=](const auto& sum) {
        *result = reduction == Reduction::norm2 ? sum.template sqrt_result<T>() : sum.template result<T>();
    });
}

/// The second pass of other norms, which ends at once where the first one found the result.
template <Accumulator A, class T>
__global__ void __launch_bounds__(reduce_threads) scale_rest(Operands<T> in, Part<A>* parts, Counters* counters, T* result) {
    wait_for_former_kernel();
    const Rest rest = counters->rest[0];
    if (rest.needed != 0) norm_of_scaled<A>(in, exponent_of_word<T>(rest.largest_word), parts, counters, result);
}

/// An exact sum itself.
template <Reduction reduction, class T>
__global__ void __launch_bounds__(exact_threads<reduction, T>)
    expand_all(Operands<T> in, ExactPart* exact_parts, Counters* counters, Expansion<T>* result) {
    reduce_exactly<reduction>(in, exact_parts, counters->arrived_again,
                              [=](auto sum) { *result = sum.template take_expansion<T>(); });
}

}  // namespace solver::cuda
