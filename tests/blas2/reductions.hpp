#pragma once

/// Sums, dot products and norms of the vectors that belong to a matrix.

#include "enough_bits.hpp"
#include "experiment.hpp"
#include "on_device.hpp"
#include "solver/reduce.hpp"
#include "support/expected.hpp"

#include <memory>
#include <utility>

namespace solver::blas2 {

/// One reduction: of x alone, or with y for a dot product.
template <class T>
struct ReductionTask {
    std::string name;
    std::span<const T> x;
    std::span<const T> y = {};
};

/// Owns the vectors that the tasks refer to.
template <class T>
struct ReductionInputs {
    std::vector<std::vector<T>> vectors;
    std::vector<ReductionTask<T>> tasks;
};

/// Element i of the result is the reduction of task i.
template <class T>
class ReductionExperiment : public Experiment<T> {
public:
    ReductionExperiment(Operation operation, std::string x, ReductionInputs<T> inputs)
        : operation_(operation), x_(std::move(x)), inputs_(std::move(inputs)) {}

    Inputs inputs() const override { return {x_, 1, 0}; }
    std::string formula() const override {
        std::string names;
        for (const ReductionTask<T>& task : inputs_.tasks) names += (names.empty() ? "" : ", ") + task.name;
        return "of " + names;
    }
    std::int64_t elements() const override { return static_cast<std::int64_t>(inputs_.tasks.size()); }
    std::string name_of(std::int64_t element) const override { return task(element).name; }
    std::int64_t terms_of(std::int64_t element) const override { return static_cast<std::int64_t>(task(element).x.size()); }

    std::vector<TrueElement<T>> truth(std::span<const T>, int) const override {
        std::vector<TrueElement<T>> elements;
        for (const ReductionTask<T>& task : inputs_.tasks)
            elements.push_back(with_enough_bits([&](int bits) { return true_result(task, bits); }));
        return elements;
    }

    Subject<T> subject(SpmvKernel, const Device& device) const override {
        return {.compute =
                    [this, device](Accuracy accuracy, std::span<T> results) {
                        for (std::size_t i = 0; i < inputs_.tasks.size(); ++i)
                            results[i] = reduce(inputs_.tasks[i], accuracy, device);
                    },
                .seconds = clock_of(device)};
    }

private:
    const ReductionTask<T>& task(std::int64_t element) const { return inputs_.tasks[static_cast<std::size_t>(element)]; }

    std::function<double(Accuracy)> clock_of(const Device& device) const {
        if (device.kind() != Device::Kind::cuda) return {};
        using Reductions = on_device::Reductions<T>;
        return on_device::clock<Reductions>(device.index(), [this, index = device.index()] {
            std::vector<typename Reductions::Vectors> vectors;
            for (const ReductionTask<T>& task : inputs_.tasks) vectors.emplace_back(task.x, task.y);
            const auto kind = operation_ == Operation::sum   ? cuda::Reduction::sum
                              : operation_ == Operation::dot ? cuda::Reduction::dot
                                                             : cuda::Reduction::norm2;
            return std::make_unique<Reductions>(index, kind, vectors);
        });
    }

    T reduce(const ReductionTask<T>& task, Accuracy accuracy, const Device& device) const {
        if (operation_ == Operation::sum) return solver::sum(task.x, accuracy, device);
        if (operation_ == Operation::dot) return solver::dot(task.x, task.y, accuracy, device);
        return solver::norm2(task.x, accuracy, device);
    }

    /// Sums lose nothing to underflow; a product may lose eta.
    TrueElement<T> true_result(const ReductionTask<T>& task, int bits) const {
        const auto n = static_cast<std::int64_t>(task.x.size());
        testing::ExpectedSum<T> sum(bits);
        for (std::size_t i = 0; i < task.x.size(); ++i) {
            const T x = task.x[i];
            sum.add_product(x, operation_ == Operation::sum ? T(1) : operation_ == Operation::dot ? task.y[i] : x);
        }
        if (operation_ == Operation::norm2) return true_norm(sum, n);
        return true_sum(sum, n, operation_ == Operation::sum ? 0 : underflow_allowance<T>(n));
    }

    Operation operation_;
    std::string x_;
    ReductionInputs<T> inputs_;
};

}  // namespace solver::blas2
