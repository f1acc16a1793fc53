/// Residue products with the matrix instructions of compute capability 9.0.

#include "check.cuh"
#include "gemm_integer.cuh"
#include "hopper.cuh"

#include <algorithm>
#include <string>

namespace solver::cuda {
namespace {

constexpr int tile_rows = 128;
constexpr int tile_columns = 256;
constexpr int tile_inner = 128;
constexpr int stages = 4;
constexpr int tile_band = 4;  ///< pairs of tiles, one below the other, worked on at a time
constexpr int cluster = 2;    ///< blocks that share tiles of B
constexpr int a_bytes = tile_rows * tile_inner;
constexpr int b_bytes = tile_columns * tile_inner;
constexpr int stage_bytes = a_bytes + b_bytes;
constexpr int consumers = 2;  ///< groups of four warps, 64 rows each
constexpr int threads = consumers * 128 + 32;
constexpr int shared_bytes = stages * stage_bytes + 1024;

/// Counts stages in a circle; the parity says which round.
struct Position {
    std::uint32_t stage = 0;
    std::uint32_t parity = 0;
    __device__ void advance() {
        if (++stage == stages) {
            stage = 0;
            parity ^= 1;
        }
    }
};

struct Barriers {
    std::uint64_t full[stages];
    std::uint64_t empty[stages];
};

/// What a cluster works on: a pair of tiles, one below the other, of one modulus.
struct Work {
    int modulus;
    int row;     ///< of elements, this block's
    int column;  ///< of elements
};

struct Schedule {
    std::int64_t pair_rows, columns, pairs, total;
    __device__ explicit Schedule(const ResidueProduct& product) {
        pair_rows = (product.rows / tile_rows + cluster - 1) / cluster;
        columns = product.columns / tile_columns;
        pairs = pair_rows * columns;
        total = pairs * product.count;
    }
    __device__ Work work(std::int64_t number, int rank) const {
        const std::int64_t modulus = number / pairs;
        const TilePlace place = tile_place(number - modulus * pairs, pair_rows, columns, tile_band);
        return {static_cast<int>(modulus), static_cast<int>(place.row * cluster + rank) * tile_rows,
                static_cast<int>(place.column) * tile_columns};
    }
};

__device__ void produce(const CUtensorMap& map_a, const CUtensorMap& map_b, const ResidueProduct& product,
                        const Schedule& schedule, std::uint32_t memory, Barriers& barriers, int rank) {
    Position at;
    const int steps = static_cast<int>(product.inner / tile_inner);
    for (std::int64_t number = blockIdx.x / cluster; number < schedule.total; number += gridDim.x / cluster) {
        const Work work = schedule.work(number, rank);
        const int row = work.modulus * static_cast<int>(product.rows) + work.row;
        const int group = (work.modulus * static_cast<int>(product.columns) + work.column) / 64 + rank * (4 / cluster);
        for (int step = 0; step < steps; ++step) {
            const std::uint32_t full = hopper::shared_address(&barriers.full[at.stage]);
            const std::uint32_t stage = memory + at.stage * stage_bytes;
            hopper::wait_for(hopper::shared_address(&barriers.empty[at.stage]), at.parity ^ 1);
            hopper::arrive_and_expect(full, stage_bytes);
            hopper::copy_box(stage, map_a, step * tile_inner, row, full);
            hopper::copy_box_to_blocks(stage + a_bytes + rank * (b_bytes / cluster), map_b, step * tile_inner, 0, 0, 0, group,
                                       full, (1 << cluster) - 1);
            at.advance();
        }
    }
}

__device__ void store_residues(const std::int32_t (&sums)[128], const Remainder& remainder, std::uint8_t* y,
                               std::int64_t columns) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int group = 0; group < 4; ++group) {
            const auto word = [&](int w) {
                const int first = (group * 8 + w * 2) * 4 + half * 2;
                return pack_bytes(remainder(sums[first]), remainder(sums[first + 1]), remainder(sums[first + 4]),
                                  remainder(sums[first + 5]));
            };
            *reinterpret_cast<uint4*>(y + (half * 8 + lane / 4) * columns + group * 64 + lane % 4 * 16) =
                make_uint4(word(0), word(1), word(2), word(3));
        }
}

__device__ void consume(const ResidueProduct& product, const Schedule& schedule, std::uint32_t memory, Barriers& barriers,
                        int rank) {
    Position at;
    const int group = static_cast<int>(threadIdx.x) / 128;
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int steps = static_cast<int>(product.inner / tile_inner);
    const auto release = [&](std::uint32_t stage) {
        if (lane < cluster) hopper::arrive_at(hopper::shared_address(&barriers.empty[stage]), lane);
    };
    for (std::int64_t number = blockIdx.x / cluster; number < schedule.total; number += gridDim.x / cluster) {
        const Work work = schedule.work(number, rank);
        std::int32_t sums[128];
        std::uint32_t former = 0;
        for (int step = 0; step < steps; ++step) {
            hopper::wait_for(hopper::shared_address(&barriers.full[at.stage]), at.parity);
            const std::uint32_t stage = memory + at.stage * stage_bytes;
            const std::uint64_t a = hopper::describe_matrix(stage + group * (64 * tile_inner));
            const std::uint64_t b = hopper::describe_matrix(stage + a_bytes);
            hopper::begin_products();
#pragma unroll
            for (int k = 0; k < tile_inner / 32; ++k) hopper::multiply_add_64x256(sums, a + k * 2, b + k * 2, (step | k) != 0);
            hopper::commit_products();
            hopper::wait_for_products<1>();
            if (step > 0) release(former);
            former = at.stage;
            at.advance();
        }
        hopper::wait_for_products<0>();
        release(former);
        if (work.row < product.rows) {
            const std::int64_t row = work.modulus * product.rows + work.row + group * 64 + warp * 16;
            store_residues(sums, Remainder(product.moduli[work.modulus].p), product.y + row * product.columns + work.column,
                           product.columns);
        }
    }
}

__global__ void __launch_bounds__(threads, 1)
    residues_by_hopper(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                       const __grid_constant__ ResidueProduct product) {
    extern __shared__ std::uint8_t raw[];
    __shared__ Barriers barriers;
    const std::uint32_t memory = (hopper::shared_address(raw) + 1023) & ~1023u;
    const int rank = static_cast<int>(hopper::rank_in_cluster());
    if (threadIdx.x == 0) {
        for (int i = 0; i < stages; ++i) {
            hopper::create_barrier(hopper::shared_address(&barriers.full[i]), 1);
            hopper::create_barrier(hopper::shared_address(&barriers.empty[i]), consumers * 4 * cluster);
        }
        hopper::publish_barriers();
    }
    hopper::synchronize_cluster();
    const Schedule schedule(product);
    if (threadIdx.x >= consumers * 128) {
        if (threadIdx.x % 32 == 0) produce(map_a, map_b, product, schedule, memory, barriers, rank);
        __syncwarp();
    } else {
        consume(product, schedule, memory, barriers, rank);
    }
    hopper::synchronize_cluster();
}

using Encode = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*, const cuuint64_t*,
                            const cuuint32_t*, const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

Encode encoder() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
          "cudaGetDriverEntryPointByVersion", "cuTensorMapEncodeTiled");
#else
    check(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &found), "cudaGetDriverEntryPoint",
          "cuTensorMapEncodeTiled");
#endif
    if (function == nullptr || found != cudaDriverEntryPointSuccess)
        throw CudaError("the driver has no cuTensorMapEncodeTiled; residue products need a driver for CUDA 12 or later");
    return reinterpret_cast<Encode>(function);
}

template <int rank>
CUtensorMap tensor_map(const void* data, const cuuint64_t (&sizes)[rank], const cuuint64_t (&strides)[rank - 1],
                       const cuuint32_t (&box)[rank]) {
    static const Encode encode = encoder();
    cuuint32_t ones[rank];
    std::fill_n(ones, rank, 1u);
    CUtensorMap map;
    const CUresult status = encode(&map, CU_TENSOR_MAP_DATA_TYPE_UINT8, rank, const_cast<void*>(data), sizes, strides, box,
                                   ones, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS)
        throw CudaError("cuTensorMapEncodeTiled for a residue product: error " + std::to_string(static_cast<int>(status)));
    return map;
}

}  // namespace

bool has_hopper_residues(int device) {
    int major = 0;
    int minor = 0;
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "cudaDeviceGetAttribute");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "cudaDeviceGetAttribute");
    return major == 9 && minor == 0;
}

void multiply_residues_hopper(const ResidueProduct& product, int device, Stream stream) {
    const std::int64_t pairs =
        (product.rows / tile_rows + cluster - 1) / cluster * (product.columns / tile_columns) * product.count;
    if (pairs == 0) return;
    const CurrentDevice current(device);
    const auto inner = static_cast<cuuint64_t>(product.inner);
    const auto rows = static_cast<cuuint64_t>(product.rows * product.count);
    const auto columns = static_cast<cuuint64_t>(product.columns * product.count);
    const CUtensorMap map_a = tensor_map<2>(product.a, {inner, rows}, {inner}, {tile_inner, tile_rows});
    const CUtensorMap map_b = tensor_map<5>(product.b, {inner, 2, 4, 8, columns / 64},
                                            {inner, 16 * inner, 2 * inner, 64 * inner}, {tile_inner, 2, 4, 8, 4 / cluster});
    int processors = 0;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
    check(cudaFuncSetAttribute(residues_by_hopper, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes),
          "cudaFuncSetAttribute");
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(std::min<std::int64_t>(pairs, std::max(1, processors / cluster)) * cluster));
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    check(cudaLaunchKernelEx(&config, residues_by_hopper, map_a, map_b, product), "launch", "residues_by_hopper");
}

}  // namespace solver::cuda
