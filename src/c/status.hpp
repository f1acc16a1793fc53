#pragma once

/// How exceptions become numbers: no C++ exception leaves a function of solver.h.

#include "solver/solver.h"

#include <stdexcept>

namespace solver::c {

/// A callback of the caller's said that it failed.
class CallbackFailed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// The status of the exception that is being handled; its words become this thread's last error.
solver_status status_of_exception() noexcept;

/// Calls work() and says how it went.
template <class Work>
solver_status guarded(Work&& work) noexcept {
    try {
        work();
        return SOLVER_OK;
    } catch (...) {
        return status_of_exception();
    }
}

}  // namespace solver::c
