#pragma once

/// Vec types whose reductions and updates are the library's; all else is that of PETSc's own seq and mpi, or seqcuda and
/// mpicuda.

#include <petscsys.h>

#define VECSAMEBITS "samebits"
#define VECSEQSAMEBITS "seqsamebits"
#define VECMPISAMEBITS "mpisamebits"
#define VECSAMEBITSCUDA "samebitscuda"

namespace petscsolver {

/// Registers samebits (seqsamebits on one rank, else mpisamebits), and seq and mpi anew where `everywhere` holds; where PETSc
/// has CUDA, samebitscuda, and anew seqcuda and mpicuda.
PetscErrorCode register_vectors(bool everywhere);

}  // namespace petscsolver
