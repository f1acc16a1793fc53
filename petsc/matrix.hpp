#pragma once

/// Mat types whose products are the library's; all else is PETSc's own seqaij and mpiaij.

#include <petscsys.h>

#define MATAIJSAMEBITS "aijsamebits"
#define MATSEQAIJSAMEBITS "seqaijsamebits"  // PETSc recognizes kinds of AIJ by how their names begin
#define MATMPIAIJSAMEBITS "mpiaijsamebits"
#define MATAIJSAMEBITSCUDA "aijsamebitscuda"
#define MATSEQAIJSAMEBITSCUDA "seqaijsamebitscuda"
#define MATMPIAIJSAMEBITSCUDA "mpiaijsamebitscuda"

namespace petscsolver {

/// Registers aijsamebits (seqaijsamebits on one rank, else mpiaijsamebits), and seqaij and mpiaij anew where `everywhere`
/// holds; where PETSc has CUDA, aijsamebitscuda, whose products are made on the device, and then also in place of aijcusparse.
PetscErrorCode register_matrices(bool everywhere);

}  // namespace petscsolver
