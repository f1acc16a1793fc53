#include "preconditioner.hpp"
#include "solver/linear_operator.hpp"
#include "solves.hpp"

#include <nanobind/stl/string.h>

#include <string>
#include <utility>

namespace samebits {
namespace {

/// function(x, y) fills y; what it raises goes through the solve to whoever called it.
template <class T>
class PythonOperator final : public solver::LinearOperator<T> {
public:
    PythonOperator(std::int64_t rows, const nb::callable& function) : rows_(rows), function_(function) {}

    std::int64_t rows() const override { return rows_; }

    void apply(std::span<const T> x, std::span<T> y) const override {
        const nb::gil_scoped_acquire acquired;
        function_(nb::ndarray<nb::numpy, const T>(x.data(), {x.size()}, nb::none()),
                  nb::ndarray<nb::numpy, T>(y.data(), {y.size()}, nb::none()));
    }

private:
    std::int64_t rows_;
    const nb::callable& function_;
};

/// (result, whether the callback stopped it, what was raised); x holds the guess and then the best iterate.
template <class T>
nb::tuple solve_operator(const nb::callable& function, const Preconditioner<T>* m, const std::string& method,
                         const Vector<T>& b, const MutableVector<T>& x, const nb::dict& given, int threads,
                         nb::object callback) {
    solver::KrylovOptions options = iteration_of(given);
    Watch watch(std::move(callback));
    options.callback = [&](const solver::Iteration& iteration) { return watch.goes_on(iteration); };
    const PythonOperator<T> a(static_cast<std::int64_t>(x.size()), function);
    solver::SolveResult result;
    {
        const nb::gil_scoped_release released;
        result = solver::krylov_solve<T>(solver::krylov_method_from_text(method), a, m == nullptr ? nullptr : m->m.get(),
                                         view<T>(b), view<T>(x), options, solver::Device::cpu(threads));
    }
    return nb::make_tuple(column_in_python(result), watch.stopped(), watch.raised());
}

template <class T>
void bind_operator(nb::module_& module) {
    module.def("solve_operator", &solve_operator<T>, nb::arg("function"), nb::arg("m").none(), nb::arg("method"),
               nb::arg("b").noconvert(), nb::arg("x").noconvert(), nb::arg("options"), nb::arg("threads"),
               nb::arg("callback").none());
}

}  // namespace

void bind_operators(nb::module_& module) {
    bind_operator<double>(module);
    bind_operator<float>(module);
}

}  // namespace samebits
