#pragma once

/// The checks of dense matrices. None reads an element; `operation` begins the message: "gemm", "gemv".

#include "solver/gemm.hpp"

#include <complex>

namespace solver {

/// Throws InvalidArgument unless sizes are 0 or more and there is memory.
template <class T>
void require_valid(const char* operation, const char* name, const DenseView<T>& a);

/// Throws InvalidArgument unless sizes are 0 or more, there is memory, and the matrix is stored by rows or by columns, with any
/// distance between them.
template <class T>
void require_lines(const char* operation, const char* name, const DenseView<T>& a);

/// Throws InvalidArgument unless A, B and C have sizes of 0 or more and memory, and C shares no element with A or B;
/// DimensionMismatch unless their sizes agree.
template <class T>
void require_valid(const char* operation, const GemmTask<T>& task);

/// All that solver::gemm asks of complex arguments.
template <class T>
void require_valid(const GemmTask<std::complex<T>>& task);

/// All that solver::gemm asks of its arguments.
template <class T>
void require_valid(const GemmTask<T>& task, const GemmOptions& options);

}  // namespace solver
