#pragma once

/// Matrices whose diagonal has no zeros: their structural rank is full, and the diagonal is a transversal.

#include "solver/device.hpp"
#include "solver/spmv.hpp"
#include "solver/views.hpp"

namespace solver::preparation {

/// Whether A is square, its rows are sorted, all entries finite, and none on the diagonal missing or zero.
template <class T>
bool has_full_diagonal(const CsrView<T>& a, const Device& device);

/// Of a sparse matrix. Where a device has found A symmetric, its facts tell.
template <class T>
bool has_full_diagonal(const SpmvPlan<T>& a);

}  // namespace solver::preparation
