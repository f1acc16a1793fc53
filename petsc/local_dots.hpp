#pragma once

/// What one rank contributes to dot products, of vectors at a place. The results are on the processor.

#include "place.hpp"
#include "solver/partial.hpp"

#include <span>
#include <vector>

namespace petscsolver {

using Span = std::span<const double>;

/// sum_i x_i y_ji for every y_j, with the proof of what is lost.
std::vector<solver::PartialSum<double>> partial_dots(const Place& place, Span x, std::span<const Span> ys);

/// sum_i x_i y_i as integers, without any error. Where the sum is Inf or NaN, or has bits below the smallest subnormal, a
/// device's vectors are copied for it, which is slow.
solver::SumDigits dot_digits(const Place& place, Span x, Span y);

/// sum_i x_i y_ji for every y_j as plain sums, by the library's fast mode.
void plain_dots(const Place& place, Span x, std::span<const Span> ys, double* results);

/// The working memory on the device, which must go before PETSc's device does.
void free_device_memory();

}  // namespace petscsolver
