#pragma once

/// The instructions that only devices of compute capability 9.0 have, one function each. Addresses are 32-bit addresses of
/// shared memory; barriers are 64-bit words in it.

#include <cuda.h>

#include <cstdint>

namespace solver::cuda::hopper {

__device__ inline std::uint32_t shared_address(const void* pointer) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// This block's number in its cluster.
__device__ inline std::uint32_t rank_in_cluster() {
    std::uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/// All threads of all blocks of the cluster; what they wrote before is visible to all after.
__device__ inline void synchronize_cluster() {
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// A barrier whose phases end after this many arrivals, and after the bytes that were announced have come.
__device__ inline void create_barrier(std::uint32_t barrier, std::uint32_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Makes new barriers known to the other blocks and to the copy engine.
__device__ inline void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// Arrives, and announces bytes.
__device__ inline void arrive_and_expect(std::uint32_t barrier, std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// Arrives at the barrier at the same place in the block of this rank. Orders nothing for other blocks but what the matrix
/// units have read: a release for the cluster would be a fence for the whole device, at each stage.
__device__ inline void arrive_at(std::uint32_t barrier, std::uint32_t rank) {
    asm volatile(
        "{\n\t.reg .b32 there;\n\t"
        "mapa.shared::cluster.u32 there, %0, %1;\n\t"
        "mbarrier.arrive.shared::cluster.b64 _, [there];\n\t}" ::"r"(barrier),
        "r"(rank)
        : "memory");
}

/// Until the phase with this parity has ended; the phase before the first counts as one of parity 1.
__device__ inline void wait_for(std::uint32_t barrier, std::uint32_t parity) {
    asm volatile(
        "{\n\t.reg .pred done;\n\t"
        "again:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
        "@!done bra again;\n\t}" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

/// A box of a matrix to shared memory; its bytes count at the barrier.
__device__ inline void copy_box(std::uint32_t to, const CUtensorMap& map, int c0, int c1, std::uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(&map), "r"(c0), "r"(c1), "r"(barrier)
        : "memory");
}

/// A box of five dimensions to the same place in all blocks of the cluster that `blocks` has a bit for, its bytes counted at
/// the barrier of each.
__device__ inline void copy_box_to_blocks(std::uint32_t to, const CUtensorMap& map, int c0, int c1, int c2, int c3, int c4,
                                          std::uint32_t barrier, std::uint16_t blocks) {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%2, %3, %4, %5, %6}], [%7], %8;" ::"r"(to),
        "l"(&map), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "r"(barrier), "h"(blocks)
        : "memory");
}

/// Describes a matrix in shared memory to the matrix units: rows of 128 bytes, contiguous along the inner dimension, pieces of
/// 16 bytes exchanged as the copy engine does for CU_TENSOR_MAP_SWIZZLE_128B. `address` is a multiple of 1024, plus 32 for each
/// 32 bytes further inside.
__device__ inline std::uint64_t describe_matrix(std::uint32_t address) {
    constexpr std::uint64_t eight_rows = 8 * 128 / 16;
    constexpr std::uint64_t swizzle_128 = 1;
    return swizzle_128 << 62 | eight_rows << 32 | std::uint64_t{1} << 16 | (address & 0x3FFFF) >> 4;
}

/// Registers written before may be read by the matrix units after.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

/// The products since the last call become one group.
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Until at most `left` groups are under way.
template <int left>
__device__ void wait_for_products() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
}

/// 64 x 256 sums = (64 x 32 bytes) (256 x 32 bytes)^T, added to what they are if `add`. By four warps; asynchronous. Lane l of
/// warp w has at 4 j + 2 h + e the sum in row 16 w + 8 h + l / 4 and column 8 j + 2 (l % 4) + e.
__device__ inline void multiply_add_64x256(std::int32_t (&s)[128], std::uint64_t a, std::uint64_t b, bool add) {
#define SOLVER_SUMS_8(i) \
    "+r"(s[i]), "+r"(s[i + 1]), "+r"(s[i + 2]), "+r"(s[i + 3]), "+r"(s[i + 4]), "+r"(s[i + 5]), "+r"(s[i + 6]), "+r"(s[i + 7])
#define SOLVER_SUMS_32(i) SOLVER_SUMS_8(i), SOLVER_SUMS_8(i + 8), SOLVER_SUMS_8(i + 16), SOLVER_SUMS_8(i + 24)
    asm volatile(
        "{\n\t.reg .pred add;\n\t"
        "setp.ne.b32 add, %130, 0;\n\t"
        "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
        "}, %128, %129, add;\n\t}"
        : SOLVER_SUMS_32(0), SOLVER_SUMS_32(32), SOLVER_SUMS_32(64), SOLVER_SUMS_32(96)
        : "l"(a), "l"(b), "r"(static_cast<int>(add)));
#undef SOLVER_SUMS_32
#undef SOLVER_SUMS_8
}

}  // namespace solver::cuda::hopper
