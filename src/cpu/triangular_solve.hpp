#pragma once

/// The CPU's forward and backward substitution.

#include "solver/triangular_solve.hpp"

namespace solver::cpu {

void solve_triangle(const CsrView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                    Accuracy accuracy);
void solve_triangle(const CsrView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x, Accuracy accuracy);
void solve_triangle(const DenseView<double>& a, Triangle triangle, Diagonal diagonal, const double* b, double* x,
                    Accuracy accuracy);
void solve_triangle(const DenseView<float>& a, Triangle triangle, Diagonal diagonal, const float* b, float* x,
                    Accuracy accuracy);

}  // namespace solver::cpu
