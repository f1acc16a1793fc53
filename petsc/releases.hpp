#pragma once

/// What differs between the releases of PETSc that the plugin is built for.

#include <petsc/private/pcimpl.h>

#include <utility>

namespace petscsolver {

/// What options are set from: since 3.23 the name of a pointer.
template <class Items>
Items option_items(PetscErrorCode (*set_from_options)(PC, Items));
using OptionItems = decltype(option_items(std::declval<_PCOps>().setfromoptions));

/// A container that deletes its object.
template <class Object>
PetscErrorCode compose_owned(PetscObject owner, const char* name, Object* object) {
    PetscContainer container;
    PetscFunctionBegin;
    PetscCall(PetscContainerCreate(PetscObjectComm(owner), &container));
    PetscCall(PetscContainerSetPointer(container, object));
#if PETSC_VERSION_GE(3, 23, 0)
    PetscCall(PetscContainerSetCtxDestroy(container, [](void** itself) -> PetscErrorCode {
        delete static_cast<Object*>(*itself);
        *itself = nullptr;
        return 0;
    }));
#else
    PetscCall(PetscContainerSetUserDestroy(container, [](void* itself) -> PetscErrorCode {
        delete static_cast<Object*>(itself);
        return 0;
    }));
#endif
    PetscCall(PetscObjectCompose(owner, name, reinterpret_cast<PetscObject>(container)));
    PetscCall(PetscContainerDestroy(&container));
    PetscFunctionReturn(0);
}

}  // namespace petscsolver
