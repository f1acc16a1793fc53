#pragma once

/// The kernels of sums and dot products of complex numbers. The two parts of a result are real sums over the same memory, made
/// in one pass; what their filters leave open is summed again, each part for itself.

#include "reduce/dots.cuh"

namespace solver::cuda {

/// Two vectors of n complex numbers, whose real and imaginary parts take turns.
template <class T>
struct ComplexOperands {
    std::int64_t n;
    const T* x;
    const T* y;  ///< of sums not read
    bool conjugates_x;
};

/// Terms of each part of a result: of a dot product two for each number.
template <Reduction reduction>
__host__ __device__ constexpr std::int64_t terms_of_part(std::int64_t n) {
    return reduction == Reduction::dot ? 2 * n : n;
}

/// Element i of x times element i of this are the terms of a part of the result: (re, -im), (im, re), (re, im), (im, -re) of y
/// for x^T y and x^H y.
template <class T>
struct Partners {
    const T* y;
    bool imaginary;
    bool conjugates_x;

    __device__ __forceinline__ T operator[](std::int64_t i) const {
        const T value = y[i ^ (imaginary ? 1 : 0)];
        return (i & 1) != 0 && imaginary == conjugates_x ? -value : value;
    }
};

/// One part of each number.
template <class T>
struct EverySecond {
    const T* first;

    __device__ __forceinline__ T operator[](std::int64_t i) const { return first[2 * i]; }
};

/// A part of a result as a real reduction.
template <Reduction reduction, class T>
struct PartOperands {
    using Value = T;

    std::int64_t n;
    std::conditional_t<reduction == Reduction::dot, const T*, EverySecond<T>> x;
    Partners<T> y;

    __device__ PartOperands(const ComplexOperands<T>& in, int part)
        : n(terms_of_part<reduction>(in.n)),
          x{reduction == Reduction::dot ? in.x : in.x + part},
          y{in.y, part == 1, in.conjugates_x} {}
};

/// Numbers before the first at a multiple of 16 bytes; all n where there is none, or x and y do not lie alike.
template <bool has_y, class T>
__device__ __forceinline__ std::int64_t numbers_before_packs(const ComplexOperands<T>& in) {
    const auto offset = reinterpret_cast<std::uintptr_t>(in.x) % 16;
    const bool packable = offset % (2 * sizeof(T)) == 0 && (!has_y || reinterpret_cast<std::uintptr_t>(in.y) % 16 == offset);
    const std::int64_t head = packable ? static_cast<std::int64_t>((16 - offset) % 16 / (2 * sizeof(T))) : in.n;
    return head < in.n ? head : in.n;
}

/// Adds what `count` / 2 numbers contribute to both parts.
template <Reduction reduction, Summation A, class T, int count>
__device__ __forceinline__ void add_numbers(SeveralParts<A, 2>& parts, const T (&x)[count], const T (&y)[count],
                                            bool conjugates_x) {
#pragma unroll
    for (int q = 0; q < 2; ++q) {
        if constexpr (reduction == Reduction::dot) {
            T partner[count];
#pragma unroll
            for (int j = 0; j < count; ++j) partner[j] = Partners<T>{y, q == 1, conjugates_x}[j];
            add_elements<reduction>(parts.part[q], x, partner);
        } else {
            T part[count / 2];
#pragma unroll
            for (int j = 0; j < count / 2; ++j) part[j] = x[2 * j + q];
            add_elements<reduction>(parts.part[q], part, part);
        }
    }
}

/// The terms of one thread among `threads`, in chains: 16 bytes at once where x and y lie alike, else number by number.
template <Reduction reduction, Summation A, class T>
__device__ __forceinline__ SeveralParts<A, 2> both_sums_of_thread(const ComplexOperands<T>& in, std::int64_t thread,
                                                                  std::int64_t threads) {
    constexpr bool has_y = reduction == Reduction::dot;
    constexpr int size = Pack<T>::size;
    constexpr int unroll = has_y ? 4 : 8;
    const std::int64_t terms = terms_of_part<reduction>(in.n);
    Chains<A, SeveralParts<A, 2>> sums(terms);
    const auto add = [&](const auto& x, const auto& y, int numbers) {
        add_numbers<reduction>(sums.chain(), x, y, in.conjugates_x);
        sums.count(static_cast<int>(terms_of_part<reduction>(numbers)));
    };
    const std::int64_t head = numbers_before_packs<has_y>(in);
    const std::int64_t packs = (in.n - head) / (size / 2);
    for_each_batch<unroll>(thread, threads, packs, [&](auto all_inside, std::int64_t i) {
        T x[unroll * size];
        T y[unroll * size];
#pragma unroll
        for (int j = 0; j < unroll; ++j) {
            const bool inside = all_inside || i + j * threads < packs;
            const std::int64_t at = 2 * head + (i + j * threads) * size;
            load_pack_to(x + j * size, in.x + at, inside);
            if constexpr (has_y) load_pack_to(y + j * size, in.y + at, inside);
        }
        add(x, has_y ? y : x, unroll * size / 2);
    });
    const auto add_single = [&](std::int64_t k) {
        const T x[] = {in.x[2 * k], in.x[2 * k + 1]};
        const T y[] = {has_y ? in.y[2 * k] : x[0], has_y ? in.y[2 * k + 1] : x[1]};
        add(x, y, 1);
    };
    const std::int64_t in_packs = packs * (size / 2);
    for (std::int64_t k = thread; k < in.n - in_packs; k += threads) add_single(k < head ? k : k + in_packs);
    return sums.sum();
}

/// Two blocks a multiprocessor at least, as the kernel of several dot products has them.
template <Reduction reduction, Summation A, class T>
__global__ void __launch_bounds__(reduce_threads, 2)
    reduce_numbers(ComplexOperands<T> in, SeveralParts<A, 2>* parts, Counters* counters, T* result) {
    using Parts = SeveralParts<A, 2>;
    __shared__ Shared<Parts, reduce_threads / warp_size> warp_parts;
    wait_for_former_kernel();
    let_next_kernel_start();
    const std::int64_t terms = terms_of_part<reduction>(in.n);
    Parts part = both_sums_of_thread<reduction, A>(in, static_cast<std::int64_t>(blockIdx.x) * reduce_threads + threadIdx.x,
                                                   static_cast<std::int64_t>(gridDim.x) * reduce_threads);
    part = merge_threads(part, warp_parts.data(), terms);
    if (!merge_blocks(part, parts, counters->arrived, warp_parts.data(), terms) || threadIdx.x != 0) return;
#pragma unroll
    for (int q = 0; q < 2; ++q) counters->rest[q] = finish<reduction>(part.part[q], terms, result + q);
}

/// What the filters left open; part q by the blocks (., q).
template <Reduction reduction, class T>
__global__ void __launch_bounds__(exact_threads<reduction, T>)
    round_parts(ComplexOperands<T> in, ExactPart* exact_parts, Counters* counters, T* result) {
    wait_for_former_kernel();
    const auto q = static_cast<int>(blockIdx.y);
    if (counters->rest[q].needed == 0) return;
    reduce_exactly<reduction>(PartOperands<reduction, T>(in, q), exact_parts + q * gridDim.x, counters->arrived_again + q,
                              [=](const auto& sum) { result[q] = sum.template result<T>(); });
}

/// Exact sums themselves; part q by the blocks (., q).
template <Reduction reduction, class T>
__global__ void __launch_bounds__(exact_threads<reduction, T>)
    expand_parts(ComplexOperands<T> in, ExactPart* exact_parts, Counters* counters, ComplexExpansion<T>* result) {
    wait_for_former_kernel();
    const auto q = static_cast<int>(blockIdx.y);
    Expansion<T>* const to = q == 0 ? &result->re : &result->im;
    reduce_exactly<reduction>(PartOperands<reduction, T>(in, q), exact_parts + q * gridDim.x, counters->arrived_again + q,
                              [=](auto sum) { *to = sum.template take_expansion<T>(); });
}

}  // namespace solver::cuda
