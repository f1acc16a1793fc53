#pragma once

/// The CPU's forward and backward substitution.

#include "core/paired_triangle.hpp"
#include "cpu/level_schedule.hpp"
#include "solver/triangular_solve.hpp"

#include <type_traits>

namespace solver::cpu {

/// Where a row costs little arithmetic, reading rows in natural order is worth more than solving several at once (measured on
/// two cores, ILU(0) of G3_circuit, stencil27_64, poisson2d_1000 and memplus: L costs up to twice as much level by level).
template <class T>
constexpr bool is_bound_by_memory(Accuracy accuracy) {
    return accuracy == Accuracy::fast || (accuracy == Accuracy::compensated && std::is_same_v<T, float>);
}

/// Rows one after the other.
void solve_triangle(const CsrView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                    Accuracy accuracy);
void solve_triangle(const CsrView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x, Accuracy accuracy);
void solve_triangle(const DenseView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                    Accuracy accuracy);
void solve_triangle(const DenseView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x,
                    Accuracy accuracy);

/// Pairs of rows one after the other. b and x have as many elements as a.beside has rows.
void solve_triangle(const PairedTriangle<double>& a, const double* b, double* x, Accuracy accuracy);
void solve_triangle(const PairedTriangle<float>& a, const float* b, float* x, Accuracy accuracy);

/// Level by level. The bits depend on the schedule, not on its number of threads. With `pair_pivots` the schedule is one of the
/// rows of a PairedTriangle, with a unit diagonal, and these are its pivots.
void solve_levels(const LevelSchedule<double>& schedule, const double* b, double* x, Accuracy accuracy,
                  const double* pair_pivots = nullptr);
void solve_levels(const LevelSchedule<float>& schedule, const float* b, float* x, Accuracy accuracy,
                  const float* pair_pivots = nullptr);

}  // namespace solver::cpu
