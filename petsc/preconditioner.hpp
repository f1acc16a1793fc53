#pragma once

/// The library's preconditioners as PC types, for matrices of one rank: alone, or on every rank by PETSc's redundant.

#include <petscsys.h>

namespace petscsolver {

/// Registers samebits_ilu0, samebits_ilut and samebits_klu.
PetscErrorCode register_preconditioners();

}  // namespace petscsolver
