#include "elementwise.hpp"

#include "solver/numeric/rounding.hpp"

// Vectors as long as the processor has them: the bits do not depend on that, there being no fused operation and no sum.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define PETSCSOLVER_LONG_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define PETSCSOLVER_LONG_VECTORS
#endif

namespace petscsolver::elementwise {

using solver::add_rn;
using solver::mul_rn;

PETSCSOLVER_LONG_VECTORS void scale(std::int64_t n, double a, double* x) {
    for (std::int64_t i = 0; i < n; ++i) x[i] = mul_rn(a, x[i]);
}

PETSCSOLVER_LONG_VECTORS void axpy(std::int64_t n, double a, const double* x, double* y) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = add_rn(y[i], mul_rn(a, x[i]));
}

PETSCSOLVER_LONG_VECTORS void aypx(std::int64_t n, double b, const double* x, double* y) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = add_rn(x[i], mul_rn(b, y[i]));
}

PETSCSOLVER_LONG_VECTORS void axpby(std::int64_t n, double a, double b, const double* x, double* y) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = add_rn(mul_rn(a, x[i]), mul_rn(b, y[i]));
}

PETSCSOLVER_LONG_VECTORS void waxpy(std::int64_t n, double a, const double* x, const double* y, double* w) {
    for (std::int64_t i = 0; i < n; ++i) w[i] = add_rn(y[i], mul_rn(a, x[i]));
}

PETSCSOLVER_LONG_VECTORS void axpbypcz(std::int64_t n, double a, double b, double c, const double* x, const double* y,
                                       double* z) {
    for (std::int64_t i = 0; i < n; ++i) z[i] = add_rn(add_rn(mul_rn(a, x[i]), mul_rn(b, y[i])), mul_rn(c, z[i]));
}

}  // namespace petscsolver::elementwise
