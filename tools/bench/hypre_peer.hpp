#pragma once

/// hypre's BoomerAMG, where CMake found it, in one process (Debian's hypre has MPI and no OpenMP).

#include "peer_solve.hpp"

#include <filesystem>
#include <string>

namespace solver::bench::hypre {

bool is_there();

/// "hypre 2.26.0", or "no hypre"
std::string description();

/// Starts MPI and hypre, which leave files in `scratch`; once in a process that is to end by _exit, before anything else here.
void begin(const std::filesystem::path& scratch);

/// A V-cycle: HMIS coarsening, extended+i interpolation of at most 4 entries a row, hypre's usual l1-Gauss-Seidel smoothers.
struct Multigrid {
    double strong_threshold = 0.25;  ///< 0.25 in the plane, 0.5 in space, as its manual advises
    int aggressive_levels = 0;
    int unknowns_per_point = 1;  ///< of systems of equations: interpolation of each unknown by itself
};

enum class Method { pcg, bicgstab };

/// Throws InvalidArgument where hypre says that it failed.
PeerSolve solve(Method method, const Multigrid& multigrid, const PeerTask& task);

}  // namespace solver::bench::hypre
