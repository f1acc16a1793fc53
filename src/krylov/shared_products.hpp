#pragma once

/// Products with one matrix that several solves wait for.

#include "core/column_norms.hpp"
#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/spmv.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace solver {

template <class T>
class SharedProducts {
public:
    explicit SharedProducts(const SpmvPlan<T>& a) : a_(a) {}

    /// To be made by the next run(). What it refers to stays where it is until then.
    void add(const SpmvTask<T>& task, Accuracy accuracy) { tasks_[static_cast<std::size_t>(accuracy)].push_back(task); }

    /// Makes all of them; A is read once for each accuracy.
    void run() {
        for (const Accuracy accuracy : all_accuracies) {
            auto& tasks = tasks_[static_cast<std::size_t>(accuracy)];
            if (!tasks.empty()) a_.multiply(tasks, accuracy);
            tasks.clear();
        }
    }

    /// Makes none of them.
    void drop() {
        for (auto& tasks : tasks_) tasks.clear();
    }

    std::int64_t rows() const { return a_.rows(); }
    const Device& device() const { return a_.device(); }

    /// The 1-norms of the columns of the matrix, found when first asked for.
    const std::vector<T>& column_norms() {
        if (norms_.empty()) norms_ = one_norms_of_columns(a_);
        return norms_;
    }

private:
    const SpmvPlan<T>& a_;
    std::vector<T> norms_;
    std::array<std::vector<SpmvTask<T>>, all_accuracies.size()> tasks_;
};

}  // namespace solver
