#pragma once

/// The kernels of several dot products by one launch.

#include "reduce/reduce.cuh"

namespace solver::cuda {

/// (x_q, y_q) for q < count; a vector may occur several times.
template <class T, int count>
struct SeveralDots {
    std::int64_t n;
    const T* x[count];
    const T* y[count];
};

/// (x_q, y_q) for q < products, which are made by groups; of the last one, where that is wanted, the root.
template <class T>
struct ManyDots {
    std::int64_t n;
    int products;
    bool root_of_last;
    const T* x[most_dots];
    const T* y[most_dots];

    __device__ bool wants_root(int q) const { return root_of_last && q == products - 1; }

    /// Those from `first` on; the last one again where there are fewer.
    template <int count>
    __device__ SeveralDots<T, count> group(int first) const {
        SeveralDots<T, count> some{n, {}, {}};
#pragma unroll
        for (int q = 0; q < count; ++q) {
            const int product = min(first + q, products - 1);
            some.x[q] = x[product];
            some.y[q] = y[product];
        }
        return some;
    }
};

/// What a block finds of each.
template <Summation A, int count>
struct SeveralParts {
    Part<A> part[count];

    __device__ explicit SeveralParts(std::int64_t terms) : SeveralParts(terms, std::make_integer_sequence<int, count>()) {}

    __device__ void merge(const SeveralParts& other) {
#pragma unroll
        for (int q = 0; q < count; ++q) part[q].merge(other.part[q]);
    }

private:
    template <int... q>
    __device__ SeveralParts(std::int64_t terms, std::integer_sequence<int, q...>)
        : part{(static_cast<void>(q), empty_part<Part<A>>(terms))...} {}
};

template <int lanes, Summation A, int count>
__device__ void merge_warp(SeveralParts<A, count>& parts) {
#pragma unroll
    for (int q = 0; q < count; ++q) merge_warp<lanes>(parts.part[q]);
}

/// Elements before the first at a multiple of 16 bytes, the same for all vectors; all n where they do not lie alike.
template <class T, int count>
__device__ std::int64_t elements_before_packs(const SeveralDots<T, count>& in) {
    const auto offset = [](const T* x) { return reinterpret_cast<std::uintptr_t>(x) % 16; };
    bool alike = true;
#pragma unroll
    for (int q = 0; q < count; ++q) alike = alike && offset(in.x[q]) == offset(in.x[0]) && offset(in.y[q]) == offset(in.x[0]);
    const auto before = static_cast<std::int64_t>((16 - offset(in.x[0])) % 16 / sizeof(T));
    return alike && before < in.n ? before : in.n;
}

/// 16 bytes at once; zeros outside, which change no sum.
template <class T>
__device__ __forceinline__ void load_pack_to(T* to, const T* from, bool inside) {
    const float4 raw = inside ? *reinterpret_cast<const float4*>(from) : float4{};
    __builtin_memcpy(to, &raw, sizeof raw);
}

/// The terms of one thread among `threads`, in chains. What several products read of a vector is in the first cache when the
/// second one asks for it.
template <Summation A, class T, int count>
__device__ __forceinline__ SeveralParts<A, count> sums_of_thread(const SeveralDots<T, count>& in, std::int64_t thread,
                                                                 std::int64_t threads) {
    constexpr int size = Pack<T>::size;
    constexpr int unroll = 4;
    Chains<A, SeveralParts<A, count>> sums(in.n);
    const std::int64_t head = elements_before_packs(in);
    const std::int64_t packs = (in.n - head) / size;
    for_each_batch<unroll>(thread, threads, packs, [&](auto all_inside, std::int64_t i) {
#pragma unroll
        for (int q = 0; q < count; ++q) {
            T x[unroll * size];
            T y[unroll * size];
#pragma unroll
            for (int j = 0; j < unroll; ++j) {
                const bool inside = all_inside || i + j * threads < packs;
                const std::int64_t at = head + (i + j * threads) * size;
                load_pack_to(x + j * size, in.x[q] + at, inside);
                load_pack_to(y + j * size, in.y[q] + at, inside);
            }
            add_elements<Reduction::dot>(sums.chain().part[q], x, y);
        }
        sums.count(unroll * size);
    });
    const auto add_single = [&](std::int64_t k) {
#pragma unroll
        for (int q = 0; q < count; ++q) {
            const T x[] = {in.x[q][k]};
            const T y[] = {in.y[q][k]};
            add_elements<Reduction::dot>(sums.chain().part[q], x, y);
        }
        sums.count(1);
    };
    for (std::int64_t k = thread; k < in.n - packs * size; k += threads) add_single(k < head ? k : k + packs * size);
    return sums.sum();
}

/// Groups of `count` products, group g by the blocks (., g).
template <Summation A, class T, int count>
__global__ void __launch_bounds__(reduce_threads, 2)
    dots_all(ManyDots<T> in, SeveralParts<A, count>* parts, Counters* counters, T* results) {
    using Parts = SeveralParts<A, count>;
    __shared__ Shared<Parts, reduce_threads / warp_size> warp_parts;
    wait_for_former_kernel();
    let_next_kernel_start();
    const auto group = static_cast<int>(blockIdx.y);
    const int first = group * count;
    Parts part =
        sums_of_thread<A>(in.template group<count>(first), static_cast<std::int64_t>(blockIdx.x) * reduce_threads + threadIdx.x,
                          static_cast<std::int64_t>(gridDim.x) * reduce_threads);
    part = merge_threads(part, warp_parts.data(), in.n);
    Parts* const parts_of_group = parts + static_cast<std::int64_t>(group) * gridDim.x;
    if (!merge_blocks(part, parts_of_group, counters->arrived + group, warp_parts.data(), in.n) || threadIdx.x != 0) return;
#pragma unroll
    for (int q = 0; q < count; ++q) {
        const int product = first + q;
        if (product < in.products)
            counters->rest[product] = in.wants_root(product) ? finish<Reduction::norm2>(part.part[q], in.n, results + product)
                                                             : finish<Reduction::dot>(part.part[q], in.n, results + product);
    }
}

/// What the filter left open; product q by the blocks (., q).
template <class T>
__global__ void __launch_bounds__(exact_threads<Reduction::dot, T>)
    dots_rest(ManyDots<T> in, ExactPart* exact_parts, Counters* counters, T* results) {
    wait_for_former_kernel();
    const auto q = static_cast<int>(blockIdx.y);
    if (counters->rest[q].needed == 0) return;
    reduce_exactly<Reduction::dot>(
        Operands<T>{in.n, in.x[q], in.y[q]}, exact_parts + q * gridDim.x, counters->arrived_again + q,
        [=](const auto& sum) { results[q] = in.wants_root(q) ? sum.template sqrt_result<T>() : sum.template result<T>(); });
}

}  // namespace solver::cuda
