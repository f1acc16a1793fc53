#pragma once

/// Products with an operator that solves wait for: what SharedProducts is for a matrix.

#include "core/krylov/updates.hpp"
#include "cpu/elementwise.hpp"
#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/linear_operator.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace solver {

template <class T>
class OperatorProducts {
public:
    OperatorProducts(const LinearOperator<T>& a, Device processor) : a_(a), device_(std::move(processor)) {}

    /// To be made by the next run(). What it refers to stays where it is until then. x is not a pair.
    void add(const SpmvTask<T>& task, Accuracy) { tasks_.push_back(task); }

    void run() {
        for (const SpmvTask<T>& task : tasks_) make(task);
        tasks_.clear();
    }

    /// Makes none of them.
    void drop() { tasks_.clear(); }

    std::int64_t rows() const { return a_.rows(); }
    const Device& device() const { return device_; }

    /// They are not known: zeros.
    const std::vector<T>& column_norms() {
        norms_.resize(static_cast<std::size_t>(rows()));
        return norms_;
    }

private:
    void make(const SpmvTask<T>& task) const {
        a_.apply(task.x, task.y);
        if (task.beta == 0) return;
        const T* const y_in = task.y_in.data();
        cpu::update(task.y, device_,
                    [&](T product, std::int64_t i) { return added(mul_rn(task.beta, y_in[i]), task.alpha, product); });
    }

    const LinearOperator<T>& a_;
    Device device_;
    std::vector<T> norms_;
    std::vector<SpmvTask<T>> tasks_;
};

}  // namespace solver
