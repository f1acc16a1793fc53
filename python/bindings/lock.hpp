#pragma once

/// Python's global lock, which is let go while the library computes.
///
/// Until Python 3.13 a thread that asks for the lock while the interpreter ends, which only daemon threads can, is ended by
/// pthread_exit. That unwinds through destructors, which are std::terminate or touch objects without the lock. Here such a
/// thread waits for the end of the process instead, as it does from Python 3.14 on.

#include <cxxabi.h>
#include <nanobind/nanobind.h>
#include <unistd.h>

#include <utility>

namespace samebits {

namespace nb = nanobind;

/// ask(), which has no destructors to run.
template <class Ask>
auto unless_python_ends(const Ask& ask) {
    try {
        return ask();
    } catch (abi::__forced_unwind&) {
        for (;;) ::pause();
    }
}

/// While it lives, other threads may have the lock.
class Released {
public:
    Released() : state_(PyEval_SaveThread()) {}
    ~Released() {
        unless_python_ends([&] { PyEval_RestoreThread(state_); });
    }
    Released(const Released&) = delete;
    Released& operator=(const Released&) = delete;

private:
    PyThreadState* state_;
};

/// While it lives, this thread has the lock.
class Acquired {
public:
    Acquired() : state_(unless_python_ends([] { return PyGILState_Ensure(); })) {}
    ~Acquired() { PyGILState_Release(state_); }
    Acquired(const Acquired&) = delete;
    Acquired& operator=(const Acquired&) = delete;

private:
    PyGILState_STATE state_;
};

/// function(arguments...), in Python, which may let other threads have the lock in between. Arrays are not copied.
template <class... Arguments>
nb::object ask(const nb::object& function, Arguments&&... arguments) {
    const nb::tuple given = nb::make_tuple<nb::rv_policy::automatic_reference>(std::forward<Arguments>(arguments)...);
    PyObject* const returned = unless_python_ends([&] { return PyObject_CallObject(function.ptr(), given.ptr()); });
    if (returned == nullptr) nb::raise_python_error();
    return nb::steal(returned);
}

}  // namespace samebits
