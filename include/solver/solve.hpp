#pragma once

/// Solves A x = b without being told how: BiCGStab under preconditioners of growing strength.

#include "solver/bicgstab.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/preconditioner.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace solver {

struct SolveOptions {
    BicgstabOptions iteration = {};
    std::optional<PreconditionerKind> preconditioner = {};  ///< nothing: chosen automatically
    PreconditionerOptions factors = {};
    bool mixed = false;  ///< double only: the iteration in single precision (see bicgstab), and in double where that fails
};

/// One preconditioner that was tried.
struct Attempt {
    PreconditionerKind preconditioner = PreconditionerKind::none;
    bool mixed = false;               ///< the iteration ran in single precision
    std::string refusal;              ///< why it could not be made; empty where it was
    std::int64_t factor_entries = 0;  ///< of its factors, and their hash: equal hashes, equal bits
    std::uint64_t factor_hash = 0;
    std::vector<std::int64_t> columns;  ///< the right-hand sides that were left to solve, from 0
    std::vector<SolveResult> results;   ///< one for each of `columns`, without history
    double setup_seconds = 0;
    double solve_seconds = 0;
};

struct SolveReport {
    /// One for each right-hand side. Status and residuals are those at the end; iterations, replacements, restarts and the
    /// history are those of all attempts, one after another.
    std::vector<SolveResult> results;
    std::vector<Attempt> attempts;

    const SolveResult& result() const { return results.front(); }
};

/// Solves A x = b; x holds the initial guess on entry and the best iterate found on return, x_low is as for bicgstab.
///
/// With options.preconditioner, one attempt with that; what make_preconditioner throws is thrown.
///
/// Without, the attempts climb, and each begins from the best x of the one before:
///  - where A is large, jacobi, while its pace promises to be done before A could be prepared (preparation.hpp);
///  - klu where its predicted operations are few for each entry of A; else jacobi while its pace promises less work than that,
///    and ilut for as many operations as klu is predicted to take, then klu;
///  - what is left of ilut, ilu0 and jacobi (none where the diagonal has zeros), each for about as many operations as klu's;
///  - at last what gained most digits per operation, with the iterations that are left.
/// What breaks down, stagnates or has used its share hands on; what cannot be made (zero pivots, singular, more memory than
/// allowed) is reported and passed over. Where A is structurally singular klu is left out. All this is decided on counts of
/// entries, operations and iterations, never on a clock, so that in exact the path is the same on every machine.
///
/// Mixed: the attempts are made in single precision, with at most half of the iterations. Where a system is too
/// ill-conditioned for that, or has entries beyond the range of single, what was reached is handed on to attempts in double, so
/// that whatever is solved in double is solved in mixed, too.
///
/// max_iterations counts over all attempts. Throws DimensionMismatch and InvalidArgument as bicgstab does; options.mixed with
/// float is an InvalidArgument.
template <class T>
SolveReport solve(const SpmvPlan<T>& a, std::span<const T> b, std::span<T> x, std::span<T> x_low = {},
                  const SolveOptions& options = {});

/// The same for every column of B: all share each attempt and each product with A, and those that converged leave.
template <class T>
SolveReport solve(const SpmvPlan<T>& a, const DenseMatrix<T>& b, DenseMatrix<T>& x, DenseMatrix<T>* x_low = nullptr,
                  const SolveOptions& options = {});

}  // namespace solver
