#pragma once

/// One matrix in one precision: experiments, what their results should be, and how long they take. Made when first asked for,
/// and kept as long as tests go on with the same operation.

#include "experiment.hpp"
#include "experiments.hpp"
#include "matrix_source.hpp"
#include "options.hpp"
#include "timing.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace solver::blas2 {

template <class T>
class Workbench {
public:
    Workbench(const MatrixSource& source, const Options& options) : options_(options), sample_(load<T>(source, options)) {}

    const CsrMatrix<T>& matrix() const { return sample_.a; }
    const Options& options() const { return options_; }

    const Experiments<T>& experiments(Operation operation) {
        if (operation != current_) {
            truths_.clear();
            timings_.clear();
            subjects_.clear();
            experiments_ = make_experiments(operation, sample_, options_);
            current_ = operation;
        }
        return experiments_;
    }

    const std::vector<TrueElement<T>>& truth(const Experiment<T>& experiment) {
        auto [place, is_new] = truths_.try_emplace(&experiment);
        if (is_new) place->second = experiment.truth({}, options_.threads);
        return place->second;
    }

    /// The library on the device asked for.
    const Subject<T>& subject(const Experiment<T>& experiment, SpmvKernel kernel) {
        auto [place, is_new] = subjects_.try_emplace({&experiment, kernel});
        if (is_new) place->second = experiment.subject(kernel, options_.device);
        return place->second;
    }

    /// Of all modes asked for, beside fast.
    Timing timing(const Experiment<T>& experiment, SpmvKernel kernel, Accuracy accuracy) {
        auto [place, is_new] = timings_.try_emplace({&experiment, kernel});
        if (is_new) place->second = measure(experiment, kernel);
        return place->second.at(accuracy);
    }

private:
    using Timings = std::map<Accuracy, Timing>;

    Timings measure(const Experiment<T>& experiment, SpmvKernel kernel) {
        const Subject<T>& subject = this->subject(experiment, kernel);
        std::vector<T> result(static_cast<std::size_t>(experiment.elements()));
        std::vector<Accuracy> accuracies = options_.accuracies;
        if (accuracies.front() != Accuracy::fast) accuracies.insert(accuracies.begin(), Accuracy::fast);
        std::vector<std::function<double()>> turns;
        for (const Accuracy accuracy : accuracies) turns.push_back(turn_of<T>(subject, accuracy, result));
        const std::vector<Timing> timings = compare(turns);
        Timings by_accuracy;
        for (std::size_t i = 0; i < accuracies.size(); ++i) by_accuracy[accuracies[i]] = timings[i];
        return by_accuracy;
    }

    const Options& options_;
    Sample<T> sample_;
    std::optional<Operation> current_;
    Experiments<T> experiments_;
    std::map<const Experiment<T>*, std::vector<TrueElement<T>>> truths_;
    std::map<std::pair<const Experiment<T>*, SpmvKernel>, Subject<T>> subjects_;
    std::map<std::pair<const Experiment<T>*, SpmvKernel>, Timings> timings_;
};

}  // namespace solver::blas2
