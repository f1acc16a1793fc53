#pragma once

/// What the Krylov methods share: how they are told what to do, and what they tell.

#include "solver/accuracy.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace solver {

enum class KrylovMethod {
    bicgstab,   ///< for any A (bicgstab.hpp)
    cg,         ///< conjugate gradients, for symmetric positive definite A and M (cg.hpp)
    gmres,      ///< for any A, the least residual of each cycle of steps; needs many vectors (krylov_solve.hpp)
    minres,     ///< for symmetric A, definite or not, and symmetric positive definite M (krylov_solve.hpp)
    idr,        ///< IDR(4), for any A (krylov_solve.hpp)
    bicgstab2,  ///< BiCGStab(2), for any A (krylov_solve.hpp)
    cocg,       ///< conjugate orthogonal CG, for complex A and M that are their own transposes (krylov_solve.hpp)
};

inline constexpr std::array all_krylov_methods{KrylovMethod::bicgstab, KrylovMethod::cg,  KrylovMethod::gmres,
                                               KrylovMethod::minres,   KrylovMethod::idr, KrylovMethod::bicgstab2,
                                               KrylovMethod::cocg};

/// "bicgstab", "cg", "gmres", "minres", "idr", "bicgstab2" or "cocg".
std::string_view to_string(KrylovMethod method);

/// The inverse of to_string. Throws InvalidArgument that lists the choices.
KrylovMethod krylov_method_from_text(std::string_view text);

/// As krylov_method_from_text, but nothing for "auto", which is listed first.
std::optional<KrylovMethod> krylov_method_or_auto_from_text(std::string_view text);

/// How the iteration ended. None of these is an exception: x holds the best iterate.
enum class SolveStatus {
    converged,        ///< the true residual meets the tolerance; by Guarantee::rounded also that x is proven to be the
                      ///< solution rounded, whatever the residual of its rounded numbers is; nothing else is called so
    iteration_limit,  ///< max_iterations were made, or the callback asked to stop, or A was
                      ///< proven to be singular before any (SolveOptions::guarantee)
    breakdown,        ///< a scalar by which the method divides vanished again and again, restarts included
    stagnated,        ///< the true residual stopped falling: the limit of this precision, accuracy or preconditioner
    non_finite,       ///< Inf or NaN in A, b, x or on the way
    indefinite,       ///< cg: A or M is not positive definite to working precision, for p'Ap <= 0 or r'M^-1 r <= 0 was seen;
                      ///< minres: M
};

/// "converged", "iteration limit", "breakdown", "stagnated", "non-finite" or "indefinite".
std::string_view to_string(SolveStatus status);

/// x as a step left it. It is computed when it is asked for, from what x was when last verified and what was added since.
class Iterate {
public:
    /// Writes x, in single precision the sum of both its parts, as n doubles. Costs a copy of x and an update, from a CUDA
    /// device the transfer. It changes nothing of the solve. Throws DimensionMismatch.
    virtual void copy_to(std::span<double> x) const = 0;

protected:
    ~Iterate() = default;
};

/// One step as seen by callbacks and kept as history.
struct Iteration {
    std::int64_t number = 0;        ///< 0 is the initial guess; each further one costs two products with A in bicgstab, one
                                    ///< and three in turn in bicgstab2, else one
    double recursive_residual = 0;  ///< ||r||_2 / ||b||_2 of the recursively updated residual
    double true_residual = -1;      ///< ||b - A x||_2 / ||b||_2 where it was computed in this step, else negative
    bool replaced = false;          ///< r was replaced by the true residual
    std::int64_t column = 0;        ///< of several right-hand sides, from 0
    /// x, for the callback and as long as it runs; null in a history, and on a GPU in iterations between two callback
    /// intervals.
    const Iterate* iterate = nullptr;
};

struct KrylovOptions {
    Accuracy accuracy = Accuracy::exact;  ///< of every product, dot, norm and preconditioner step
    double tolerance = 1e-10;             ///< on ||b - A x||_2 / ||b||_2
    double absolute_tolerance = 0;        ///< or on ||b - A x||_2, whichever is met first; for each right-hand side
    std::int64_t max_iterations = 10000;
    std::int64_t restart = 30;  ///< gmres: steps of a cycle; it needs as many vectors, and twice as many with M
    std::function<bool(const Iteration&)> callback =
        {};  ///< told of every iteration; false stops. Called from the solving thread. What it throws goes through the solve.
    /// The callback's answer counts after every so many iterations, which a GPU makes without a stop in between.
    std::int64_t callback_interval = 1;
    bool keep_history = false;

    /// Elements are real and imaginary parts in turn and A is a real_form (complex.hpp): the scalars of bicgstab, bicgstab2,
    /// gmres, idr and cocg are complex, and count steps as such. Those of cg and minres, for Hermitian A, are real in any case.
    bool complex_scalars = false;
};

struct SolveResult {
    SolveStatus status = SolveStatus::converged;
    std::int64_t iterations = 0;
    double relative_residual = 0;   ///< ||b - A x||_2 / ||b||_2 of the x returned, each b_i - (A x)_i rounded once
    double recursive_residual = 0;  ///< ||r||_2 / ||b||_2 of the recursively updated residual at the end
    std::int64_t replacements = 0;  ///< how often r was replaced by a true residual
    std::int64_t restarts = 0;      ///< after breakdowns
    std::vector<Iteration> history;
};

}  // namespace solver
