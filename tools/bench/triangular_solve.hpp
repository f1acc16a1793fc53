#pragma once

/// The solve with a triangle by everybody on one machine.

#include "operation.hpp"
#include "options.hpp"
#include "triangles.hpp"

#include <memory>

namespace solver::bench {

/// On the machine that the options name. The system must outlive it.
template <class T>
std::unique_ptr<Operation> make_triangular_solve(const Options& options, const TriangularSystem<T>& system);

}  // namespace solver::bench
