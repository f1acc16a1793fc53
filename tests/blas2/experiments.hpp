#pragma once

/// Which experiments are made with a matrix.

#include "built_in.hpp"
#include "experiment.hpp"
#include "options.hpp"

namespace solver::blas2 {

/// All inputs of one operation. They refer to the sample. None where the operation makes no sense, as a triangular solve with a
/// matrix that is not square.
template <class T>
Experiments<T> make_experiments(Operation operation, const Sample<T>& sample, const Options& options);

}  // namespace solver::blas2
