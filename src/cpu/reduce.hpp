#pragma once

/// The CPU's reductions of whole vectors.

#include "solver/accuracy.hpp"
#include "solver/numeric/expansion.hpp"
#include "solver/partial.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver::cpu {

enum class Reduction { sum, dot, norm2 };

/// sum_i x_i, sum_i x_i y_i, or sqrt(sum_i x_i^2), of which only dot reads y.
double reduce(Reduction reduction, std::int64_t n, const double* x, const double* y, Accuracy accuracy, int threads);
float reduce(Reduction reduction, std::int64_t n, const float* x, const float* y, Accuracy accuracy, int threads);

/// The sum (products false) or dot product itself.
Expansion<double> expansion(bool products, std::int64_t n, const double* x, const double* y, int threads);
Expansion<float> expansion(bool products, std::int64_t n, const float* x, const float* y, int threads);
Superaccumulator superaccumulator(bool products, std::int64_t n, const double* x, const double* y, int threads);
Superaccumulator superaccumulator(bool products, std::int64_t n, const float* x, const float* y, int threads);

/// The sum, and the dot products of x with every y, as what others may complete.
PartialSum<double> partial_sum(std::int64_t n, const double* x, int threads);
PartialSum<float> partial_sum(std::int64_t n, const float* x, int threads);
std::vector<PartialSum<double>> partial_dots(std::int64_t n, const double* x, std::span<const double* const> ys, int threads);
std::vector<PartialSum<float>> partial_dots(std::int64_t n, const float* x, std::span<const float* const> ys, int threads);

}  // namespace solver::cpu
