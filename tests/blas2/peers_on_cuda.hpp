#pragma once

/// cuSPARSE's A x.

#include "experiment.hpp"
#include "solver/csr_matrix.hpp"

#include <span>
#include <string>

namespace solver::blas2::on_cuda {

/// "cusparse_alg1" or "cusparse_alg2", preprocessed.
template <class T>
Subject<T> cusparse(const std::string& name, const CsrView<T>& a, std::span<const T> x, int device);

}  // namespace solver::blas2::on_cuda
