#pragma once

/// The numbers of the PETSc that the plugin is built for.

#include "solver/numeric/complex.hpp"

#include <complex>

namespace petscsolver {

/// PetscScalar
#if defined(PETSCSOLVER_COMPLEX)
using Number = std::complex<double>;
#else
using Number = double;
#endif

inline constexpr bool numbers_are_complex = solver::is_complex<Number>;

/// Of a number.
inline constexpr int real_parts = numbers_are_complex ? 2 : 1;

/// Real and imaginary parts in turn; real numbers as they are.
inline const double* reals(const Number* numbers) { return reinterpret_cast<const double*>(numbers); }
inline double* reals(Number* numbers) { return reinterpret_cast<double*>(numbers); }

}  // namespace petscsolver
