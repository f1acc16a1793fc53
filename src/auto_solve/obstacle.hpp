#pragma once

/// What is known of why a system was not solved.

#include "solver/numeric/rounding.hpp"
#include "solver/solve.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace solver {

/// One sentence about A and what was tried, or nothing where nothing is known: structurally singular, with the first of the
/// rows concerned; no numbers to begin with; not symmetric (Hermitian, its own transpose), for a method that needs it; complete
/// factors that could not be made; pivots that say that A is singular in this precision. A is the real form of a complex matrix
/// where `is_complex`.
template <class T>
std::string obstacle(const SpmvPlan<T>& a, std::span<const Attempt> attempts, bool is_complex);

/// Of pivots, the smallest by the largest: what n subtractions leave of a pivot that vanishes is about that. Below it A is
/// singular as far as T can tell.
template <class T>
double least_pivot_ratio(std::int64_t rows) {
    return static_cast<double>(rows) * unit_roundoff<T>;
}

/// Whether these were complete factors that could not be made of a singular A, or whose pivots say that it is singular.
bool found_singular(const Attempt& attempt, double least_pivot_ratio);

/// Of an x that is least squares, since nothing solves the system.
std::string obstacle_with_least_squares(std::string obstacle);

/// The obstacle of an A that was proven to be nonsingular since it was told.
std::string obstacle_of_nonsingular(std::string obstacle);

}  // namespace solver
