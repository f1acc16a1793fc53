#pragma once

/// Vec types whose reductions and updates are the library's; all else is PETSc's own seq and mpi.

#include <petscsys.h>

#define VECSAMEBITS "samebits"
#define VECSEQSAMEBITS "seqsamebits"
#define VECMPISAMEBITS "mpisamebits"

namespace petscsolver {

/// Registers samebits (seqsamebits on one rank, else mpisamebits), and seq and mpi anew where `everywhere` holds.
PetscErrorCode register_vectors(bool everywhere);

}  // namespace petscsolver
