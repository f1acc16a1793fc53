#pragma once

/// The CPU's products with packed matrices.

#include "cpu/row_task.hpp"
#include "packed/matrix.hpp"
#include "solver/accuracy.hpp"

#include <span>

namespace solver::cpu {

/// How many rows a slice has on a processor: the most lanes that rows side by side have.
inline constexpr PackedShape packed_shape{.height = 8, .window = 4096, .longest_row = 256, .share_entries = 4096};

/// Whether there is a kernel for a task: alpha is 1 or -1.
template <class T>
bool is_for_packed(const RowTask<T>& task) {
    return magnitude(task.alpha) == T(1);
}

/// The kernels, compiled apart for exact sums and for the others.
template <class T, bool exact>
void multiply_packed(const PackedMatrix<T>& packed, const CsrView<T>& a, int threads, std::span<const RowTask<T>> tasks,
                     Accuracy accuracy);

/// Products with a matrix packed in packed_shape, for tasks that is_for_packed. `a` is the same matrix as CSR: it has the long
/// rows, and rows that a filter leaves open are read from it. In every mode the bits do not depend on the number of threads.
template <class T>
void multiply(const PackedMatrix<T>& packed, const CsrView<T>& a, int threads, std::span<const RowTask<T>> tasks,
              Accuracy accuracy) {
    const auto kernel = accuracy == Accuracy::exact ? multiply_packed<T, true> : multiply_packed<T, false>;
    kernel(packed, a, threads, tasks, accuracy);
}

}  // namespace solver::cpu
