#pragma once

/// The direct methods of SuiteSparse, with their own defaults and 64-bit indices: KLU, and UMFPACK and CHOLMOD where CMake
/// found them (which are in parts under the GPL; nothing but solver-bench uses them).

#include "peer_solve.hpp"

#include <string>

namespace solver::bench::suitesparse {

enum class Method { klu, umfpack, cholmod };

bool is_there(Method method);

/// "SuiteSparse 5.12.0 with OpenBLAS", which is what UMFPACK and CHOLMOD are fast with
std::string description();

/// By factors, with the task's threads in OpenBLAS; CHOLMOD takes A to be symmetric. Throws InvalidArgument where A
/// is singular, or for CHOLMOD not positive definite, and std::bad_alloc.
PeerSolve solve(Method method, const PeerTask& task);

}  // namespace solver::bench::suitesparse
