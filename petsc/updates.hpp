#pragma once

/// Updates of vectors, element by element, on processors and devices: every product and every addition is rounded once, to
/// nearest, in the nesting given, whatever the vectors of the processor and wherever a rank's part begins. (BLAS fuses some of
/// them, depending on the place.) And movements of elements.

#include "numbers.hpp"
#include "solver/numeric/rounding.hpp"

#include <complex>
#include <cstdint>

namespace petscsolver {

/// a x; of complex numbers (Re a) x, and where a has an imaginary part + (Im a) (i x).
SOLVER_HD double times(double a, double x) { return solver::mul_rn(a, x); }
/// y + a x; of complex numbers (y + (Re a) x), and where a has an imaginary part + (Im a) (i x), as in the library's methods.
SOLVER_HD double added(double y, double a, double x) { return solver::add_rn(y, solver::mul_rn(a, x)); }

inline std::complex<double> with_turned(std::complex<double> y, double a, std::complex<double> x) {
    if (a == 0) return y;
    return {added(y.real(), a, -x.imag()), added(y.imag(), a, x.real())};
}
inline std::complex<double> times(std::complex<double> a, std::complex<double> x) {
    return with_turned({times(a.real(), x.real()), times(a.real(), x.imag())}, a.imag(), x);
}
inline std::complex<double> added(std::complex<double> y, std::complex<double> a, std::complex<double> x) {
    return with_turned({added(y.real(), a.real(), x.real()), added(y.imag(), a.real(), x.imag())}, a.imag(), x);
}

/// x = a x
struct Scale {
    Number a;
    Number* x;
    SOLVER_HD void operator()(std::int64_t i) const { x[i] = times(a, x[i]); }
};

/// y = y + a x
struct Axpy {
    Number a;
    const Number* x;
    Number* y;
    SOLVER_HD void operator()(std::int64_t i) const { y[i] = added(y[i], a, x[i]); }
};

/// y = x + b y
struct Aypx {
    Number b;
    const Number* x;
    Number* y;
    SOLVER_HD void operator()(std::int64_t i) const { y[i] = added(x[i], b, y[i]); }
};

/// y = a x + b y
struct Axpby {
    Number a, b;
    const Number* x;
    Number* y;
    SOLVER_HD void operator()(std::int64_t i) const { y[i] = added(times(a, x[i]), b, y[i]); }
};

/// w = y + a x
struct Waxpy {
    Number a;
    const Number* x;
    const Number* y;
    Number* w;
    SOLVER_HD void operator()(std::int64_t i) const { w[i] = added(y[i], a, x[i]); }
};

/// z = (a x + b y) + c z
struct Axpbypcz {
    Number a, b, c;
    const Number* x;
    const Number* y;
    Number* z;
    SOLVER_HD void operator()(std::int64_t i) const { z[i] = added(added(times(a, x[i]), b, y[i]), c, z[i]); }
};

/// y = ((y + a_0 x_0) + a_1 x_1) + ... of a few x
struct Maxpy {
    static constexpr int most = 8;
    int count;
    Number a[most];
    const Number* x[most];
    Number* y;
    SOLVER_HD void operator()(std::int64_t i) const {
        Number sum = y[i];
        for (int j = 0; j < count; ++j) sum = added(sum, a[j], x[j][i]);
        y[i] = sum;
    }
};

/// to = from
template <class T>
struct Copy {
    const T* from;
    T* to;
    SOLVER_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};

/// to_i = from_places(i)
template <class T>
struct Gather {
    const std::int32_t* places;
    const T* from;
    T* to;
    SOLVER_HD void operator()(std::int64_t i) const { to[i] = from[places[i]]; }
};

/// to_places(i) = from_i, every place at most once
template <class T>
struct Scatter {
    const std::int32_t* places;
    const T* from;
    T* to;
    SOLVER_HD void operator()(std::int64_t i) const { to[places[i]] = from[i]; }
};

/// to = a from, in another precision
template <class From, class To>
struct ScaleInto {
    double a;
    const From* from;
    To* to;
    SOLVER_HD void operator()(std::int64_t i) const {
        to[i] = static_cast<To>(solver::mul_rn(static_cast<double>(from[i]), a));
    }
};

}  // namespace petscsolver
