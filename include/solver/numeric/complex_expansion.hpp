#pragma once

/// Complex numbers as unevaluated sums.

#include "solver/numeric/expansion.hpp"

namespace solver {

/// A complex number whose parts are expansions of their own, which need not be equally long.
template <Real T>
struct ComplexExpansion {
    Expansion<T> re;
    Expansion<T> im;
};

}  // namespace solver
