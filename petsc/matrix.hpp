#pragma once

/// Mat types whose products are the library's; all else is PETSc's own seqaij and mpiaij.

#include <petscsys.h>

#define MATAIJSAMEBITS "aijsamebits"
#define MATSEQAIJSAMEBITS "seqaijsamebits"  // PETSc recognizes kinds of AIJ by how their names begin
#define MATMPIAIJSAMEBITS "mpiaijsamebits"

namespace petscsolver {

/// Registers aijsamebits (seqaijsamebits on one rank, else mpiaijsamebits), and seqaij and mpiaij anew where `everywhere`
/// holds.
PetscErrorCode register_matrices(bool everywhere);

}  // namespace petscsolver
