#pragma once

/// Solves A x = b without being told how: a Krylov method under preconditioners of growing strength.

#include "solver/dense_matrix.hpp"
#include "solver/krylov.hpp"
#include "solver/preconditioner.hpp"
#include "solver/proof.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace solver {

/// What the automatic choice takes operations to cost. In exact, equal profiles give equal bits of x on every device.
enum class CostProfile {
    automatic,  ///< exact: processor on every device. fast, compensated: gpu where the plan is on a CUDA device, else processor
    processor,  ///< iterations, factors and hierarchies are made by the same cores
    gpu,        ///< iterations are cheap; what is made on the host (orders, factors) is dear beside them
};

/// "auto", "processor" or "gpu".
std::string_view to_string(CostProfile profile);

/// The inverse of to_string. Throws InvalidArgument that lists the choices.
CostProfile cost_profile_from_text(std::string_view text);

struct SolveOptions {
    KrylovOptions iteration = {};
    std::optional<PreconditionerKind> preconditioner = {};  ///< nothing: chosen automatically
    std::optional<KrylovMethod> method = {};                ///< nothing: chosen automatically
    CostProfile profile = CostProfile::automatic;
    PreconditionerOptions factors = {};
    Guarantee guarantee = Guarantee::none;  ///< what is to be proven of x (guarantee.hpp)
    bool mixed = false;  ///< double only: the iteration in single precision (see bicgstab), and in double where that fails
    bool least_squares = true;  ///< where nothing solves a singular system (see solve); false: none are looked for
};

/// One preconditioner that was tried.
struct Attempt {
    PreconditionerKind preconditioner = PreconditionerKind::none;
    KrylovMethod method = KrylovMethod::bicgstab;
    /// By the next attempt, which is the same with minres or bicgstab: A or M was not positive definite, or cocg broke down.
    bool repeated = false;
    bool mixed = false;               ///< the iteration ran in single precision
    bool least_squares = false;       ///< by LSMR (least_squares.hpp), not by `method`
    std::string refusal;              ///< why it could not be made; empty where it was
    std::int64_t factor_entries = 0;  ///< of its factors, and their hash: equal hashes, equal bits
    std::uint64_t factor_hash = 0;
    double pivot_ratio = 1;             ///< of its factors (Preconditioner::pivot_ratio)
    std::vector<LevelSummary> levels;   ///< of its hierarchy, the finest first
    double initial_residual = 1;        ///< relative, of the first of `columns`, where the attempt began
    double least_residual = 1;          ///< the least of its iterations, as they update it: x may have ended above it
    std::vector<std::int64_t> columns;  ///< the right-hand sides that were left to solve, from 0
    std::vector<SolveResult> results;   ///< one for each of `columns`, without history
    double setup_seconds = 0;
    double solve_seconds = 0;
};

/// Its method by name, which is lsmr of least squares.
std::string_view method_name(const Attempt& attempt);

struct SolveReport {
    /// One for each right-hand side. Status and residuals are those at the end; iterations, replacements, restarts and the
    /// history are those of all attempts, one after another.
    std::vector<SolveResult> results;
    std::vector<Attempt> attempts;
    CostProfile profile = CostProfile::processor;  ///< that the automatic choice followed
    std::string obstacle;  ///< what is known to stand in the way, in one sentence, where not all, or not all rows, was solved
    std::vector<SolutionProof> proofs = {};   ///< one for each right-hand side, where a guarantee was asked for
    double guarantee_seconds = 0;             ///< what they took, all together
    std::int64_t certificate_iterations = 0;  ///< that the proof of A took, for all right-hand sides

    const SolveResult& result() const { return results.front(); }
    const SolutionProof& proof() const { return proofs.front(); }
};

/// Solves A x = b; x holds the initial guess on entry and the best iterate found on return, or, where nothing solves the
/// system, least squares (below); x_low is as for bicgstab.
///
/// With options.preconditioner, one attempt with that; what make_preconditioner throws is thrown. With klu it
/// pauses after 100 iterations, for the next paragraph but one.
///
/// Without, a schedule of attempts, each from the best x of the one before, on what counts of memory traffic and operations
/// make the cheapest, as the profile weighs them:
///  - where A has at least 5000 entries, jacobi, while the digits gained so far promise to be done before a stronger
///    preconditioner could be made; on a processor for no more than a sixteenth of that where it is too slow by then and
///    some rows lie farther apart in the graph of A than the iterations that it may take, and not at all where, besides, four
///    of five rows add up to less than 2^-10 of their diagonal, amg suits A, x is 0 and b is not;
///  - amg where it suits A (a positive diagonal, nine of ten rows with sum |a_ij| <= 4 a_ii beside it, no waves) and is
///    expected to cost less than 1.5 times as much as complete factors, which one thread makes, and which are estimated from
///    parts of A (preparation.hpp). An A that is its own transpose has waves where more than half of its rows add up to less
///    than -2^-10 a_ii, and four times as many as to more than 2^-10 a_ii;
///  - schur where A is symmetric, has a diagonal that is not positive, and this is expected to cost less than factors, by their
///    estimate or, later, by the prepared matrix;
///  - jacobi again, where its rate promises less work than factors;
///  - the prepared matrix (preparation.hpp): klu where its predicted operations are few for each entry of A, 1000, and 10000
///    where A has waves; else jacobi on the same terms, ilut for as many operations as klu is predicted to take, then klu; klu
///    before ilut where that would keep all, or where what was tried has cost as much as klu is predicted to;
///  - what is left of ilut, ilu0 and jacobi (none where the diagonal has zeros, or is not positive and the method needs it),
///  each for about as many operations as klu's;
///  - at last what gained most digits per operation, or jacobi where none gained any, with the iterations that are left; none
///    where all of these were refused.
///  Where complete factors say that A is singular, as far as its precision can tell, that ends once the residual stands still.
/// Rows without entries of an A that is its own transpose stand aside, as points of a graph that no edge meets: x keeps the
/// guess there, preconditioners are made of A with ones on the diagonal of these rows, and what b has there is left out as
/// means are (below).
/// For several right-hand sides together iterations, but not factors, cost so many times as much: complete factors are then
/// estimated before the first jacobi where amg suits A, a jacobi of less than 16 iterations is left out, complete factors
/// count twice beside amg, since one thread makes them, amg has no more than four times what they cost, or 50 iterations, where
/// that is less than 200, and klu goes before ilut where it is expected to cost less than that with ten iterations.
/// What breaks down, stagnates or has used its share hands on; what cannot be made (zero pivots, singular, more memory than
/// allowed) is reported and passed over. Where A is structurally singular klu is left out. All this is decided on counts of
/// entries, operations and iterations, never on a clock. In exact the profile is `processor` on every device unless
/// options.profile says otherwise, so that the path and the bits of x are the same on every machine; `gpu` weighs what is made
/// on the host against a GPU's iterations, and has other bits. Where nothing helps, the status is that of the whole solve, and
/// `obstacle` says what is known of the reason. What nothing solved is tried by idr without a preconditioner at last, unless a
/// method or a preconditioner is named or rounding x alone is in the way.
///
/// Where klu leaves more of b - A x than the tolerance allows, since rounding x makes as much of it, and would change x by less
/// than 2^-10 of itself, `obstacle` says so unless something else solves the system, and x is klu's, also where something else
/// leaves less of b - A x: that may be much further from the solution. Where rounding x makes more than 16 times what the
/// tolerance allows nothing else is tried: the status is `stagnated`. So it is where A^-1 b is so large that rounding it leaves
/// more of b - A x than x = 0 does, as where x grows from row to row: x is then what klu's factors make of b in three steps of
/// iterative refinement, and up to 30 as long as each halves the change, if one more would change that by less than 2^-20 of
/// itself. Of a singular A, w'A = 0, it never is: w'(b - A x) stays w'b, and factors would change x by all of itself again.
///
/// Least squares (least_squares.hpp) are looked for where A is singular, as its structure or complete factors tell and one more
/// attempt has not solved the system, in 2000 steps at most and with factors that cost no more than 10^4; and in as many steps
/// again for what they leave of b. They are looked for, too, where the residual stood still in an attempt, in 200 steps more
/// than twice the iterations so far. An attempt that is not given up as too slow pauses for that where the residual has not
/// halved in the second half of 256, 512, ... iterations, and goes on after it, while that is not too slow where other attempts
/// are to come. An x that solves the system is taken. Where what they leave of b stands at right angles to the columns of A but
/// for 16 unit roundoffs, and is 32 sqrt(n) times what the tolerance allows and more than rounding x comes to, nothing solves
/// the system to this precision: x is its least squares, even where the residual of an x that has grown beyond all measure was
/// less, the status is `stagnated`, and `obstacle` says so. If klu was not tried by then, and is estimated to cost no more than
/// 10^4 iterations with jacobi, it is, for a nearly singular A: where rounding limits what its factors make of b, as above,
/// that is x instead. Where no least squares are found all goes on from the x of before; no more than a quarter of the
/// iterations that were left are gone each time. None of this is done where a method, a preconditioner or a guarantee is asked
/// for, or x_low.
///
/// Rows of A that are far smaller than others are looked at once more. The relative residual says nothing of them, as inside of
/// a body whose boundary values are held by a penalty. S scales each row by a power of two to a largest |a_ij| from 1 to 2. For
/// each column that has converged with more than a share s of ||S b|| in ||S (b - A x)||, where s is 2^10 times the tolerance,
/// 2^-16 at least and, unless four times the tolerance is more, 1/4 at most, S A x = S b is solved from x on, to the same
/// tolerance, and to a smaller one where that misses the tolerance of A x = b; the residuals that its iterations tell of are
/// its own. That x is taken where it meets the tolerance of A x = b and leaves less of S b. Where more than s is left all the
/// same, or a method or a preconditioner is named and nothing further solved for, the status is `converged`, and `obstacle`
/// says what is not. Where x is to be rounded this is left to the proof.
///
/// The method, unless options.method says it, is bicgstab unless A and the preconditioner are symmetric, A but for 128 unit
/// roundoffs of a_ij or of sqrt(|a_ii a_jj|): then cg where the diagonal is positive, else minres. Where cg finds that A or M
/// is not positive definite, the attempt is repeated with minres, and where minres finds that M is not with bicgstab, which
/// then stays the method. With complex scalars it is cocg where A and the preconditioner are their own transposes, and after a
/// breakdown bicgstab. With schur it is idr.
///
/// Mixed: the attempts are made in single precision, with half of the iterations, rounded up, at most. Where a system is too
/// ill-conditioned for that, or has entries beyond the range of single, what was reached is handed on to attempts in double, so
/// that whatever is solved in double is solved in mixed, too.
///
/// With options.guarantee a certificate of A (certify) is looked for after the solve, and every solution gets a proven bound,
/// or is rounded: x_i = RN((A^-1 b)_i), by the rules of proof.hpp, x_low = 0. These bits depend on A and b alone, not on the
/// method, the preconditioner, the tolerance, the mode, the device or the version. Where all of a column is proven to be
/// rounded its status is `converged`, as nothing better can be had, unless the rule of zeros dropped what the tolerance needs.
/// What could not be proven is told in `proofs`, with an estimate, and is taken back where x would no longer meet the
/// tolerance. Where the callback ended the solve nothing is proven. Where A shows at sight that it is singular (certify), no
/// iteration is made: x is the initial guess, `obstacle` says why, and the status is `converged` only where the guess solves
/// the system.
///
/// Where all columns of A (of a symmetric one its rows) add up to zero as far as rounding of its entries tells, as in Neumann
/// problems, graphs and what conserves a quantity, and something was left to be chosen automatically, x is for b less its mean,
/// in each part of A that no entry connects with the rest: of that A x has no part, unless x is so large that its rounding
/// undoes it. So ||b - A x|| is least, but for the tolerance, and attempts, history and callbacks tell of b less its mean;
/// where b - A x does not meet the tolerance, the status is `stagnated`, and `obstacle` says so. None of this is done where a
/// guarantee is asked for, or the guess meets the tolerance.
///
/// max_iterations counts over all attempts. Throws DimensionMismatch and InvalidArgument as bicgstab does; options.mixed with
/// float is an InvalidArgument.
template <class T>
SolveReport solve(const SpmvPlan<T>& a, std::span<const T> b, std::span<T> x, std::span<T> x_low = {},
                  const SolveOptions& options = {});

/// Solves A X = B. All columns share each attempt and each product with A, and those that converged leave. With a kind and a
/// method that are named every column is solved as by the function for one vector; the automatic choice looks at the slowest.
template <class T>
SolveReport solve(const SpmvPlan<T>& a, const DenseMatrix<T>& b, DenseMatrix<T>& x, DenseMatrix<T>* x_low = nullptr,
                  const SolveOptions& options = {});

}  // namespace solver
