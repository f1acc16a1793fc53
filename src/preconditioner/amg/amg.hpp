#pragma once

/// Algebraic multigrid as a preconditioner.

#include "solver/device.hpp"
#include "solver/preconditioner.hpp"

#include <memory>

namespace solver {

/// One V-cycle of smoothed aggregation (docs/multigrid.md), in single precision also for doubles. Throws as
/// make_preconditioner says.
template <class T>
std::unique_ptr<Preconditioner<T>> make_amg(const CsrView<T>& a, const PreconditionerOptions& options, const Device& device);

}  // namespace solver
