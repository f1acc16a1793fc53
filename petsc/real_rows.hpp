#pragma once

/// Matrices as the library multiplies and factors them, for vectors whose elements are the parts of numbers in turn: the real
/// form of complex ones, a copy; real ones themselves.

#include "numbers.hpp"
#include "solver/complex.hpp"
#include "solver/csr_matrix.hpp"

#include <complex>
#include <utility>

namespace petscsolver {

inline solver::CsrView<double> real_rows(const solver::CsrView<double>& rows) { return rows; }
inline solver::CsrMatrix<double> real_rows(const solver::CsrView<std::complex<double>>& rows) {
    return solver::real_form(rows);
}
using RealRows = decltype(real_rows(std::declval<const solver::CsrView<Number>&>()));

inline solver::CsrMatrix<double> real_matrix(solver::CsrMatrix<double> matrix) { return matrix; }
inline solver::CsrMatrix<double> real_matrix(const solver::CsrMatrix<std::complex<double>>& matrix) {
    return solver::real_form(matrix.view());
}

}  // namespace petscsolver
