#pragma once

/// What the Krylov methods need of the place where they run.

#include "core/krylov/complex_scalar.hpp"
#include "core/krylov/stretch.hpp"
#include "krylov/task.hpp"
#include "solver/accuracy.hpp"
#include "solver/error.hpp"
#include "solver/numeric/bounds.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace solver {

/// What a step of a recurrence needs. Vectors live with the backend and have one element for each row of A. All operations use
/// the accuracy the backend was made for. Every vector update rounds each multiplication and each addition once, to nearest, in
/// the nesting given here (no fused multiply-add), so that all backends give the same bits. No vector overlaps another in a
/// call. Where Value is complex, dot products conjugate x, and `rows` counts complex numbers. What the products return is to be
/// awaited (task.hpp): then the product is there.
template <class B>
concept StepBackend = requires(B& backend, typename B::Value a, typename B::Vector& out, const typename B::Vector& x,
                               const typename B::Vector& y, std::uint64_t seed, std::span<const typename B::Value> as,
                               std::span<const typename B::Vector> xs, std::span<ScalarOf<typename B::Value>> scalars) {
    requires std::floating_point<RealOf<typename B::Value>>;
    { backend.rows() } -> std::same_as<std::int64_t>;
    { backend.vector() } -> std::same_as<typename B::Vector>;  // of zeros
    backend.copy(x, out);
    backend.set_zero(out);

    backend.multiply(x, out);                                // out = A x
    backend.multiply_accurately(x, out);                     // the same, compensated at least
    backend.precondition(x, out);                            // out = M^-1 x
    { backend.has_preconditioner() } -> std::same_as<bool>;  // whether M is another matrix than I

    { backend.dot(x, y) } -> std::same_as<ScalarOf<typename B::Value>>;  // rounded to Value
    { backend.norm2(x) } -> std::same_as<double>;                        // rounded to Value
    backend.dots(xs, y, scalars);                                        // scalars_k = (x_k, y), rounded to Value

    /// How far a dot product may be off by more than its one rounding: by this times ||x|| ||y||.
    { backend.dot_uncertainty() } -> std::same_as<double>;

    backend.multiply_elements(x, y, out);  // out_i = x_i y_i
    backend.scale(a, out);                 // out = a out
    backend.scaled(a, x, out);             // out = a x
    backend.add(a, x, out);                // out = out + a x
    backend.add_combination(as, xs, out);  // out = ((out + a_0 x_0) + a_1 x_1) + ...
    backend.subtract(a, x, out);           // out = out - a x
    backend.scale_and_add(a, x, out);      // out = x + a out
    backend.add_both(a, x, a, y, out);     // out = (out + a x) + a' y
    backend.direction(x, a, a, y, out);    // out = x + a (out - a' y)
    backend.fill_random(seed, out);        // odd multiples of 2^-16 in (-1, 1), from integers (SplitMix64)
};

/// The square root of the smallest normal number, as a power of two. Of smaller b residuals might underflow, and of some b the
/// norm is beyond all numbers: they are computed in another unit.
template <std::floating_point T>
inline constexpr double smallest_plain = std::same_as<T, double> ? 0x1p-511 : 0x1p-63;

/// What the outer loop (solve.hpp) needs besides. The recurrence works on Vectors of Values; x is a Solution and b - A x a
/// Residual, which may be wider. `residual`, to be awaited, and `true_norm` are exact in every mode: where A is nearly singular
/// x may grow so large that compensated sums lose more than b.
template <class B>
concept SolverBackend = requires(B& backend, double scale, typename B::Vector& out, const typename B::Vector& x,
                                 typename B::Solution& solution, const typename B::Solution& other_solution,
                                 typename B::Residual& residual, std::span<const typename B::Wide> source,
                                 std::span<typename B::Wide> target, std::span<double> doubles) {
    requires std::floating_point<typename B::Value> && std::floating_point<typename B::Wide>;
    { backend.solution() } -> std::same_as<typename B::Solution>;  // of zeros, as is the next
    { backend.residual_vector() } -> std::same_as<typename B::Residual>;
    backend.load(source, solution);
    backend.store(other_solution, target, target);  // x, and its low part where there is one
    backend.read(other_solution, doubles);          // the sum of both
    backend.copy(other_solution, solution);
    backend.set_zero(out);
    backend.set_zero(solution);

    backend.residual(scale, other_solution, residual);  // residual = scale (b - A x), scale a power of 2, rounded once
    backend.take(scale, residual, out);                 // out = scale residual, scale a power of 2
    {
        backend.column_norms()
        } -> std::same_as<const typename B::Vector&>;  // sum_i |a_ij| for each j, added up by rows in order
    { backend.right_hand_side_norm() } -> std::same_as<double>;
    { backend.true_norm(residual) } -> std::same_as<double>;
    { backend.is_finite(other_solution) } -> std::same_as<bool>;
    {
        backend.rounding_terms(x, other_solution)
        } -> std::same_as<double>;                // the norm of (w_i x_i) where the rounding of
                                                  // x to Value counts, else 0
    backend.add_to_solution(scale, x, solution);  // x = x + scale z, scale a power of 2
};

/// ||(x_i y_i)||; `products` is overwritten.
template <StepBackend B>
double norm_of_products(B& backend, const typename B::Vector& x, const typename B::Vector& y, typename B::Vector& products) {
    backend.multiply_elements(x, y, products);
    return backend.norm2(products);
}

/// What the modes promise of a dot product of n elements besides one rounding of the result, by ||x|| ||y|| (accuracy.hpp;
/// sum |x_i y_i| <= ||x|| ||y||).
template <std::floating_point T>
double dot_uncertainty(Accuracy accuracy, std::int64_t n) {
    if (accuracy == Accuracy::exact) return 0;
    constexpr std::int64_t longest_chain = 1024;
    return accuracy == Accuracy::compensated ? gamma<T>(longest_chain) * gamma<T>(longest_chain) : gamma<T>(n);
}

/// What `read` of a backend does with x on the host; `low` is empty, or as long as x.
template <class T>
void write_sum(std::span<const T> x, std::span<const T> low, std::span<double> to) {
    if (to.size() != x.size())
        throw DimensionMismatch("iterate: x has " + std::to_string(x.size()) + " elements, the target " +
                                std::to_string(to.size()) + "; expected as many");
    for (std::size_t i = 0; i < x.size(); ++i)
        to[i] = low.empty() ? static_cast<double>(x[i]) : static_cast<double>(x[i]) + static_cast<double>(low[i]);
}

/// A Krylov method: r and z with r ~ r_0 - A z, where z, the correction to the solution, grows from zero. Where a step is a
/// sequence of a StepBackend's operations, it works for every such backend; one that makes many steps by itself is a recurrence
/// of its own.
template <class R, class Vector>
concept Recurrence = requires(R& recurrence, const Vector* weights, double norm, std::uint64_t seed, const StepLimits& limits) {
    requires std::convertible_to<decltype((recurrence.r)), Vector&>;
    requires std::convertible_to<decltype((recurrence.z)), Vector&>;
    { R::has_random_starts } -> std::convertible_to<bool>;      // whether begin makes anything of its seed
    { R::has_bounded_residuals } -> std::convertible_to<bool>;  // whether a norm of r falls in every step
    { R::keeps_directions } -> std::convertible_to<bool>;       // whether continue_from_replaced goes on, or begins anew, too

    /// Once, before all else. With weights (1-norms of the columns of A), which stay the caller's, steps watch the drift of r.
    recurrence.start(weights);

    /// Begins at r. A seed other than 0 asks for another course than that of the seeds before. Leaves z alone.
    recurrence.begin(norm, seed);

    /// Makes z what it is to be after the steps so far, where they leave that for later. r may stay behind.
    recurrence.update_z();

    /// Goes on from another r, close to the old one, in the old directions where it keeps them.
    recurrence.continue_from_replaced(norm);

    /// r is the true residual, rounded; the second number is x_terms as in ResidualDrift.
    recurrence.reset_drift(norm, norm);

    /// Steps until there is a reason to verify or a limit is reached.
    { recurrence.advance(limits) } -> std::same_as<Task<Stretch>>;

    /// ||r|| after each step of the last stretch.
    { recurrence.norms() } -> std::convertible_to<std::span<const double>>;
};

}  // namespace solver
