#pragma once

/// A Krylov method for any number of right-hand sides, arguments checked.

#include "krylov/pauses.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/krylov.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <span>
#include <string_view>
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
std::vector<SolveResult> run_krylov(KrylovMethod method, const SpmvPlan<T>& a, const Preconditioner<T>& m,
                                    std::span<const Unknown<T>> unknowns, const KrylovOptions& options, const Pauses& pauses);
std::vector<SolveResult> run_krylov(KrylovMethod method, const SpmvPlan<double>& a, const SpmvPlan<float>& a_single,
                                    const Preconditioner<float>& m, std::span<const Unknown<double>> unknowns,
                                    const KrylovOptions& options, const Pauses& pauses);

/// Throws where these are not the same matrix on the same device, rounded to float in one of them.
void check_rounded(const SpmvPlan<double>& plan, const SpmvPlan<float>& plan_single, std::string_view caller);

/// What the public functions check, and the spans that they make. Messages begin with the caller's name.
template <class T>
Unknown<T> checked_unknown(const SpmvPlan<T>& a, std::span<const T> b, std::span<T> x, std::span<T> x_low,
                           const KrylovOptions& options, std::string_view caller = "solve");
template <class T>
std::vector<Unknown<T>> checked_unknowns(const SpmvPlan<T>& a, const DenseMatrix<T>& b, DenseMatrix<T>& x,
                                         DenseMatrix<T>* x_low, const KrylovOptions& options,
                                         std::string_view caller = "solve");

}  // namespace solver
