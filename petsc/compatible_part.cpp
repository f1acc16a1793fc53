#include "compatible_part.hpp"

#include "core/hash.hpp"
#include "elements.hpp"
#include "numbers.hpp"

#include <petsc/private/pcimpl.h>

#include <cstdint>
#include <span>

namespace petscsolver {
namespace {

/// Null where there is none. Programs give it to the matrix of the preconditioner or to that of the method.
PetscErrorCode named_space_of(PC pc, MatNullSpace* space) {
    PetscFunctionBegin;
    *space = nullptr;
    for (const Mat a : {pc->pmat, pc->mat}) {
        PetscCall(MatGetTransposeNullSpace(a, space));
        if (!*space) PetscCall(MatGetNullSpace(a, space));
        if (*space) break;
    }
    PetscFunctionReturn(0);
}

/// v loses its part in the space, and `share` is ||part|| / ||v||.
PetscErrorCode take_out(MatNullSpace space, Vec v, PetscReal* share) {
    Vec part;
    PetscReal of_whole, of_part;
    PetscFunctionBegin;
    PetscCall(VecDuplicate(v, &part));
    PetscCall(VecCopy(v, part));
    PetscCall(VecNorm(v, NORM_2, &of_whole));
    PetscCall(MatNullSpaceRemove(space, v));
    PetscCall(VecAXPY(part, -1, v));
    PetscCall(VecNorm(part, NORM_2, &of_part));
    PetscCall(VecDestroy(&part));
    *share = of_part > 0 ? of_part / of_whole : 0;
    PetscFunctionReturn(0);
}

/// Numbers from -1 to 1 without a pattern, the same on any number of ranks.
PetscErrorCode fill_without_pattern(Vec y) {
    PetscInt begin;
    PetscFunctionBegin;
    PetscCall(VecGetOwnershipRange(y, &begin, nullptr));
    const MutableElements elements(y);
    auto number = static_cast<std::uint64_t>(begin) * real_parts;
    for (double& element : std::span<double>(elements))
        element = static_cast<double>(solver::Hash::spread(++number) >> 11) * 0x1p-52 - 1;
    PetscFunctionReturn(0);
}

/// By what A makes of a vector without a pattern: that has no part in the space but what rounding leaves.
PetscErrorCode is_out_of_reach(Mat a, MatNullSpace space, bool* is_out) {
    constexpr double rounding = 0x1p-40;
    Vec y, image;
    PetscReal share;
    PetscFunctionBegin;
    PetscCall(MatCreateVecs(a, &y, &image));
    PetscCall(fill_without_pattern(y));
    PetscCall(MatMult(a, y, image));
    PetscCall(take_out(space, image, &share));
    *is_out = share <= rounding;
    PetscCall(VecDestroy(&image));
    PetscCall(VecDestroy(&y));
    PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode compatible_part_of(PC pc, Vec r, double tolerance, Vec* part, PetscReal* left_out) {
    constexpr double harmless = 0x1p-10;  // beside the tolerance
    MatNullSpace space;
    bool is_taken_out;
    PetscFunctionBegin;
    *part = nullptr;
    *left_out = 0;
    PetscCall(named_space_of(pc, &space));
    if (!space) PetscFunctionReturn(0);
    PetscCall(VecDuplicate(r, part));
    PetscCall(VecCopy(r, *part));
    PetscCall(take_out(space, *part, left_out));
    is_taken_out = *left_out > harmless * tolerance;
    if (is_taken_out) PetscCall(is_out_of_reach(pc->pmat, space, &is_taken_out));
    if (is_taken_out) {
        PetscCall(MatNullSpaceRemove(space, *part));  // again: rounding of what went may be more than what is left
        PetscFunctionReturn(0);
    }
    PetscCall(VecDestroy(part));
    *left_out = 0;
    PetscFunctionReturn(0);
}

}  // namespace petscsolver
