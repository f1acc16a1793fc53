#pragma once

/// From an experiment to a verdict.

#include "verdict.hpp"
#include "workbench.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver::blas2 {

/// What a test is about. Without an accuracy it is about a peer.
struct About {
    Operation operation = Operation::spmv;
    SpmvKernel kernel = SpmvKernel::automatic;
    std::optional<Accuracy> accuracy;
    std::string peer;
};

template <class T>
inline constexpr const char* precision_name = std::is_same_v<T, float> ? "single" : "double";

/// Elements that nobody has written are found: a NaN that no operation returns.
template <class T>
std::vector<T> unwritten(std::int64_t elements) {
    const T value = std::is_same_v<T, float> ? static_cast<T>(std::nanf("77")) : static_cast<T>(std::nan("77"));
    return std::vector<T>(static_cast<std::size_t>(elements), value);
}

template <class T>
std::vector<T> result_of(const Subject<T>& subject, Accuracy accuracy, std::int64_t elements) {
    std::vector<T> result = unwritten<T>(elements);
    subject.compute(accuracy, result);
    return result;
}

/// Has the library, or a peer, do an experiment, several times and in several ways.
template <class T>
class Judge {
public:
    Judge(Workbench<T>& workbench, const MatrixSource& source, const About& about, const Experiment<T>& experiment)
        : workbench_(workbench), options_(workbench.options()), about_(about), experiment_(experiment) {
        const CsrMatrix<T>& a = workbench.matrix();
        verdict_.matrix = source.name;
        verdict_.rows = a.rows;
        verdict_.columns = a.columns;
        verdict_.nonzeros = a.nonzeros();
        verdict_.operation = about.operation;
        verdict_.inputs = experiment.inputs();
        verdict_.formula = experiment.formula();
        verdict_.precision = precision_name<T>;
        verdict_.accuracy = about.accuracy;
        verdict_.device = to_string(options_.device);
    }

    Verdict library() {
        const Accuracy accuracy = *about_.accuracy;
        if (has_kernels(about_.operation)) verdict_.kernel = to_string(about_.kernel);
        const Subject<T>& subject = workbench_.subject(experiment_, about_.kernel);
        found_ = result_of(subject, accuracy, experiment_.elements());
        look_at_errors();
        repeat(subject, accuracy);
        if (accuracy == Accuracy::exact) compute_elsewhere();
        const Timing timing = workbench_.timing(experiment_, about_.kernel, accuracy);
        verdict_.seconds = timing.seconds;
        verdict_.cost = timing.cost;
        return std::move(verdict_);
    }

    Verdict peer(const Subject<T>& subject) {
        verdict_.judged = about_.peer;
        found_ = result_of(subject, Accuracy::fast, experiment_.elements());
        look_at_errors();
        repeat(subject, Accuracy::fast);
        std::vector<T> scratch(found_.size());
        const Subject<T>& ours = workbench_.subject(experiment_, SpmvKernel::automatic);
        const std::function<double()> turns[] = {turn_of<T>(ours, Accuracy::fast, scratch),
                                                 turn_of<T>(subject, Accuracy::fast, scratch)};
        const Timing timing = compare(turns)[1];
        verdict_.seconds = timing.seconds;
        verdict_.cost = timing.cost;
        return std::move(verdict_);
    }

private:
    static constexpr int repetitions = 10;

    void look_at_errors() {
        std::vector<TrueElement<T>> own;
        if (experiment_.truth_depends_on_result()) own = experiment_.truth(found_, options_.threads);
        const std::vector<TrueElement<T>>& truth = own.empty() ? workbench_.truth(experiment_) : own;
        const Errors errors = errors_of<T>(truth, found_, about_.accuracy);
        verdict_.histogram = errors.histogram;
        verdict_.largest_ulps = errors.largest_ulps;
        verdict_.overflowed = errors.overflowed;
        if (errors.worst >= 0) {
            const TrueElement<T>& worst = truth[static_cast<std::size_t>(errors.worst)];
            verdict_.worst = Worst{.element = errors.worst,
                                   .name = experiment_.name_of(errors.worst),
                                   .terms = experiment_.terms_of(errors.worst),
                                   .condition = worst.condition(),
                                   .computed = found_[static_cast<std::size_t>(errors.worst)],
                                   .exact = worst.rounded};
        }
        if (errors.broken == 0) return;
        const auto first = static_cast<std::size_t>(errors.first_broken);
        fail(fmt::format("{} of {} elements break the promise; the first, {}, is {} ({:a}), {:.3g} ulp off, instead of {}",
                         errors.broken, found_.size(), experiment_.name_of(errors.first_broken), found_[first], found_[first],
                         truth[first].ulps(found_[first]), promise_of(truth[first], *about_.accuracy)));
    }

    void repeat(const Subject<T>& subject, Accuracy accuracy) {
        for (int i = 1; i < repetitions; ++i)
            if (!agrees(result_of(subject, accuracy, experiment_.elements()), fmt::format("run {}", i + 1))) return;
    }

    /// exact gives the bits of the processor, whatever the number of threads.
    void compute_elsewhere() {
        const bool on_processor = options_.device.kind() == Device::Kind::cpu;
        for (const int threads : on_processor ? std::vector{1, 2, 3} : std::vector{options_.threads}) {
            const Device other = Device::cpu(threads);
            const Subject<T> subject = experiment_.subject(about_.kernel, other);
            const std::vector<T> result = result_of(subject, Accuracy::exact, experiment_.elements());
            if (!agrees(result, fmt::format("the processor with {} thread{}", threads, threads == 1 ? "" : "s"))) return;
        }
    }

    bool agrees(const std::vector<T>& result, const std::string& whose) {
        const std::string difference = testing::differences<T>(result, found_);
        if (difference.empty()) return true;
        verdict_.same_bits = false;
        if (about_.accuracy) fail(fmt::format("{} gives other bits: {}", whose, difference));
        return false;
    }

    void fail(const std::string& reason) {
        verdict_.passed = false;
        verdict_.reason += (verdict_.reason.empty() ? "" : "; ") + reason;
    }

    Workbench<T>& workbench_;
    const Options& options_;
    const About& about_;
    const Experiment<T>& experiment_;
    Verdict verdict_;
    std::vector<T> found_;
};

}  // namespace solver::blas2
