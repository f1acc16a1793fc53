#pragma once

/// Everything for data in the host's memory: accurate linear algebra with precision modes. Each header below reads on its own.
/// For data on a CUDA device there is cuda.hpp besides.

#include "solver/accuracy.hpp"
#include "solver/bicgstab.hpp"
#include "solver/cg.hpp"
#include "solver/complex.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"
#include "solver/gemm.hpp"
#include "solver/gemv.hpp"
#include "solver/guarantee.hpp"
#include "solver/krylov.hpp"
#include "solver/matrix_market.hpp"
#include "solver/nonnegative_gemm.hpp"
#include "solver/partial.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"
#include "solver/proof.hpp"
#include "solver/reduce.hpp"
#include "solver/solve.hpp"
#include "solver/spmv.hpp"
#include "solver/triangular_solve.hpp"
