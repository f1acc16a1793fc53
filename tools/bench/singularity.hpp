#pragma once

#include "solver/csr_matrix.hpp"

#include <string>

namespace solver::bench {

/// "structurally singular (rank 448 of 496)", "numerically singular" where complete elimination by KLU meets a pivot that is
/// exactly zero, "regular" where it does not, or "unknown" where its factors would take more than a gigabyte.
std::string singularity(const CsrView<double>& a);

}  // namespace solver::bench
