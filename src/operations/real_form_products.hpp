#pragma once

/// Products with a complex matrix of which there is the plan of its real form alone.

#include "solver/accuracy.hpp"
#include "solver/spmv.hpp"

#include <complex>
#include <span>

namespace solver {

/// What SpmvPlan<std::complex<T>>::multiply promises.
template <class T>
void multiply_real_form(const SpmvPlan<T>& real_form, std::span<const SpmvTask<std::complex<T>>> tasks, Accuracy accuracy);

}  // namespace solver
