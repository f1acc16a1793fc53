#include "preconditioner.hpp"

#include "lock.hpp"
#include "matrix.hpp"

#include <nanobind/stl/string.h>

#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace samebits {
namespace {

using namespace solver;

template <class T>
Preconditioner<T> make(const Matrix<T>& a, const std::string& kind, int accuracy, double drop_tolerance, double fill_factor,
                       std::int64_t memory_limit, const Vector<std::int32_t>& block_of_row, bool complex_numbers) {
    PreconditionerOptions options;
    options.drop_tolerance = drop_tolerance;
    options.fill_factor = fill_factor;
    options.memory_limit = memory_limit;
    options.block_of_row = view<std::int32_t>(block_of_row);
    options.complex_numbers = complex_numbers;
    return {make_preconditioner<T>(preconditioner_from_text(kind), a.plan(), accuracy_of(accuracy), options), a.plan().rows()};
}

/// Of vectors on a CUDA device, there if M can; else by way of the host.
template <class T>
void apply_on_device(const Preconditioner<T>& m, const Vector<T>& r, const MutableVector<T>& z, Accuracy accuracy) {
    const int device = r.device_id();
    OnDevice<T>& there = *m.on_device;
    const std::lock_guard turn(there.turn);
    if (there.device != device) {
        there.m.reset();
        there.m = m.m->on_device(device);
        there.device = device;
    }
    const cuda::OwnedStream stream(device);
    if (there.m) {
        there.m->apply(r.data(), z.data(), accuracy, stream.get());
        cuda::synchronize(device, stream.get());
        return;
    }
    const auto bytes = static_cast<std::int64_t>(r.nbytes());
    std::vector<T> r_here(r.size()), z_here(r.size());
    cuda::detail::copy_to_host(device, r_here.data(), r.data(), bytes, stream.get());
    m.m->apply(std::span<const T>(r_here), std::span<T>(z_here), accuracy);
    cuda::detail::copy_to_device(device, z.data(), z_here.data(), bytes, stream.get());
}

template <class T>
void apply(const Preconditioner<T>& m, const Vector<T>& r, const MutableVector<T>& z, int accuracy) {
    if (static_cast<std::int64_t>(r.size()) != m.rows || r.size() != z.size())
        throw DimensionMismatch("preconditioner: it has " + std::to_string(m.rows) + " rows, r " + std::to_string(r.size()) +
                                " elements and z " + std::to_string(z.size()));
    if (r.device_type() != nb::device::cpu::value)
        apply_on_device(m, r, z, accuracy_of(accuracy));
    else
        m.m->apply(view<T>(r), view<T>(z), accuracy_of(accuracy));
}

/// The Python function that `self` applies; null where it applies none.
template <class T>
PythonFunction<T>* python_function(PyObject* self) {
    return nb::inst_ready(self) ? dynamic_cast<PythonFunction<T>*>(nb::inst_ptr<Preconditioner<T>>(self)->m.get()) : nullptr;
}

/// As tp_traverse and tp_clear: a function can refer to the preconditioner that is made of it, as the method of an object that
/// keeps it does.
template <class T>
int visit_function(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (auto* const made_of = python_function<T>(self)) Py_VISIT(made_of->function().ptr());
    return 0;
}
template <class T>
int let_go_of_function(PyObject* self) {
    if (auto* const made_of = python_function<T>(self)) made_of->function().reset();
    return 0;
}

template <class T>
void bind_preconditioner(nb::module_& module, const char* name) {
    static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(visit_function<T>)},
                                  {Py_tp_clear, reinterpret_cast<void*>(let_go_of_function<T>)},
                                  {0, nullptr}};
    nb::class_<Preconditioner<T>>(module, name, nb::type_slots(slots))
        .def("apply", &apply<T>, nb::arg("r").noconvert(), nb::arg("z").noconvert(), nb::arg("accuracy"),
             nb::call_guard<Released>())
        .def_prop_ro("factor_entries", [](const Preconditioner<T>& m) { return m.m->factor_entries(); })
        .def_prop_ro("factor_hash", [](const Preconditioner<T>& m) { return m.m->factor_hash(); });
    module.def("make_preconditioner", &make<T>, nb::arg("matrix"), nb::arg("kind"), nb::arg("accuracy"),
               nb::arg("drop_tolerance"), nb::arg("fill_factor"), nb::arg("memory_limit"), nb::arg("block_of_row"),
               nb::arg("complex_numbers"), nb::call_guard<Released>());
}

}  // namespace

void bind_preconditioners(nb::module_& module) {
    bind_preconditioner<double>(module, "Preconditioner64");
    bind_preconditioner<float>(module, "Preconditioner32");
    module.def("preconditioner_of_function64", [](nb::callable function, std::int64_t rows) {
        return Preconditioner<double>{std::make_unique<PythonFunction<double>>(std::move(function)), rows};
    });
    module.def("preconditioner_of_function32", [](nb::callable function, std::int64_t rows) {
        return Preconditioner<float>{std::make_unique<PythonFunction<float>>(std::move(function)), rows};
    });
}

}  // namespace samebits
