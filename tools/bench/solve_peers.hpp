#pragma once

/// Who else solves by BiCGStab with Jacobi on a machine.

#include "solves.hpp"

#include <vector>

namespace solver::bench {

/// On the machine that the options name. They solve the system of `solves`, which must outlive them, as A must.
template <class T>
std::vector<Competitor> make_solve_peers(const Options& options, Solves<T>& solves, const CsrView<T>& a);

}  // namespace solver::bench
