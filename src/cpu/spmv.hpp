#pragma once

/// The CPU's products: rows and entries shared out to threads.

#include "cpu/row_task.hpp"
#include "solver/spmv.hpp"

#include <span>

namespace solver::cpu {

/// Sparse products: thread t works between boundaries t and t + 1. The partial sums of a shared row are merged in order.
void multiply(const CsrView<double>& a, std::span<const WorkBoundary> boundaries, std::span<const RowTask<double>> tasks,
              Accuracy accuracy);
void multiply(const CsrView<float>& a, std::span<const WorkBoundary> boundaries, std::span<const RowTask<float>> tasks,
              Accuracy accuracy);

/// A dense product, equal numbers of rows a thread.
void multiply(const DenseView<double>& a, int threads, const RowTask<double>& task, Accuracy accuracy);
void multiply(const DenseView<float>& a, int threads, const RowTask<float>& task, Accuracy accuracy);

}  // namespace solver::cpu
