#pragma once

/// How wrong one product with the matrix is.

#include "live_line.hpp"
#include "options.hpp"
#include "outcome.hpp"
#include "solver/spmv.hpp"

#include <string>
#include <vector>

namespace solver::command {

/// y = A x for x = ones and a random x, in every accuracy and by Eigen (where its 32-bit indices suffice), beside the correctly
/// rounded y.
template <class T>
std::vector<ProductErrors> product_errors(const Options& options, const SpmvPlan<T>& a, LiveLine& live);

/// "Eigen 3.4.0"
std::string eigen_version();

}  // namespace solver::command
