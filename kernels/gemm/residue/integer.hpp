#pragma once

/// The ways of multiply_residues.

#include "gemm.hpp"

namespace solver::cuda {

/// By warps' matrix instructions, which every device since 8.0 has.
void multiply_residues_portable(const ResidueProduct& product, int device, Stream stream);

/// By the asynchronous ones of compute capability 9.0, and of no other. Throws NotSupported in a library built without them.
void multiply_residues_hopper(const ResidueProduct& product, int device, Stream stream);

/// Whether multiply_residues_hopper is there and the device can run it.
bool has_hopper_residues(int device);

}  // namespace solver::cuda
