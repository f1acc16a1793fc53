#pragma once

/// What BiCGStab needs of the place where it runs.

#include <concepts>
#include <cstdint>
#include <span>

namespace solver {

/// Vectors live with the backend and have one element for each row of A. All operations use the accuracy the backend was made
/// for; `residual` and `true_norm` are compensated at least. Every vector update rounds each multiplication and each addition
/// once, to nearest, in the nesting given here (no fused multiply-add), so that all backends give the same bits. No vector
/// overlaps another in a call.
template <class B>
concept SolverBackend = requires(B& backend, typename B::Value a, typename B::Vector& out, const typename B::Vector& x,
                                 const typename B::Vector& y, std::span<const typename B::Value> source,
                                 std::span<typename B::Value> target, std::uint64_t seed) {
    requires std::floating_point<typename B::Value>;
    { backend.vector() } -> std::same_as<typename B::Vector>;  // of zeros
    backend.load(source, out);
    backend.store(x, target);
    backend.copy(x, out);
    backend.set_zero(out);

    backend.multiply(x, out);                                        // out = A x
    backend.precondition(x, out);                                    // out = M^-1 x
    backend.residual(x, y, out);                                     // out = b - A (x + y), y empty for none
    { backend.column_norms() } -> std::same_as<typename B::Vector>;  // sum_i |a_ij| for each j, added up by rows in order
    { backend.right_hand_side_norm() } -> std::same_as<double>;

    { backend.dot(x, y) } -> std::same_as<double>;  // rounded to Value
    { backend.norm2(x) } -> std::same_as<double>;   // rounded to Value
    { backend.true_norm(x) } -> std::same_as<double>;

    backend.scale(a, out);                    // out = a out
    backend.subtract(a, x, out);              // out = out - a x
    backend.multiply_elements(x, y, out);     // out_i = x_i y_i
    backend.add(a, x, out);                   // out = out + a x
    backend.add_both(a, x, a, y, out);        // out = (out + a x) + a' y
    backend.direction(x, a, a, y, out);       // out = x + a (out - a' y)
    backend.add_to_solution(a, x, out, out);  // (out, out') = out + out' + a x, a pair; out' empty: out = out + a x
    backend.fill_random(seed, out);           // odd multiples of 2^-16 in (-1, 1), from integers (SplitMix64)
};

}  // namespace solver
