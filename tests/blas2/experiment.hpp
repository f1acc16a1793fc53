#pragma once

/// One operation on one set of inputs: what it should give, and who computes it.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/spmv.hpp"
#include "timing.hpp"
#include "true_element.hpp"

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace solver::blas2 {

enum class Operation { spmv, residual, sum, dot, norm2, triangular_solve, gemm };

inline constexpr std::array all_operations{Operation::spmv,  Operation::residual,         Operation::sum, Operation::dot,
                                           Operation::norm2, Operation::triangular_solve, Operation::gemm};

constexpr std::string_view to_string(Operation operation) {
    constexpr std::array<std::string_view, 7> names{"spmv", "residual", "sum", "dot", "norm2", "triangular_solve", "gemm"};
    return names[static_cast<std::size_t>(operation)];
}

constexpr bool has_kernels(Operation operation) { return operation == Operation::spmv || operation == Operation::residual; }

/// What distinguishes one set of inputs from another.
struct Inputs {
    std::string x;  ///< "ones", "random:1", "lower triangle"
    double alpha = 1;
    double beta = 0;
};

/// Somebody who computes.
template <class T>
struct Subject {
    std::function<void(Accuracy, std::span<T>)> compute;
    std::function<double(Accuracy)> seconds = {};  ///< of a call, by a clock of its own; without: the clock on the wall
};

/// Gives the seconds of a call. Refers to the result, where what is computed goes; keeps the subject.
template <class T>
std::function<double()> turn_of(const Subject<T>& subject, Accuracy accuracy, std::span<T> result) {
    if (subject.seconds) return [subject, accuracy] { return subject.seconds(accuracy); };
    return [subject, accuracy, result] { return seconds_of([&] { subject.compute(accuracy, result); }); };
}

template <class T>
class Experiment {
public:
    Experiment() = default;
    Experiment(const Experiment&) = delete;
    Experiment& operator=(const Experiment&) = delete;
    virtual ~Experiment() = default;

    virtual Inputs inputs() const = 0;
    virtual std::string formula() const = 0;    ///< "y = A x"
    virtual std::int64_t elements() const = 0;  ///< of a result
    virtual std::string name_of(std::int64_t element) const = 0;
    virtual std::int64_t terms_of(std::int64_t element) const = 0;

    /// By the oracle, on so many threads. `found` is for triangular solves alone, whose rows are judged given the elements
    /// already computed.
    virtual std::vector<TrueElement<T>> truth(std::span<const T> found, int threads) const = 0;
    virtual bool truth_depends_on_result() const { return false; }

    /// The library. Refers to the experiment.
    virtual Subject<T> subject(SpmvKernel kernel, const Device& device) const = 0;
};

template <class T>
using Experiments = std::vector<std::unique_ptr<Experiment<T>>>;

}  // namespace solver::blas2
