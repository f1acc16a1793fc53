#pragma once

/// Data that lie on a CUDA device, on your own stream: all headers of solver/cuda/. Plain C++: needs no header of CUDA. For
/// data in the host's memory give Device::cuda() to the functions of the other headers instead. cuda/runtime.hpp says what
/// holds everywhere: who waits, what is allocated, which errors there are.

#include "solver/cuda/csr.hpp"
#include "solver/cuda/gemm.hpp"
#include "solver/cuda/linear_operator.hpp"
#include "solver/cuda/memory.hpp"
#include "solver/cuda/nonnegative_gemm.hpp"
#include "solver/cuda/partial.hpp"
#include "solver/cuda/preconditioner.hpp"
#include "solver/cuda/reduce.hpp"
#include "solver/cuda/runtime.hpp"
#include "solver/cuda/solve.hpp"
#include "solver/cuda/spmv.hpp"
#include "solver/cuda/triangular_solve.hpp"
