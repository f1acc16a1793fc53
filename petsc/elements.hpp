#pragma once

/// The local elements of a Vec, for as long as the object lives. What gives or takes back the array of a host vector cannot
/// fail.

#include <petscvec.h>

#include <span>

namespace petscsolver {

class Elements {
public:
    explicit Elements(Vec vec) : vec_(vec) {
        PetscCallAbort(PETSC_COMM_SELF, VecGetLocalSize(vec, &size_));
        PetscCallAbort(PETSC_COMM_SELF, VecGetArrayRead(vec, &data_));
    }
    Elements(const Elements&) = delete;
    Elements& operator=(const Elements&) = delete;
    ~Elements() { PetscCallAbort(PETSC_COMM_SELF, VecRestoreArrayRead(vec_, &data_)); }

    PetscInt size() const { return size_; }
    const PetscScalar* data() const { return data_; }
    operator std::span<const double>() const { return {data_, static_cast<std::size_t>(size_)}; }

private:
    Vec vec_;
    PetscInt size_ = 0;
    const PetscScalar* data_ = nullptr;
};

/// The same to be changed; the Vec knows that it was.
class MutableElements {
public:
    explicit MutableElements(Vec vec) : vec_(vec) {
        PetscCallAbort(PETSC_COMM_SELF, VecGetLocalSize(vec, &size_));
        PetscCallAbort(PETSC_COMM_SELF, VecGetArray(vec, &data_));
    }
    MutableElements(const MutableElements&) = delete;
    MutableElements& operator=(const MutableElements&) = delete;
    ~MutableElements() { PetscCallAbort(PETSC_COMM_SELF, VecRestoreArray(vec_, &data_)); }

    PetscInt size() const { return size_; }
    PetscScalar* data() const { return data_; }

private:
    Vec vec_;
    PetscInt size_ = 0;
    PetscScalar* data_ = nullptr;
};

}  // namespace petscsolver
