#pragma once

/// The local elements of a Vec at a place (the processor, if not told), for as long as the object lives; as a span those of
/// complex numbers are real and imaginary parts in turn. What gives or takes back an array cannot fail but by a broken device.

#include "numbers.hpp"
#include "place.hpp"

#include <petscvec.h>

#include <initializer_list>
#include <span>
#include <type_traits>

namespace petscsolver {

/// The device where all of the vectors can be had there, else the processor.
PetscErrorCode place_of(std::initializer_list<Vec> vectors, Place* place);
PetscErrorCode place_of(Vec x, PetscInt count, const Vec ys[], Place* place);

/// Of this rank. Where they are to be changed, the Vec knows that they were.
template <bool changes>
class ElementsOf {
public:
    using Scalar = std::conditional_t<changes, PetscScalar, const PetscScalar>;
    using Part = std::conditional_t<changes, double, const double>;

    explicit ElementsOf(Vec vec, const Place& place = {}) : vec_(vec), on_device_(place.on_device()) {
        PetscCallAbort(PETSC_COMM_SELF, VecGetLocalSize(vec, &size_));
        PetscCallAbort(PETSC_COMM_SELF, get());
    }
    ElementsOf(const ElementsOf&) = delete;
    ElementsOf& operator=(const ElementsOf&) = delete;
    ~ElementsOf() { PetscCallAbort(PETSC_COMM_SELF, restore()); }

    PetscInt size() const { return size_; }
    Scalar* data() const { return data_; }
    operator std::span<Part>() const { return solver::real_view(std::span(data_, static_cast<std::size_t>(size_))); }

private:
    PetscErrorCode get() {
        if constexpr (changes)
            return on_device_ ? VecGetArrayAndMemType(vec_, &data_, nullptr) : VecGetArray(vec_, &data_);
        else
            return on_device_ ? VecGetArrayReadAndMemType(vec_, &data_, nullptr) : VecGetArrayRead(vec_, &data_);
    }
    PetscErrorCode restore() {
        if constexpr (changes)
            return on_device_ ? VecRestoreArrayAndMemType(vec_, &data_) : VecRestoreArray(vec_, &data_);
        else
            return on_device_ ? VecRestoreArrayReadAndMemType(vec_, &data_) : VecRestoreArrayRead(vec_, &data_);
    }

    Vec vec_;
    bool on_device_;
    PetscInt size_ = 0;
    Scalar* data_ = nullptr;
};

using Elements = ElementsOf<false>;
using MutableElements = ElementsOf<true>;

}  // namespace petscsolver
