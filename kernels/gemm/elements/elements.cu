#include "gemm/elements/elements.hpp"

#include "runtime/check.cuh"
#include "spmv/rows.cuh"

#include <cmath>

namespace solver::cuda {
namespace {

constexpr int threads = 256;

template <class T>
__device__ T element_of(const DenseView<T>& a, std::int64_t i, std::int64_t j) {
    return a.data[i * a.row_stride + j * a.column_stride];
}

/// alpha sum + beta y_in where that is decided.
template <Accumulator A, class T>
__device__ bool try_store(const TrackedSum<A>& sum, const GemmTask<T>& task, std::int64_t i, std::int64_t j) {
    T& c = task.c.data[i * task.c.row_stride + j * task.c.column_stride];
    const T y_in = task.beta != T(0) ? c : T(0);
    T result;
    if (!try_affine(sum, task.alpha, task.beta, y_in, task.inner(), result)) return false;
    c = result;
    return true;
}

// A block has 16 rows and 128 columns of C, a thread 8 elements: row threadIdx.x / 16, columns threadIdx.x % 16 + 16 e.
constexpr int tile_rows = 16;
constexpr int tile_columns = 128;
constexpr int tile_inner = 16;
constexpr int elements_a_thread = tile_columns / 16;

template <class T>
struct Tile {
    T a[tile_rows][tile_inner + 1];
    T b[tile_inner][tile_columns + 1];

    /// Zeros outside. Consecutive threads read consecutive memory.
    __device__ void load(const GemmTask<T>& task, std::int64_t first_row, std::int64_t first_column, std::int64_t first_k) {
        const int thread = static_cast<int>(threadIdx.x);
        const auto load_a = [&](int i, int k) {
            const std::int64_t row = first_row + i, inner = first_k + k;
            a[i][k] = row < task.a.rows && inner < task.a.columns ? element_of(task.a, row, inner) : T(0);
        };
        if (task.a.column_stride == 1)
            load_a(thread / tile_inner, thread % tile_inner);
        else
            load_a(thread % tile_rows, thread / tile_rows);
        for (int part = 0; part < tile_inner * tile_columns / threads; ++part) {
            const int at = part * threads + thread;
            const bool along_k = task.b.row_stride == 1;
            const int k = along_k ? at % tile_inner : at / tile_columns;
            const int j = along_k ? at / tile_inner : at % tile_columns;
            const std::int64_t column = first_column + j, inner = first_k + k;
            b[k][j] = column < task.b.columns && inner < task.b.rows ? element_of(task.b, inner, column) : T(0);
        }
    }
};

template <Accumulator A, class T>
__global__ void __launch_bounds__(threads)
    filtered_tiles(const __grid_constant__ GemmTask<T> task, int chain, OpenElements open) {
    __shared__ Tile<T> tile;
    __shared__ std::uint32_t marks[tile_rows][4];
    const std::int64_t first_row = std::int64_t{blockIdx.x} * tile_rows;
    const std::int64_t first_column = std::int64_t{blockIdx.y} * tile_columns;
    const int i = static_cast<int>(threadIdx.x) / 16;
    const int lane = static_cast<int>(threadIdx.x) % 16;
    TrackedSum<A> total[elements_a_thread], sum[elements_a_thread];
    int in_chain = 0;
    for (std::int64_t first_k = 0; first_k < task.inner(); first_k += tile_inner) {
        __syncthreads();
        tile.load(task, first_row, first_column, first_k);
        __syncthreads();
        const int end = static_cast<int>(min(std::int64_t{tile_inner}, task.inner() - first_k));
        for (int k = 0; k < end; ++k) {
            const T a = tile.a[i][k];
#pragma unroll
            for (int e = 0; e < elements_a_thread; ++e) sum[e].add_product(a, tile.b[k][lane + 16 * e]);
        }
        in_chain += tile_inner;
        if (in_chain < chain) continue;
        in_chain = 0;
#pragma unroll
        for (int e = 0; e < elements_a_thread; ++e) {
            total[e].merge(sum[e]);
            sum[e] = TrackedSum<A>();
        }
    }
    if (threadIdx.x < tile_rows * 4) marks[threadIdx.x / 4][threadIdx.x % 4] = 0;
    __syncthreads();
    const std::int64_t row = first_row + i;
#pragma unroll
    for (int e = 0; e < elements_a_thread; ++e) {
        const int in_tile = lane + 16 * e;
        if (row >= task.c.rows || first_column + in_tile >= task.c.columns) continue;
        total[e].merge(sum[e]);
        if (!try_store(total[e], task, row, first_column + in_tile)) atomicOr(&marks[i][in_tile % 4], 1u << (in_tile / 4));
    }
    __syncthreads();
    const std::int64_t marked_row = first_row + threadIdx.x / 4;
    if (threadIdx.x < tile_rows * 4 && marked_row < open.rows)
        open.words[(marked_row * open.column_blocks + blockIdx.y) * 4 + threadIdx.x % 4] =
            marks[threadIdx.x / 4][threadIdx.x % 4];
}

/// What sums open elements again.
template <class T>
using OpenSum = TrackedSum<typename Escalation<T, ElementsOnGpu>::Again>;

/// Rounds alpha total + beta c_ij, by a warp all of whose lanes have the total.
template <class T>
__device__ __noinline__ void finish_element(const OpenSum<T>& total, const GemmTask<T>& task, std::int64_t i, std::int64_t j) {
    const LaneGroup group(warp_size);
    T& c = task.c.data[i * task.c.row_stride + j * task.c.column_stride];
    const T y_in = task.beta != T(0) ? c : T(0);
    T result;
    if (!try_affine(total, task.alpha, task.beta, y_in, task.inner(), result)) {
        const auto for_each = [&](const auto& visit) {
            for (std::int64_t k = group.lane; k < task.inner(); k += warp_size)
                visit(double{element_of(task.a, i, k)}, double{element_of(task.b, k, j)});
        };
        result = round_digitwise(for_each, task.alpha, task.beta, double{y_in}, group);
    }
    __syncwarp();
    if (group.lane == 0) c = result;
}

/// The calling thread's share of sum_k a_ik b_kj: products first, first + step, ...
template <class T>
__device__ OpenSum<T> share_of_element(const GemmTask<T>& task, std::int64_t i, std::int64_t j, int first, int step) {
    OpenSum<T> total;
    const std::int64_t chunk = std::int64_t{step} * chain_length;
    for (std::int64_t begin = 0; begin < task.inner(); begin += chunk) {
        OpenSum<T> sum;
        const std::int64_t end = min(begin + chunk, task.inner());
#pragma unroll 16
        for (std::int64_t k = begin + first; k < end; k += step)
            sum.add_product(double{element_of(task.a, i, k)}, double{element_of(task.b, k, j)});
        total.merge(sum);
    }
    return total;
}

struct Element {
    std::int64_t row;
    std::int64_t column;

    /// Of a mark: word 32 + bit.
    __device__ Element(const OpenElements& open, std::int64_t mark) {
        const std::int64_t word = mark / 32;
        row = word / 4 / open.column_blocks;
        column = word / 4 % open.column_blocks * 128 + word % 4 + 4 * (mark % 32);
    }
};

/// RN(alpha sum_k a_ik b_kj + beta c_ij) by a warp.
template <class T>
__device__ void round_marked(const GemmTask<T>& task, const OpenElements& open, std::int64_t mark) {
    const Element at(open, mark);
    const auto share = share_of_element(task, at.row, at.column, static_cast<int>(threadIdx.x) % warp_size, warp_size);
    finish_element(merge_lanes(share, warp_size), task, at.row, at.column);
}

/// RN(alpha sum_k a_ik b_kj + beta c_ij) by a block, once in a kernel.
template <class T>
__device__ void round_marked_by_block(const GemmTask<T>& task, const OpenElements& open, std::int64_t mark) {
    __shared__ Shared<OpenSum<T>, threads / warp_size> of_warps;
    const Element at(open, mark);
    const auto share = share_of_element(task, at.row, at.column, static_cast<int>(threadIdx.x), threads);
    const auto total = merge_block(share, of_warps.data());
    if (threadIdx.x < warp_size) finish_element(total, task, at.row, at.column);
}

/// Counts the marks, and lists them as long as the list has room: word 32 + bit.
__global__ void __launch_bounds__(threads) list_open(OpenElements open, OpenList list) {
    const std::int64_t words = open.rows * open.column_blocks * 4;
    for (std::int64_t word = std::int64_t{blockIdx.x} * threads + threadIdx.x; word < words;
         word += std::int64_t{gridDim.x} * threads) {
        std::uint32_t marks = open.words[word];
        if (marks == 0) continue;
        unsigned long long place = atomicAdd(list.count, static_cast<unsigned long long>(__popc(marks)));
        for (; marks != 0; marks &= marks - 1, ++place)
            if (place < OpenList::room) list.places[place] = word * 32 + __ffs(static_cast<int>(marks)) - 1;
    }
}

/// A block an element where these are few, else a warp an element of the list or, where that had too little room, of each
/// word. Adds their number to *total.
template <class T>
__global__ void __launch_bounds__(threads)
    round_open(const __grid_constant__ GemmTask<T> task, OpenElements open, OpenList list, unsigned long long* total) {
    const std::int64_t warp = (std::int64_t{blockIdx.x} * threads + threadIdx.x) / warp_size;
    const std::int64_t warps = std::int64_t{gridDim.x} * threads / warp_size;
    const auto count = static_cast<std::int64_t>(*list.count);
    if (blockIdx.x == 0 && threadIdx.x == 0) *total += *list.count;
    if (count <= gridDim.x) {
        if (blockIdx.x < count) round_marked_by_block(task, open, list.places[blockIdx.x]);
    } else if (count <= OpenList::room) {
        for (std::int64_t at = warp; at < count; at += warps) round_marked(task, open, list.places[at]);
    } else {
        const std::int64_t words = open.rows * open.column_blocks * 4;
        for (std::int64_t word = warp; word < words; word += warps)
            for (std::uint32_t marks = open.words[word]; marks != 0; marks &= marks - 1)
                round_marked(task, open, word * 32 + __ffs(static_cast<int>(marks)) - 1);
    }
}

__global__ void mark_all_elements(OpenElements open, std::int64_t columns) {
    const std::int64_t words = open.rows * open.column_blocks * 4;
    for (std::int64_t word = std::int64_t{blockIdx.x} * threads + threadIdx.x; word < words;
         word += std::int64_t{gridDim.x} * threads) {
        const std::int64_t left = columns - (word / 4 % open.column_blocks * 128 + word % 4);
        const std::int64_t bits = min(std::int64_t{32}, max(std::int64_t{0}, (left + 3) / 4));
        open.words[word] = bits == 32 ? ~0u : (1u << bits) - 1;
    }
}

template <class T>
__global__ void scale_elements(const __grid_constant__ GemmTask<T> task) {
    const std::int64_t elements = task.c.rows * task.c.columns;
    for (std::int64_t e = std::int64_t{blockIdx.x} * threads + threadIdx.x; e < elements;
         e += std::int64_t{gridDim.x} * threads) {
        T& c = task.c.data[e / task.c.columns * task.c.row_stride + e % task.c.columns * task.c.column_stride];
        c = task.beta == T(0) ? T(0) : canonical(mul_rn(task.beta, c));
    }
}

unsigned grid_for(std::int64_t size) {
    return static_cast<unsigned>(std::min<std::int64_t>((size + threads - 1) / threads, 4096));
}

}  // namespace

template <class T>
void multiply_filtered(const GemmTask<T>& task, Accuracy accuracy, const OpenElements& open, Stream stream) {
    const dim3 grid(static_cast<unsigned>((task.c.rows + tile_rows - 1) / tile_rows),
                    static_cast<unsigned>(open.column_blocks));
    // A chain of L and inner / L merges of two additions each are fewest for L = sqrt(2 inner).
    const int chain = std::max(64, static_cast<int>(std::sqrt(2.0 * static_cast<double>(task.inner()))));
    const auto launch = [&](auto accumulator) {
        filtered_tiles<typename decltype(accumulator)::type, T><<<grid, threads, 0, stream>>>(task, chain, open);
        check_launch("filtered_tiles");
    };
    if (accuracy == Accuracy::exact)
        launch(AccumulatorOf<T, Accuracy::exact, ElementsOnGpu>());
    else
        launch(AccumulatorOf<T, Accuracy::compensated, ElementsOnGpu>());
}

template <class T>
void multiply_open(const GemmTask<T>& task, const OpenElements& open, const OpenList& list, unsigned long long* total,
                   int multiprocessors, Stream stream) {
    check(cudaMemsetAsync(list.count, 0, sizeof(*list.count), stream), "cudaMemsetAsync", "a count");
    list_open<<<grid_for(open.rows * open.column_blocks * 4), threads, 0, stream>>>(open, list);
    check_launch("list_open");
    round_open<T><<<static_cast<unsigned>(4 * multiprocessors), threads, 0, stream>>>(task, open, list, total);
    check_launch("round_open");
}

void mark_all(const OpenElements& open, std::int64_t columns, Stream stream) {
    mark_all_elements<<<grid_for(open.rows * open.column_blocks * 4), threads, 0, stream>>>(open, columns);
    check_launch("mark_all_elements");
}

template <class T>
void scale_matrix(const GemmTask<T>& task, Stream stream) {
    scale_elements<T><<<grid_for(task.c.rows * task.c.columns), threads, 0, stream>>>(task);
    check_launch("scale_elements");
}

template void multiply_filtered(const GemmTask<float>&, Accuracy, const OpenElements&, Stream);
template void multiply_filtered(const GemmTask<double>&, Accuracy, const OpenElements&, Stream);
template void multiply_open(const GemmTask<float>&, const OpenElements&, const OpenList&, unsigned long long*, int, Stream);
template void multiply_open(const GemmTask<double>&, const OpenElements&, const OpenList&, unsigned long long*, int, Stream);
template void scale_matrix(const GemmTask<float>&, Stream);
template void scale_matrix(const GemmTask<double>&, Stream);

}  // namespace solver::cuda
