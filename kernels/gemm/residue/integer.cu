/// Residue products with the matrix instructions that every device since 8.0 has.

#include "gemm/residue/integer.cuh"
#include "runtime/check.cuh"

#include <string>

namespace solver::cuda {
namespace {

constexpr int tile_side = 128;  ///< rows and columns of a block's tile
constexpr int tile_inner = 64;  ///< bytes of a row in shared memory at a time
constexpr int stages = 3;       ///< tiles in flight
constexpr int threads = 256;    ///< 2 x 4 warps of 64 x 32 elements
constexpr int warp_rows = 64;
constexpr int warp_columns = 32;
constexpr int matrix_bytes = tile_side * tile_inner;
constexpr int tile_band = 8;

/// Where 16 bytes of a row lie, so that eight rows' pieces at a time, written or read, are in different banks.
__device__ int piece_offset(int row, int piece) { return row * tile_inner + ((piece ^ ((row >> 1) & 3)) << 4); }

/// The row in shared memory of a row of B. The matrix instruction gives a lane columns 2 t, 2 t + 1 of every eight; with the
/// rows of B exchanged within each 32 it has eight neighbours, 8 t..8 t + 7, and stores them at once.
__device__ int exchanged_row(int row) { return (row & ~31) | ((row >> 1 & 3) << 3) | ((row >> 3 & 3) << 1) | (row & 1); }

__device__ std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ void copy_async(std::uint32_t to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Until at most `left` of this thread's groups of copies are under way.
template <int left>
__device__ void wait_for_copies() {
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
}

/// Four matrices of 8 rows of 16 bytes; lane l names row l % 8 of matrix l / 8, and gets four bytes of row l / 4 of each.
__device__ void load_matrices(std::uint32_t (&to)[4], std::uint32_t address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(address)
                 : "memory");
}

/// 16 x 8 sums += (16 x 32 bytes) (8 x 32 bytes)^T.
__device__ void multiply_add(std::int32_t (&sums)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Begins to copy 128 rows of 64 bytes of each matrix.
__device__ void copy_tiles(const std::int8_t* a, const std::int8_t* b, std::int64_t inner, std::uint32_t stage) {
    constexpr int pieces = matrix_bytes / 16 / threads;
#pragma unroll
    for (int i = 0; i < pieces; ++i) {
        const int number = i * threads + static_cast<int>(threadIdx.x);
        const int row = number >> 2;
        const int piece = number & 3;
        copy_async(stage + piece_offset(row, piece), a + row * inner + piece * 16);
        copy_async(stage + matrix_bytes + piece_offset(exchanged_row(row), piece), b + row * inner + piece * 16);
    }
}

/// Each of the eight warps: 64 x 32 sums from the tiles of one stage.
__device__ void multiply_tiles(std::int32_t (&sums)[4][4][4], std::uint32_t stage, int first_row, int first_column) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll
    for (int step = 0; step < tile_inner / 32; ++step) {
        std::uint32_t a[4][4];
        std::uint32_t b[2][4];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            load_matrices(a[i], stage + piece_offset(first_row + i * 16 + (lane & 15), step * 2 + (lane >> 4)));
#pragma unroll
        for (int j = 0; j < 2; ++j)
            load_matrices(b[j],
                          stage + matrix_bytes +
                              piece_offset(first_column + j * 16 + (lane >> 4 << 3) + (lane & 7), step * 2 + (lane >> 3 & 1)));
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j) multiply_add(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
}

__device__ void reduce(std::int32_t (&sums)[4][4][4], const Remainder& remainder) {
#pragma unroll
    for (auto& tiles : sums)
#pragma unroll
        for (auto& tile : tiles)
#pragma unroll
            for (std::int32_t& sum : tile) sum = static_cast<std::int32_t>(remainder(sum));
}

__device__ void store_residues(const std::int32_t (&sums)[4][4][4], const Remainder& remainder, std::uint8_t* y,
                               std::int64_t columns) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const auto residue = [&](int j, int k) { return remainder(sums[i][j][half * 2 + k]); };
            const uint2 bytes{pack_bytes(residue(0, 0), residue(0, 1), residue(1, 0), residue(1, 1)),
                              pack_bytes(residue(2, 0), residue(2, 1), residue(3, 0), residue(3, 1))};
            *reinterpret_cast<uint2*>(y + (i * 16 + half * 8 + lane / 4) * columns + lane % 4 * 8) = bytes;
        }
}

/// One 128 x 128 tile of Y[blockIdx.y] a block.
__global__ void __launch_bounds__(threads, 2) residues_of_tiles(const ResidueProduct product) {
    __shared__ alignas(128) std::uint8_t memory[stages][2 * matrix_bytes];
    const std::int64_t modulus = blockIdx.y;
    const TilePlace place = tile_place(static_cast<int>(blockIdx.x), static_cast<int>(product.rows / tile_side),
                                       static_cast<int>(product.columns / tile_side), tile_band);
    const std::int64_t row = std::int64_t{place.row} * tile_side;
    const std::int64_t column = std::int64_t{place.column} * tile_side;
    const std::int8_t* a = product.a + (modulus * product.rows + row) * product.inner;
    const std::int8_t* b = product.b + (modulus * product.columns + column) * product.inner;
    const int steps = static_cast<int>(product.inner / tile_inner);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int first_row = warp / 4 * warp_rows;
    const int first_column = warp % 4 * warp_columns;
    const auto stage = [&](int step) { return shared_address(memory[step % stages]); };

    for (int step = 0; step < stages - 1; ++step) {
        if (step < steps) copy_tiles(a + step * tile_inner, b + step * tile_inner, product.inner, stage(step));
        commit_copies();
    }
    const Remainder remainder(product.moduli[modulus]);
    std::int32_t sums[4][4][4] = {};
    for (int step = 0; step < steps; ++step) {
        if (step > 0 && step % (products_at_once / tile_inner) == 0) reduce(sums, remainder);
        wait_for_copies<stages - 2>();
        __syncthreads();  // the copies of all, and nobody reads the stage that is filled next
        const int next = step + stages - 1;
        if (next < steps) copy_tiles(a + next * tile_inner, b + next * tile_inner, product.inner, stage(next));
        commit_copies();
        multiply_tiles(sums, stage(step), first_row, first_column);
    }
    store_residues(sums, remainder,
                   product.y + (modulus * product.rows + row + first_row) * product.columns + column + first_column,
                   product.columns);
}

}  // namespace

void multiply_residues_portable(const ResidueProduct& product, int device, Stream stream) {
    const std::int64_t tiles = (product.rows / tile_side) * (product.columns / tile_side);
    if (tiles == 0 || product.count == 0) return;
    const CurrentDevice current(device);
    residues_of_tiles<<<dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(product.count)), threads, 0, stream>>>(
        product);
    check_launch("residues_of_tiles");
}

#ifndef SOLVER_HOPPER_KERNELS
void multiply_residues_hopper(const ResidueProduct&, int, Stream) {
    throw NotSupported(
        "this library was built without the residue products of compute capability 9.0; build it with 90 among "
        "CMAKE_CUDA_ARCHITECTURES, or use multiply_residues_portable");
}
bool has_hopper_residues(int) { return false; }
#endif

void multiply_residues(const ResidueProduct& product, int device, Stream stream) {
    (has_hopper_residues(device) ? multiply_residues_hopper : multiply_residues_portable)(product, device, stream);
}

}  // namespace solver::cuda
