#pragma once

/// Right-hand sides of singular systems whose null space the matrix was given.

#include <petscpc.h>

namespace petscsolver {

/// `*part` is r without what it has in the space that MatSetTransposeNullSpace or else MatSetNullSpace named, to be destroyed;
/// null where a solve to this relative tolerance takes r as it is: no space was named, r has next to nothing there, or A
/// reaches what is there, as it does where the null space of an unsymmetric A is not that of its transpose. Then r without it
/// would be another system. `left_out` is what went, relative to ||r||.
///
/// A method of PETSc that has all but solved such a system is left with rounding, of which A reaches a part only.
PetscErrorCode compatible_part_of(PC pc, Vec r, double tolerance, Vec* part, PetscReal* left_out);

}  // namespace petscsolver
