#pragma once

/// BiCGStab for any number of right-hand sides, arguments checked.

#include "krylov/pauses.hpp"
#include "solver/bicgstab.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace solver {

/// One right-hand side and where its solution goes; x_low empty for none.
template <class T>
struct Unknown {
    std::span<const T> b;
    std::span<T> x;
    std::span<T> x_low = {};
};

template <class T>
std::vector<SolveResult> run_bicgstab(const SpmvPlan<T>& a, const Preconditioner<T>& m, std::span<const Unknown<T>> unknowns,
                                      const BicgstabOptions& options, const Pauses& pauses);
std::vector<SolveResult> run_bicgstab(const SpmvPlan<double>& a, const SpmvPlan<float>& a_single,
                                      const Preconditioner<float>& m, std::span<const Unknown<double>> unknowns,
                                      const BicgstabOptions& options, const Pauses& pauses);

/// What the public functions check, and the spans that they make.
template <class T>
Unknown<T> checked_unknown(const SpmvPlan<T>& a, std::span<const T> b, std::span<T> x, std::span<T> x_low,
                           const BicgstabOptions& options);
template <class T>
std::vector<Unknown<T>> checked_unknowns(const SpmvPlan<T>& a, const DenseMatrix<T>& b, DenseMatrix<T>& x,
                                         DenseMatrix<T>* x_low, const BicgstabOptions& options);

}  // namespace solver
