#pragma once

/// The CPU's forward and backward substitution.

#include "cpu/level_schedule.hpp"
#include "solver/triangular_solve.hpp"

namespace solver::cpu {

/// Rows one after the other.
void solve_triangle(const CsrView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                    Accuracy accuracy);
void solve_triangle(const CsrView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x, Accuracy accuracy);
void solve_triangle(const DenseView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                    Accuracy accuracy);
void solve_triangle(const DenseView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x,
                    Accuracy accuracy);

/// Level by level. The bits depend on the schedule, not on its number of threads.
void solve_levels(const LevelSchedule<double>& schedule, const double* b, double* x, Accuracy accuracy);
void solve_levels(const LevelSchedule<float>& schedule, const float* b, float* x, Accuracy accuracy);

}  // namespace solver::cpu
