#include "matrix.hpp"
#include "solver/lsmr.hpp"
#include "solves.hpp"

#include <nanobind/stl/string.h>

#include <utility>

namespace samebits {
namespace {

nb::dict in_python(const solver::LeastSquaresResult& result) {
    nb::dict made = outcome_in_python(result);
    made["normal_residual"] = result.normal_residual;
    made["matrix_norm"] = result.matrix_norm;
    return made;
}

/// (result, what was raised); x holds the guess and then the best iterate.
template <class T>
nb::tuple lsmr(const Matrix<T>& a, const Matrix<T>& transposed, const Vector<T>& b, const MutableVector<T>& x,
               const nb::dict& given) {
    solver::KrylovOptions options = iteration_of(given);
    Watch watch{nb::none()};
    options.callback = [&](const solver::Iteration& iteration) { return watch.goes_on(iteration); };
    solver::LeastSquaresResult result;
    {
        const nb::gil_scoped_release released;
        result = solver::lsmr<T>(a.plan(), transposed.plan(), view<T>(b), view<T>(x), options);
    }
    return nb::make_tuple(in_python(result), watch.raised());
}

template <class T>
void bind_lsmr(nb::module_& module) {
    module.def("lsmr", &lsmr<T>, nb::arg("a"), nb::arg("transposed"), nb::arg("b").noconvert(), nb::arg("x").noconvert(),
               nb::arg("options"));
}

}  // namespace

void bind_least_squares(nb::module_& module) {
    bind_lsmr<double>(module);
    bind_lsmr<float>(module);
}

}  // namespace samebits
