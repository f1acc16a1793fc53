#pragma once

/// Algebraic multigrid as a preconditioner.

#include "solver/device.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <memory>

namespace solver {

/// One V-cycle of smoothed aggregation (docs/multigrid.md), in single precision also for doubles. Throws as
/// make_preconditioner says.
template <class T>
std::unique_ptr<Preconditioner<T>> make_amg(const CsrView<T>& a, const PreconditionerOptions& options, const Device& device);

/// Of the matrix where a plan has it: on a CUDA device the levels are made there, with the same bits, where rows are sorted.
template <class T>
std::unique_ptr<Preconditioner<T>> make_amg(const SpmvPlan<T>& a, const PreconditionerOptions& options);

}  // namespace solver
