#pragma once

/// The numbers of the PETSc that the plugin is built for, and what the library makes of complex ones: two real ones each.

#include "solver/complex.hpp"

#include <complex>
#include <cstddef>
#include <span>
#include <utility>

namespace petscsolver {

/// PetscScalar
#if defined(PETSCSOLVER_COMPLEX)
using Number = std::complex<double>;
#else
using Number = double;
#endif

inline constexpr bool numbers_are_complex = solver::is_complex<Number>;

/// Real and imaginary parts in turn; real numbers as they are.
inline const double* reals(const Number* numbers) { return reinterpret_cast<const double*>(numbers); }
inline double* reals(Number* numbers) { return reinterpret_cast<double*>(numbers); }

/// Rows of a matrix for vectors of such parts: the real form of complex ones, a copy; real ones themselves.
inline solver::CsrView<double> real_rows(const solver::CsrView<double>& rows) { return rows; }
inline solver::CsrMatrix<double> real_rows(const solver::CsrView<std::complex<double>>& rows) {
    return solver::real_form(rows);
}
inline solver::CsrMatrix<double> real_matrix(solver::CsrMatrix<double> matrix) { return matrix; }
inline solver::CsrMatrix<double> real_matrix(const solver::CsrMatrix<std::complex<double>>& matrix) {
    return solver::real_form(matrix.view());
}
using RealRows = decltype(real_rows(std::declval<const solver::CsrView<Number>&>()));

}  // namespace petscsolver
