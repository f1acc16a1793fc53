#include "arguments.hpp"
#include "lock.hpp"
#include "solver/complex.hpp"
#include "solver/gemm.hpp"
#include "solver/reduce.hpp"

#include <nanobind/stl/complex.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <complex>
#include <utility>
#include <vector>

namespace samebits {
namespace {

using namespace solver;

using WithoutLock = nb::call_guard<Released>;

/// S: of numbers, real or complex.
template <class S>
S sum_of(const Vector<S>& x, int accuracy, int device, int threads) {
    return sum(view<S>(x), accuracy_of(accuracy), device_of(device, threads));
}

/// x^T y, or of complex numbers x^H y.
template <class S>
S vdot_of(const Vector<S>& x, const Vector<S>& y, int accuracy, int device, int threads) {
    return dot(view<S>(x), view<S>(y), accuracy_of(accuracy), device_of(device, threads));
}

template <class S>
S dot_of(const Vector<S>& x, const Vector<S>& y, int accuracy, int device, int threads) {
    if constexpr (is_complex<S>)
        return dotu(view<S>(x), view<S>(y), accuracy_of(accuracy), device_of(device, threads));
    else
        return vdot_of<S>(x, y, accuracy, device, threads);
}

template <class S>
RealOf<S> norm_of(const Vector<S>& x, int accuracy, int device, int threads) {
    return norm2(view<S>(x), accuracy_of(accuracy), device_of(device, threads));
}

/// The components, and whether they are all there is.
template <class T>
using PythonExpansion = std::pair<std::vector<T>, bool>;

template <class T>
PythonExpansion<T> in_python(const Expansion<T>& expansion) {
    const auto components = expansion.components();
    return {{components.begin(), components.end()}, expansion.is_exact};
}
template <class T>
std::pair<PythonExpansion<T>, PythonExpansion<T>> in_python(const ComplexExpansion<T>& expansion) {
    return {in_python(expansion.re), in_python(expansion.im)};
}

template <class S>
auto sum_expansion_of(const Vector<S>& x, int device, int threads) {
    return in_python(sum_expansion(view<S>(x), device_of(device, threads)));
}

template <class S>
auto dot_expansion_of(const Vector<S>& x, const Vector<S>& y, int device, int threads) {
    if constexpr (is_complex<S>)
        return in_python(dotu_expansion(view<S>(x), view<S>(y), device_of(device, threads)));
    else
        return in_python(dot_expansion(view<S>(x), view<S>(y), device_of(device, threads)));
}

template <class T>
using Dense = nb::ndarray<const T, nb::ndim<2>>;
template <class T>
using MutableDense = nb::ndarray<T, nb::ndim<2>>;

template <class S>
void matmul(const Dense<S>& a, const Dense<S>& b, const MutableDense<S>& c, int accuracy, int device, int threads) {
    gemm(GemmTask<S>{1, dense_view<DenseView<S>>(a), dense_view<DenseView<S>>(b), 0, dense_view<MutableDenseView<S>>(c)},
         accuracy_of(accuracy), device_of(device, threads));
}

template <class S>
void bind_vector_functions(nb::module_& module) {
    const auto x = nb::arg("x").noconvert(), y = nb::arg("y").noconvert();
    const nb::arg accuracy("accuracy"), device("device"), threads("threads");
    module.def("sum", &sum_of<S>, x, accuracy, device, threads, WithoutLock());
    module.def("dot", &dot_of<S>, x, y, accuracy, device, threads, WithoutLock());
    module.def("vdot", &vdot_of<S>, x, y, accuracy, device, threads, WithoutLock());
    module.def("norm", &norm_of<S>, x, accuracy, device, threads, WithoutLock());
    module.def("sum_expansion", &sum_expansion_of<S>, x, device, threads, WithoutLock());
    module.def("dot_expansion", &dot_expansion_of<S>, x, y, device, threads, WithoutLock());
    module.def("matmul", &matmul<S>, nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("c").noconvert(), accuracy,
               device, threads, WithoutLock());
}

}  // namespace

void bind_vectors(nb::module_& module) {
    bind_vector_functions<double>(module);
    bind_vector_functions<float>(module);
    bind_vector_functions<std::complex<double>>(module);
    bind_vector_functions<std::complex<float>>(module);
}

}  // namespace samebits
