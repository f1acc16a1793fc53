/// Residue products with the matrix instructions of compute capability 9.0.
///
/// One block a multiprocessor goes through tiles of 128 x 256 elements. One of its threads lets the copy engine fill stages of
/// shared memory, 128 bytes of each row, and two groups of four warps multiply what is there, 64 x 256 sums in registers each.
/// Two blocks, a cluster, work on tiles one below the other and share what they read of B. See docs/cuda.md for measurements.

#include "gemm/residue/integer.cuh"
#include "runtime/check.cuh"
#include "runtime/hopper.cuh"

#include <algorithm>
#include <string>

namespace solver::cuda {
namespace {

constexpr int tile_rows = 128;
constexpr int tile_columns = 256;
constexpr int tile_inner = 128;
constexpr int a_bytes = tile_rows * tile_inner;
constexpr int b_bytes = tile_columns * tile_inner;
constexpr int stage_bytes = a_bytes + b_bytes;
constexpr int stages = 4;
constexpr int cluster = 2;             ///< blocks that share tiles of B
constexpr int tile_band = 8;           ///< pairs of tiles, one below the other, worked on at a time
constexpr int exchanged_rows = 64;     ///< of B, see map_of_b
constexpr int consumer_threads = 256;  ///< 2 x 4 warps of 64 rows each
constexpr int threads = consumer_threads + 32;
constexpr int steps_at_once = products_at_once / tile_inner;
constexpr int alignment = 1024;  ///< of matrices with exchanged pieces
constexpr int shared_bytes = stages * stage_bytes + alignment;
constexpr int most_remainders = 64;  ///< kept at hand: of so many moduli at a time

/// A place among the stages, and the parity of the round through them.
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

/// A tile of one of the products.
struct Tile {
    int modulus;
    int row;     ///< of elements
    int column;  ///< of elements
};

/// The tiles of a block: every so many pairs, one modulus after another. A cluster works on a pair, one tile below the other;
/// where rows are an odd number of tiles, the last lower ones are beyond the matrix.
class Tiles {
public:
    __device__ Tiles(const ResidueProduct& product, int rank)
        : pair_rows_(static_cast<int>((product.rows / tile_rows + cluster - 1) / cluster)),
          columns_(static_cast<int>(product.columns / tile_columns)),
          all_(pair_rows_ * columns_ * product.count),
          next_(static_cast<int>(blockIdx.x) / cluster),
          rank_(rank) {}

    __device__ bool left() const { return next_ < all_; }

    __device__ Tile take() {
        const int modulus = next_ / (pair_rows_ * columns_);
        const TilePlace place = tile_place(next_ - modulus * pair_rows_ * columns_, pair_rows_, columns_, tile_band);
        next_ += static_cast<int>(gridDim.x) / cluster;
        return {modulus, (place.row * cluster + rank_) * tile_rows, place.column * tile_columns};
    }

private:
    int pair_rows_;
    int columns_;
    int all_;
    int next_;
    int rank_;
};

/// What lies in shared memory beside the stages.
struct Shared {
    std::uint64_t full[stages];   ///< barriers: the tiles of a stage are there
    std::uint64_t empty[stages];  ///< barriers: no block of the cluster reads a stage any more
    Remainder remainders[most_remainders];
};

/// One thread: fills stages, the block's rows of A and its share of the rows of B, which goes to all blocks of the cluster.
/// Every other tile goes through the inner dimension backwards and so begins with what the level-2 cache saw last: a quarter
/// less is read from memory.
__device__ void produce(const CUtensorMap& map_a, const CUtensorMap& map_b, const ResidueProduct& product, Tiles tiles,
                        std::uint32_t memory, Shared& shared, int rank) {
    constexpr int share = tile_columns / cluster;
    const int steps = static_cast<int>(product.inner / tile_inner);
    Position at;
    for (bool backwards = false; tiles.left(); backwards = !backwards) {
        const Tile tile = tiles.take();
        const int row = tile.modulus * static_cast<int>(product.rows) + tile.row;
        const int group = (tile.modulus * static_cast<int>(product.columns) + tile.column + rank * share) / exchanged_rows;
        for (int step = 0; step < steps; ++step) {
            const int k = (backwards ? steps - 1 - step : step) * tile_inner;
            const std::uint32_t full = hopper::shared_address(&shared.full[at.stage]);
            const std::uint32_t a = memory + at.stage * stage_bytes;
            const std::uint32_t b = a + a_bytes + rank * (share * tile_inner);
            hopper::wait_for(hopper::shared_address(&shared.empty[at.stage]), at.parity ^ 1);
            hopper::arrive_and_expect(full, stage_bytes);
            hopper::copy_box(a, map_a, k, row, full);
            hopper::copy_box_to_blocks(b, map_b, k, 0, 0, 0, group, full, (1 << cluster) - 1);
            at.advance();
        }
    }
}

__device__ void reduce(std::int32_t (&sums)[128], const Remainder& remainder) {
#pragma unroll
    for (std::int32_t& sum : sums) sum = static_cast<std::int32_t>(remainder(sum));
}

/// A warp's 16 x 256 sums of multiply_add_64x256, as bytes. Since rows of B are exchanged, a lane's columns of each 64 are 16
/// neighbours.
__device__ void store_residues(const std::int32_t (&sums)[128], const Remainder& remainder, std::uint8_t* y,
                               std::int64_t columns) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
        for (int group = 0; group < tile_columns / exchanged_rows; ++group) {
            const auto four = [&](int i) {
                const int first = group * 32 + i * 8 + half * 2;
                return pack_bytes(remainder(sums[first]), remainder(sums[first + 1]), remainder(sums[first + 4]),
                                  remainder(sums[first + 5]));
            };
            *reinterpret_cast<uint4*>(y + (half * 8 + lane / 4) * columns + group * exchanged_rows + lane % 4 * 16) =
                make_uint4(four(0), four(1), four(2), four(3));
        }
}

/// Four warps: 64 rows of each tile; in_parts: more products than 32-bit sums hold. The loop over parts would take 3 % of the
/// speed.
template <bool in_parts>
__device__ void consume(const ResidueProduct& product, Tiles tiles, std::uint32_t memory, Shared& shared) {
    const int first_row = static_cast<int>(threadIdx.x) / 128 * 64;
    const int warp = static_cast<int>(threadIdx.x) / 32 % 4;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int steps = static_cast<int>(product.inner / tile_inner);
    Position at;
    const auto release = [&](std::uint32_t stage) {
        if (lane < cluster) hopper::arrive_at(hopper::shared_address(&shared.empty[stage]), lane);
    };
    while (tiles.left()) {
        const Tile tile = tiles.take();
        std::int32_t sums[128];
        for (int begin = 0, end = steps; begin < steps; begin = end) {
            if constexpr (in_parts) {
                if (begin > 0) reduce(sums, shared.remainders[tile.modulus]);
                end = min(begin + steps_at_once, steps);
            }
            std::uint32_t former = 0;
            for (int step = begin; step < end; ++step) {
                const std::uint32_t stage = memory + at.stage * stage_bytes;
                const std::uint64_t a = hopper::describe_matrix(stage + first_row * tile_inner);
                const std::uint64_t b = hopper::describe_matrix(stage + a_bytes);
                hopper::wait_for(hopper::shared_address(&shared.full[at.stage]), at.parity);
                hopper::begin_products();
#pragma unroll
                for (int k = 0; k < tile_inner / 32; ++k)
                    hopper::multiply_add_64x256(sums, a + k * 2, b + k * 2, (step | k) != 0);
                hopper::commit_products();
                hopper::wait_for_products<1>();
                if (step > begin) release(former);
                former = at.stage;
                at.advance();
            }
            hopper::wait_for_products<0>();
            release(former);
        }
        if (tile.row >= product.rows) continue;
        const std::int64_t row = tile.modulus * product.rows + tile.row + first_row + warp * 16;
        store_residues(sums, shared.remainders[tile.modulus], product.y + row * product.columns + tile.column, product.columns);
    }
}

template <bool in_parts>
__global__ void __launch_bounds__(threads, 1)
    residues_by_hopper(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                       const __grid_constant__ ResidueProduct product) {
    extern __shared__ std::uint8_t dynamic[];
    __shared__ Shared shared;
    const std::uint32_t memory = (hopper::shared_address(dynamic) + alignment - 1) / alignment * alignment;
    const int rank = static_cast<int>(hopper::rank_in_cluster());
    if (threadIdx.x == 0) {
        for (int i = 0; i < stages; ++i) {
            hopper::create_barrier(hopper::shared_address(&shared.full[i]), 1);
            hopper::create_barrier(hopper::shared_address(&shared.empty[i]), consumer_threads / 32 * cluster);
        }
        hopper::publish_barriers();
    }
    if (threadIdx.x < product.count) shared.remainders[threadIdx.x] = Remainder(product.moduli[threadIdx.x]);
    hopper::synchronize_cluster();
    const Tiles tiles(product, rank);
    if (threadIdx.x < consumer_threads) {
        consume<in_parts>(product, tiles, memory, shared);
    } else {
        if (threadIdx.x == consumer_threads) produce(map_a, map_b, product, tiles, memory, shared, rank);
        __syncwarp();
    }
    hopper::synchronize_cluster();  // nobody leaves while others copy to its memory or arrive at its barriers
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

/// The matrix instruction gives a lane t of four columns 8 j + 2 t + {0, 1} of the product. Within each 64 rows of B, row
/// 16 t + 2 j + {0, 1} comes to this place, so that the columns of a lane, over 8 j, are 16 neighbours, stored at once.
CUtensorMap map_of_b(const ResidueProduct& product) {
    const auto inner = static_cast<cuuint64_t>(product.inner);
    const auto groups = static_cast<cuuint64_t>(product.columns * product.count / exchanged_rows);
    return tensor_map<5>(product.b, {inner, 2, 4, 8, groups}, {inner, 16 * inner, 2 * inner, exchanged_rows * inner},
                         {tile_inner, 2, 4, 8, tile_columns / cluster / exchanged_rows});
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
    if (product.count > most_remainders)
        throw InvalidArgument("residue products of " + std::to_string(product.count) + " moduli; at most " +
                              std::to_string(most_remainders) + " at a time");
    const CurrentDevice current(device);
    const auto inner = static_cast<cuuint64_t>(product.inner);
    const auto rows = static_cast<cuuint64_t>(product.rows * product.count);
    const CUtensorMap map_a = tensor_map<2>(product.a, {inner, rows}, {inner}, {tile_inner, tile_rows});
    const CUtensorMap map_b = map_of_b(product);
    int processors = 0;
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
    const auto kernel = product.inner > products_at_once ? residues_by_hopper<true> : residues_by_hopper<false>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes), "cudaFuncSetAttribute");
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
    check(cudaLaunchKernelEx(&config, kernel, map_a, map_b, product), "launch", "residues_by_hopper");
}

}  // namespace solver::cuda
