#pragma once

/// SharedProducts with a matrix, which is read once for all that wait.

#include "core/column_norms.hpp"
#include "krylov/shared_products.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace solver {

template <class T>
class MatrixProducts final : public SharedProducts<T> {
public:
    explicit MatrixProducts(const SpmvPlan<T>& a) : a_(a) {}

    void add(const SpmvTask<T>& task, Accuracy accuracy) override {
        tasks_[static_cast<std::size_t>(accuracy)].push_back(task);
    }

    /// A is read once for each accuracy.
    void run() override {
        for (const Accuracy accuracy : all_accuracies) {
            auto& tasks = tasks_[static_cast<std::size_t>(accuracy)];
            if (!tasks.empty()) a_.multiply(tasks, accuracy);
            tasks.clear();
        }
    }

    void drop() override {
        for (auto& tasks : tasks_) tasks.clear();
    }

    std::int64_t rows() const override { return a_.rows(); }
    const Device& device() const override { return a_.device(); }

    const std::vector<T>& column_norms() override {
        if (norms_.empty()) norms_ = one_norms_of_columns(a_);
        return norms_;
    }

private:
    const SpmvPlan<T>& a_;
    std::vector<T> norms_;
    std::array<std::vector<SpmvTask<T>>, all_accuracies.size()> tasks_;
};

}  // namespace solver
