#pragma once

/// The routes of a dense product on a device, as kernels/gemm/gemm.cu chooses among them. All pointers are the device's.
/// Functions only launch kernels unless they say otherwise.

#include "solver/cuda/gemm.hpp"

#include <cstdint>

namespace solver::cuda {

/// C = alpha A B + beta C by register tiles, `options.summation` as it says (automatic: plain). Any shape, strides as GemmTask
/// demands.
template <class T>
void multiply_tiled(const GemmTask<T>& task, const GemmOptions& options, int device, Stream stream);

/// C = alpha A B + beta C by register tiles, with products, sums, alpha and beta in double, rounded to float once at the end:
/// keeps the promise of compensated.
void multiply_tiled_in_double(const GemmTask<float>& task, int device, Stream stream);

/// Whether a pointer is to a device's memory.
bool lies_on_a_device(const void* memory);

/// Y[l] = A[l] B[l]^T mod p[l] in 0..p-1, for l < count: rows of A and of B are contiguous, `inner` long.
/// rows is a multiple of 128, columns of 256, inner of 128; entries in [-128, 127]; all matrices without gaps,
/// one after another, 256-byte aligned.
struct ResidueProduct {
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t inner;
    int count;
    const std::int8_t* a;        ///< count x rows x inner
    const std::int8_t* b;        ///< count x columns x inner
    std::uint8_t* y;             ///< count x rows x columns
    const std::int32_t* moduli;  ///< count, 129..256 each, in the device's memory
};
void multiply_residues(const ResidueProduct& product, int device, Stream stream);

}  // namespace solver::cuda
