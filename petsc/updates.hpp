#pragma once

/// Updates of vectors, element by element, on processors and devices: every product and every addition is rounded once, to
/// nearest, in the nesting given, whatever the vectors of the processor and wherever a rank's part begins. (BLAS fuses some of
/// them, depending on the place.) And movements of elements.

#include "solver/numeric/rounding.hpp"

#include <cstdint>

namespace petscsolver {

/// x = a x
struct Scale {
    double a;
    double* x;
    SOLVER_HD void operator()(std::int64_t i) const { x[i] = solver::mul_rn(a, x[i]); }
};

/// y = y + a x
struct Axpy {
    double a;
    const double* x;
    double* y;
    SOLVER_HD void operator()(std::int64_t i) const { y[i] = solver::add_rn(y[i], solver::mul_rn(a, x[i])); }
};

/// y = x + b y
struct Aypx {
    double b;
    const double* x;
    double* y;
    SOLVER_HD void operator()(std::int64_t i) const { y[i] = solver::add_rn(x[i], solver::mul_rn(b, y[i])); }
};

/// y = a x + b y
struct Axpby {
    double a, b;
    const double* x;
    double* y;
    SOLVER_HD void operator()(std::int64_t i) const { y[i] = solver::add_rn(solver::mul_rn(a, x[i]), solver::mul_rn(b, y[i])); }
};

/// w = y + a x
struct Waxpy {
    double a;
    const double* x;
    const double* y;
    double* w;
    SOLVER_HD void operator()(std::int64_t i) const { w[i] = solver::add_rn(y[i], solver::mul_rn(a, x[i])); }
};

/// z = (a x + b y) + c z
struct Axpbypcz {
    double a, b, c;
    const double* x;
    const double* y;
    double* z;
    SOLVER_HD void operator()(std::int64_t i) const {
        z[i] = solver::add_rn(solver::add_rn(solver::mul_rn(a, x[i]), solver::mul_rn(b, y[i])), solver::mul_rn(c, z[i]));
    }
};

/// y = ((y + a_0 x_0) + a_1 x_1) + ... of a few x
struct Maxpy {
    static constexpr int most = 8;
    int count;
    double a[most];
    const double* x[most];
    double* y;
    SOLVER_HD void operator()(std::int64_t i) const {
        double sum = y[i];
        for (int j = 0; j < count; ++j) sum = solver::add_rn(sum, solver::mul_rn(a[j], x[j][i]));
        y[i] = sum;
    }
};

/// to = from
struct Copy {
    const double* from;
    double* to;
    SOLVER_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};

/// to_i = from_places(i)
struct Gather {
    const std::int32_t* places;
    const double* from;
    double* to;
    SOLVER_HD void operator()(std::int64_t i) const { to[i] = from[places[i]]; }
};

/// to_places(i) = from_i, every place at most once
struct Scatter {
    const std::int32_t* places;
    const double* from;
    double* to;
    SOLVER_HD void operator()(std::int64_t i) const { to[places[i]] = from[i]; }
};

}  // namespace petscsolver
