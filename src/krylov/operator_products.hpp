#pragma once

/// SharedProducts with an operator, which is applied once for each.

#include "core/krylov/updates.hpp"
#include "cpu/elementwise.hpp"
#include "krylov/shared_products.hpp"
#include "solver/linear_operator.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace solver {

template <class T>
class OperatorProducts final : public SharedProducts<T> {
public:
    OperatorProducts(const LinearOperator<T>& a, Device processor) : a_(a), device_(std::move(processor)) {}

    /// x of the task is not a pair.
    void add(const SpmvTask<T>& task, Accuracy) override { tasks_.push_back(task); }

    void run() override {
        for (const SpmvTask<T>& task : tasks_) make(task);
        tasks_.clear();
    }

    void drop() override { tasks_.clear(); }

    std::int64_t rows() const override { return a_.rows(); }
    const Device& device() const override { return device_; }

    const std::vector<T>& column_norms() override {
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
