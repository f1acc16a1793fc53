#include "solver/solver.hpp"

#include <complex>

/// OF is a class for real numbers alone. This file does not compile.
template class solver::OF<std::complex<double>>;
