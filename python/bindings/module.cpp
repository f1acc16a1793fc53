/// The module samebits._core: thin functions over the library, which the Python side gives checked arrays.

#include "arguments.hpp"
#include "lock.hpp"
#include "solver/cuda/runtime.hpp"
#include "solver/device.hpp"
#include "solver/error.hpp"

#include <nanobind/stl/string.h>

#include <cstdint>

namespace samebits {

void bind_files(nb::module_& module);
void bind_least_squares(nb::module_& module);
void bind_matrices(nb::module_& module);
void bind_operators(nb::module_& module);
void bind_preconditioners(nb::module_& module);
void bind_solves(nb::module_& module);
void bind_vectors(nb::module_& module);

}  // namespace samebits

namespace nb = nanobind;

NB_MODULE(_core, module) {
    // PyGILState_Ensure, by which nanobind frees arrays, knows the main interpreter alone: in others it would wait for ever.
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0)
        throw nb::import_error(
            "samebits works in Python's main interpreter, not in subinterpreters; with mod_wsgi say "
            "WSGIApplicationGroup %{GLOBAL}");
    nb::set_leak_warnings(false);  // objects that a traceback or a cycle keeps until the end are not lost
    // Those registered last are asked first, so that a derived class comes after its base.
    const nb::exception<solver::InvalidArgument> invalid(module, "InvalidArgument", PyExc_ValueError);
    const nb::exception<solver::DimensionMismatch> mismatch(module, "DimensionMismatch", invalid.ptr());
    const nb::exception<solver::ResourceLimit> limit(module, "ResourceLimit", PyExc_MemoryError);
    const nb::exception<solver::NotSupported> unsupported(module, "NotSupported", PyExc_NotImplementedError);
    const nb::exception<solver::FileError> file(module, "FileError", PyExc_OSError);

    samebits::bind_vectors(module);
    samebits::bind_matrices(module);
    samebits::bind_preconditioners(module);
    samebits::bind_solves(module);
    samebits::bind_operators(module);
    samebits::bind_least_squares(module);
    samebits::bind_files(module);
    module.def("available_threads", [] { return solver::Device::cpu().threads(); });
    module.def("best_device", [] {
        const solver::Device best = solver::Device::best();
        return best.kind() == solver::Device::Kind::cuda ? best.index() : -1;
    });
    module.def(
        "synchronize",
        [](int device, std::uintptr_t stream) {
            solver::cuda::synchronize(device, reinterpret_cast<solver::cuda::Stream>(stream));
        },
        nb::arg("device"), nb::arg("stream"), nb::call_guard<samebits::Released>());
    module.def("describe_cuda", &solver::describe_cuda);
    module.def("describe_processor", [] { return solver::describe(solver::Device::cpu()).name; });
}
