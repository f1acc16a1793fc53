#pragma once

/// What solves of all kinds are told by Python, and what they tell.

#include "arguments.hpp"
#include "lock.hpp"
#include "solver/error.hpp"
#include "solver/krylov.hpp"

#include <nanobind/stl/shared_ptr.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace samebits {

/// The iterate of the step that a callback is told of.
struct Seen {
    const solver::Iterate* iterate = nullptr;

    void copy_to(const MutableVector<double>& x) const {
        if (iterate == nullptr) throw solver::InvalidArgument("iteration: its x can be asked for only while the callback runs");
        iterate->copy_to(view<double>(x));
    }
};

/// While the callback runs; what it has kept is of no use afterwards.
struct Showing {
    explicit Showing(const solver::Iteration& iteration) : seen(std::make_shared<Seen>(Seen{iteration.iterate})) {}
    Showing(const Showing&) = delete;
    ~Showing() { seen->iterate = nullptr; }

    std::shared_ptr<Seen> seen;
};

/// Whether this is the thread that Python tells of signals.
inline bool is_main_thread() {
    const nb::object main = nb::module_::import_("threading").attr("main_thread")();
    return nb::cast<unsigned long>(main.attr("ident")) == PyThread_get_thread_ident();
}

/// Sees every iteration: asks Python for signals (Ctrl-C) every few milliseconds, and the caller's function where there is one;
/// in a thread that can be told of nothing the lock is left to others. What either raises first stops the solve of all columns
/// and is kept, so that the best x is not lost.
class Watch {
public:
    explicit Watch(nb::object function)
        : function_(std::move(function)), asks_always_(!function_.is_none()), asks_(asks_always_ || is_main_thread()) {}

    bool goes_on(const solver::Iteration& iteration) {
        if (has_raised_) return false;
        if (!asks_) return true;
        if (!asks_always_ && Clock::now() - last_look_ < look_every) return true;
        last_look_ = Clock::now();
        const Acquired acquired;
        try {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            const bool stop = asks_always_ && asks_to_stop(iteration);
            stopped_ = stopped_ || stop;
            return !stop;
        } catch (nb::python_error& error) {
            raised_ = nb::borrow(error.value());
            has_raised_ = true;
            return false;
        }
    }

    bool stopped() const { return stopped_; }
    nb::object raised() const { return raised_; }

private:
    bool asks_to_stop(const solver::Iteration& iteration) {
        const Showing showing(iteration);
        return nb::cast<bool>(nb::bool_(ask(function_, iteration.number, iteration.recursive_residual, iteration.true_residual,
                                            iteration.replaced, iteration.column, showing.seen)));
    }

    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds look_every{10};

    nb::object function_;
    nb::object raised_ = nb::none();
    bool asks_always_;
    bool asks_;
    bool has_raised_ = false;
    bool stopped_ = false;
    Clock::time_point last_look_ = Clock::now();
};

inline nb::list history_in_python(std::span<const solver::Iteration> steps) {
    nb::list history;
    for (const solver::Iteration& step : steps)
        history.append(nb::make_tuple(step.number, step.recursive_residual, step.true_residual, step.replaced));
    return history;
}

/// What the results of linear systems and of least squares have in common.
template <class Result>
nb::dict outcome_in_python(const Result& result) {
    nb::dict made;
    made["status"] = std::string(solver::to_string(result.status));
    made["iterations"] = result.iterations;
    made["residual"] = result.relative_residual;
    made["restarts"] = result.restarts;
    made["history"] = history_in_python(result.history);
    return made;
}

inline nb::dict column_in_python(const solver::SolveResult& result) {
    nb::dict made = outcome_in_python(result);
    made["recursive_residual"] = result.recursive_residual;
    made["replacements"] = result.replacements;
    return made;
}

/// Of the iteration alone.
inline solver::KrylovOptions iteration_of(const nb::dict& given) {
    solver::KrylovOptions options;
    options.accuracy = accuracy_of(nb::cast<int>(given["accuracy"]));
    options.tolerance = nb::cast<double>(given["rtol"]);
    options.absolute_tolerance = nb::cast<double>(given["atol"]);
    options.max_iterations = nb::cast<std::int64_t>(given["maxiter"]);
    options.restart = nb::cast<std::int64_t>(given["restart"]);
    options.keep_history = nb::cast<bool>(given["history"]);
    options.callback_interval = nb::cast<std::int64_t>(given["interval"]);
    options.complex_scalars = nb::cast<bool>(given["complex"]);
    return options;
}

}  // namespace samebits
