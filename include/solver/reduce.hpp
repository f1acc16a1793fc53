#pragma once

/// Sums, dot products and norms of vectors, in the accuracy asked for.
///
/// All of them: an empty vector gives +0; a result of zero is +0; a NaN among the inputs, Inf - Inf or 0 Inf give the canonical
/// NaN, otherwise an Inf among the terms gives that Inf. In exact, intermediate overflow and underflow do not exist; in fast
/// and compensated a partial sum that overflows may give Inf or NaN. Blocks of fixed length are combined in a fixed tree, so
/// the bits of fast and compensated do not depend on the number of threads either, only on the processor's vector length. dot
/// throws DimensionMismatch if the lengths differ.
///
/// On a CUDA device the vectors are copied there first, which takes longer than the processor needs for the whole: hence the
/// default. For vectors that live on the device there is cuda::Reducer (cuda.hpp).

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/numeric/expansion.hpp"

#include <span>

namespace solver {

/// sum_i x_i
double sum(std::span<const double> x, Accuracy accuracy, const Device& device = Device::cpu());
float sum(std::span<const float> x, Accuracy accuracy, const Device& device = Device::cpu());

/// sum_i x_i y_i
double dot(std::span<const double> x, std::span<const double> y, Accuracy accuracy, const Device& device = Device::cpu());
float dot(std::span<const float> x, std::span<const float> y, Accuracy accuracy, const Device& device = Device::cpu());

/// sqrt(sum_i x_i^2), never Inf or 0 only because a square overflows or underflows. exact: that real number, rounded once.
/// Relative error: fast gamma_n / 2 + 2 u, compensated 2 u + gamma_h^2, and half of the smallest number where the result is
/// subnormal.
double norm2(std::span<const double> x, Accuracy accuracy, const Device& device = Device::cpu());
float norm2(std::span<const float> x, Accuracy accuracy, const Device& device = Device::cpu());

/// sum_i x_i and sum_i x_i y_i themselves, without any rounding, as sums of a few numbers that do not overlap (Expansion, at
/// most 40 doubles or 12 floats); the first one is what sum and dot give in exact. The same bits everywhere. Takes the time of
/// a superaccumulator.
Expansion<double> sum_expansion(std::span<const double> x, const Device& device = Device::cpu());
Expansion<float> sum_expansion(std::span<const float> x, const Device& device = Device::cpu());
Expansion<double> dot_expansion(std::span<const double> x, std::span<const double> y, const Device& device = Device::cpu());
Expansion<float> dot_expansion(std::span<const float> x, std::span<const float> y, const Device& device = Device::cpu());

}  // namespace solver
