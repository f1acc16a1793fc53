#pragma once

/// The local elements of a Vec at a place (the processor, if not told), for as long as the object lives; as a span those of
/// complex numbers are real and imaginary parts in turn. What gives or takes back an array cannot fail but by a broken device.

#include "numbers.hpp"
#include "place.hpp"

#include <petscvec.h>

#include <initializer_list>
#include <span>

namespace petscsolver {

/// The device where all of the vectors can be had there, else the processor.
PetscErrorCode place_of(std::initializer_list<Vec> vectors, Place* place);
PetscErrorCode place_of(Vec x, PetscInt count, const Vec ys[], Place* place);

class Elements {
public:
    explicit Elements(Vec vec, const Place& place = {}) : vec_(vec), on_device_(place.on_device()) {
        PetscCallAbort(PETSC_COMM_SELF, VecGetLocalSize(vec, &size_));
        PetscCallAbort(PETSC_COMM_SELF,
                       on_device_ ? VecGetArrayReadAndMemType(vec, &data_, nullptr) : VecGetArrayRead(vec, &data_));
    }
    Elements(const Elements&) = delete;
    Elements& operator=(const Elements&) = delete;
    ~Elements() {
        PetscCallAbort(PETSC_COMM_SELF,
                       on_device_ ? VecRestoreArrayReadAndMemType(vec_, &data_) : VecRestoreArrayRead(vec_, &data_));
    }

    PetscInt size() const { return size_; }
    const PetscScalar* data() const { return data_; }
    operator std::span<const double>() const { return solver::real_view(std::span(data_, static_cast<std::size_t>(size_))); }

private:
    Vec vec_;
    bool on_device_;
    PetscInt size_ = 0;
    const PetscScalar* data_ = nullptr;
};

/// The elements of a Vec on this rank, to be changed; the Vec knows that they were.
class MutableElements {
public:
    explicit MutableElements(Vec vec, const Place& place = {}) : vec_(vec), on_device_(place.on_device()) {
        PetscCallAbort(PETSC_COMM_SELF, VecGetLocalSize(vec, &size_));
        PetscCallAbort(PETSC_COMM_SELF, on_device_ ? VecGetArrayAndMemType(vec, &data_, nullptr) : VecGetArray(vec, &data_));
    }
    MutableElements(const MutableElements&) = delete;
    MutableElements& operator=(const MutableElements&) = delete;
    ~MutableElements() {
        PetscCallAbort(PETSC_COMM_SELF, on_device_ ? VecRestoreArrayAndMemType(vec_, &data_) : VecRestoreArray(vec_, &data_));
    }

    PetscInt size() const { return size_; }
    PetscScalar* data() const { return data_; }
    operator std::span<double>() const { return solver::real_view(std::span(data_, static_cast<std::size_t>(size_))); }

private:
    Vec vec_;
    bool on_device_;
    PetscInt size_ = 0;
    PetscScalar* data_ = nullptr;
};

}  // namespace petscsolver
