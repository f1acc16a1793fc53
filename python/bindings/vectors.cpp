#include "arguments.hpp"
#include "solver/complex.hpp"
#include "solver/gemm.hpp"
#include "solver/reduce.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <utility>
#include <vector>

namespace samebits {
namespace {

using namespace solver;

using Released = nb::call_guard<nb::gil_scoped_release>;

template <class T>
T sum_of(const Vector<T>& x, int accuracy, int device, int threads) {
    return sum(view<T>(x), accuracy_of(accuracy), device_of(device, threads));
}

template <class T>
T dot_of(const Vector<T>& x, const Vector<T>& y, int accuracy, int device, int threads) {
    return dot(view<T>(x), view<T>(y), accuracy_of(accuracy), device_of(device, threads));
}

template <class T>
T norm_of(const Vector<T>& x, int accuracy, int device, int threads) {
    return norm2(view<T>(x), accuracy_of(accuracy), device_of(device, threads));
}

/// The components, and whether they are all there is.
template <class T>
std::pair<std::vector<T>, bool> in_python(const Expansion<T>& expansion) {
    const auto components = expansion.components();
    return {{components.begin(), components.end()}, expansion.is_exact};
}

template <class T>
std::pair<std::vector<T>, bool> sum_expansion_of(const Vector<T>& x, int device, int threads) {
    return in_python(sum_expansion(view<T>(x), device_of(device, threads)));
}

template <class T>
std::pair<std::vector<T>, bool> dot_expansion_of(const Vector<T>& x, const Vector<T>& y, int device, int threads) {
    return in_python(dot_expansion(view<T>(x), view<T>(y), device_of(device, threads)));
}

template <class T>
using Dense = nb::ndarray<const T, nb::ndim<2>>;
template <class T>
using MutableDense = nb::ndarray<T, nb::ndim<2>>;

/// S: of numbers, real or complex.
template <class S>
void matmul(const Dense<S>& a, const Dense<S>& b, const MutableDense<S>& c, int accuracy, int device, int threads) {
    gemm(GemmTask<S>{1, dense_view<DenseView<S>>(a), dense_view<DenseView<S>>(b), 0, dense_view<MutableDenseView<S>>(c)},
         accuracy_of(accuracy), device_of(device, threads));
}

template <class S>
void bind_matmul(nb::module_& module) {
    module.def("matmul", &matmul<S>, nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("c").noconvert(),
               nb::arg("accuracy"), nb::arg("device"), nb::arg("threads"), Released());
}

template <class T>
void bind(nb::module_& module) {
    const auto x = nb::arg("x").noconvert(), y = nb::arg("y").noconvert();
    const nb::arg accuracy("accuracy"), device("device"), threads("threads");
    module.def("sum", &sum_of<T>, x, accuracy, device, threads, Released());
    module.def("dot", &dot_of<T>, x, y, accuracy, device, threads, Released());
    module.def("norm", &norm_of<T>, x, accuracy, device, threads, Released());
    module.def("sum_expansion", &sum_expansion_of<T>, x, device, threads, Released());
    module.def("dot_expansion", &dot_expansion_of<T>, x, y, device, threads, Released());
    bind_matmul<T>(module);
    bind_matmul<std::complex<T>>(module);
}

}  // namespace

void bind_vectors(nb::module_& module) {
    bind<double>(module);
    bind<float>(module);
}

}  // namespace samebits
