#include "elements.hpp"

#include <petscdevice.h>

namespace petscsolver {
namespace {

PetscErrorCode lies_on_device(Vec x, PetscBool* on_device) {
    PetscBool bound;
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(x), on_device, VECSEQCUDA, VECMPICUDA, ""));
    if (*on_device) {
        PetscCall(VecBoundToCPU(x, &bound));
        *on_device = bound ? PETSC_FALSE : PETSC_TRUE;
    }
    PetscFunctionReturn(0);
}

/// PETSc's device and stream.
PetscErrorCode current_device(Place* place) {
    PetscFunctionBegin;
#if defined(PETSCSOLVER_CUDA)
    PetscDeviceContext context;
    PetscDevice device;
    PetscInt id;
    void* stream;
    PetscCall(PetscDeviceContextGetCurrentContext(&context));
    PetscCall(PetscDeviceContextGetDevice(context, &device));
    PetscCall(PetscDeviceGetDeviceId(device, &id));
    PetscCall(PetscDeviceContextGetStreamHandle(context, &stream));
    *place = {static_cast<int>(id), *static_cast<solver::cuda::Stream*>(stream)};
#else
    *place = {};
#endif
    PetscFunctionReturn(0);
}

}  // namespace

PetscErrorCode place_of(Vec x, PetscInt count, const Vec ys[], Place* place) {
    PetscBool on_device = PETSC_FALSE;
    PetscFunctionBegin;
    *place = {};
    if constexpr (has_device_types) {
        PetscCall(lies_on_device(x, &on_device));
        for (PetscInt j = 0; on_device && j < count; ++j) PetscCall(lies_on_device(ys[j], &on_device));
        if (on_device) PetscCall(current_device(place));
    }
    PetscFunctionReturn(0);
}

PetscErrorCode place_of(std::initializer_list<Vec> vectors, Place* place) {
    PetscFunctionBegin;
    PetscCall(place_of(*vectors.begin(), static_cast<PetscInt>(vectors.size()) - 1, vectors.begin() + 1, place));
    PetscFunctionReturn(0);
}

}  // namespace petscsolver
