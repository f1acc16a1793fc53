#pragma once

/// Saddle points by their Schur complement.

#include "solver/csr_matrix.hpp"
#include "solver/preconditioner.hpp"

#include <memory>

namespace solver {

/// Rows with a positive diagonal first, the saddle point A and its preconditioner are
///
///     [ K  U ]       M = [ K~  U  ]
///     [ B  D ],          [ 0   S~ ],   S = D - B K^-1 U, the Schur complement.
///
/// With K~ = K and S~ = S the eigenvalues of A M^-1 are 1, and two steps suffice (Murphy, Golub, Wathen, SIAM J. Sci. Comput.
/// 21(6), 2000); with approximations as good as a V-cycle is they lie around 1 on grids of any size (Elman, Silvester, Wathen,
/// Finite Elements and Fast Iterative Solvers, 2nd ed., secs. 4.2 and 9.2). With S_d = D - B diag(K)^-1 U:
///
/// - Where rows of K nearly add up to 0, as those of a discretised -Laplace u do, K~ is multigrid and S~ = diag(S_d): of slow
///   flows S is like a mass matrix, and so is that diagonal.
/// - Where K's diagonal outweighs its rows, as a mass matrix's does, K~ = diag(K) and S~ is multigrid of S_d, as of a diffusion
///   in mixed form.
///
/// What options.amg says of nodes and of the near-null space is said of K; multigrid of S_d is told neither.
///
/// S_d is formed in double in a fixed order. Throws InvalidArgument where A is complex, where all diagonal entries are positive
/// or none is, and where a row's diagonal of S_d is not negative; ResourceLimit where S_d would have more than ten times the
/// entries of A; what multigrid throws, besides.
template <class T>
std::unique_ptr<Preconditioner<T>> make_schur(const CsrView<T>& a, const PreconditionerOptions& options, const Device& device);

}  // namespace solver
