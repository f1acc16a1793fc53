#pragma once

/// What BiCGStab needs of the place where it runs.

#include <concepts>
#include <cstdint>
#include <span>

namespace solver {

/// What a step of the recursion needs. Vectors live with the backend and have one element for each row of A. All operations use
/// the accuracy the backend was made for. Every vector update rounds each multiplication and each addition once, to nearest, in
/// the nesting given here (no fused multiply-add), so that all backends give the same bits. No vector overlaps another in a
/// call. What `multiply` returns is to be awaited (task.hpp): then the product is there.
template <class B>
concept StepBackend = requires(B& backend, typename B::Value a, typename B::Vector& out, const typename B::Vector& x,
                               const typename B::Vector& y, std::uint64_t seed) {
    requires std::floating_point<typename B::Value>;
    { backend.vector() } -> std::same_as<typename B::Vector>;  // of zeros
    backend.copy(x, out);

    backend.multiply(x, out);      // out = A x
    backend.precondition(x, out);  // out = M^-1 x

    { backend.dot(x, y) } -> std::same_as<double>;  // rounded to Value
    { backend.norm2(x) } -> std::same_as<double>;   // rounded to Value

    backend.subtract(a, x, out);           // out = out - a x
    backend.multiply_elements(x, y, out);  // out_i = x_i y_i
    backend.add(a, x, out);                // out = out + a x
    backend.add_both(a, x, a, y, out);     // out = (out + a x) + a' y
    backend.direction(x, a, a, y, out);    // out = x + a (out - a' y)
    backend.fill_random(seed, out);        // odd multiples of 2^-16 in (-1, 1), from integers (SplitMix64)
};

/// What is needed around the recursion, which belongs to the backend: Recursion<B> where every operation of a step is a call,
/// or one that makes many steps by itself. The recursion works on Vectors of Values; x is a Solution and b - A x a Residual,
/// which may be wider. `residual`, to be awaited, and `true_norm` are compensated at least.
template <class B>
concept SolverBackend = requires(B& backend, double scale, typename B::Vector& out, const typename B::Vector& x,
                                 typename B::Solution& solution, const typename B::Solution& other_solution,
                                 typename B::Residual& residual, std::span<const typename B::Wide> source) {
    typename B::Recursion;
    requires std::floating_point<typename B::Wide>;
    { backend.solution() } -> std::same_as<typename B::Solution>;  // of zeros, as are the next
    { backend.residual_vector() } -> std::same_as<typename B::Residual>;
    backend.load(source, solution);
    backend.copy(other_solution, solution);
    backend.set_zero(out);
    backend.set_zero(solution);

    backend.residual(other_solution, residual);                      // residual = b - A x
    backend.take(scale, residual, out);                              // out = scale residual, scale a power of 2
    { backend.column_norms() } -> std::same_as<typename B::Vector>;  // sum_i |a_ij| for each j, added up by rows in order
    { backend.right_hand_side_norm() } -> std::same_as<double>;
    { backend.true_norm(residual) } -> std::same_as<double>;
    { backend.is_finite(other_solution) } -> std::same_as<bool>;
    {
        backend.rounding_terms(x, other_solution)
        } -> std::same_as<double>;                // the norm of (w_i x_i) where the rounding of
                                                  // x to Value counts, else 0
    backend.add_to_solution(scale, x, solution);  // x = x + scale z, scale a power of 2
};

}  // namespace solver
