#pragma once

/// Tasks as the kernels of the processor take them.

#include "cpu/row_task.hpp"
#include "solver/spmv.hpp"

#include <span>
#include <vector>

namespace solver {

template <class T>
cpu::RowTask<T> row_task(const SpmvTask<T>& task) {
    return {.alpha = task.alpha,
            .x = task.x.data(),
            .x_low = task.x_low.empty() ? nullptr : task.x_low.data(),
            .beta = task.beta,
            .y_in = task.y_in.data(),
            .y = task.y.data()};
}

template <class T>
std::vector<cpu::RowTask<T>> row_tasks(std::span<const SpmvTask<T>> tasks) {
    std::vector<cpu::RowTask<T>> rows;
    for (const SpmvTask<T>& task : tasks) rows.push_back(row_task(task));
    return rows;
}

}  // namespace solver
