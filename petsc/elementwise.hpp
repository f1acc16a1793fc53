#pragma once

/// Updates of vectors, element by element: every product and every addition is rounded once, to nearest, in the nesting given,
/// whatever the processor's vectors and wherever a rank's part begins. (BLAS fuses some of them, depending on the place.)

#include <cstdint>

namespace petscsolver::elementwise {

void scale(std::int64_t n, double a, double* x);                                    ///< x = a x
void axpy(std::int64_t n, double a, const double* x, double* y);                    ///< y = y + a x
void aypx(std::int64_t n, double b, const double* x, double* y);                    ///< y = x + b y
void axpby(std::int64_t n, double a, double b, const double* x, double* y);         ///< y = a x + b y
void waxpy(std::int64_t n, double a, const double* x, const double* y, double* w);  ///< w = y + a x

/// z = (a x + b y) + c z
void axpbypcz(std::int64_t n, double a, double b, double c, const double* x, const double* y, double* z);

}  // namespace petscsolver::elementwise
