#include "lock.hpp"
#include "matrix.hpp"
#include "solver/complex.hpp"
#include "solver/triangular_solve.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <complex>
#include <optional>
#include <string>

namespace samebits {
namespace {

using namespace solver;

using WithoutLock = nb::call_guard<Released>;

template <class T>
void multiply(const Matrix<T>& a, const Vector<T>& x, const MutableVector<T>& y, int accuracy) {
    a.plan().multiply(T(1), view<T>(x), T(0), view<T>(y), accuracy_of(accuracy));
}

/// Columns of x one after the other, as those of y: A is read once for all.
template <class T>
void multiply_columns(const Matrix<T>& a, const Vector<T>& x, const MutableVector<T>& y, int accuracy) {
    const auto rows = static_cast<std::size_t>(a.plan().rows()), columns = static_cast<std::size_t>(a.plan().columns());
    const std::size_t count = columns > 0 ? x.size() / columns : 0;
    std::vector<SpmvTask<T>> tasks;
    for (std::size_t j = 0; j < count; ++j)
        tasks.push_back({.x = view<T>(x).subspan(j * columns, columns), .y = view<T>(y).subspan(j * rows, rows)});
    a.plan().multiply(tasks, accuracy_of(accuracy));
}

template <class T>
void residual(const Matrix<T>& a, const Vector<T>& b, const Vector<T>& x, const std::optional<Vector<T>>& x_low,
              const MutableVector<T>& r, int accuracy) {
    a.plan().residual(view<T>(b), view<T>(x), x_low ? view<T>(*x_low) : std::span<const T>(), view<T>(r),
                      accuracy_of(accuracy));
}

Triangle triangle_of(bool lower) { return lower ? Triangle::lower : Triangle::upper; }
Diagonal diagonal_of(bool unit) { return unit ? Diagonal::unit : Diagonal::stored; }

/// Column by column, which lie one after another.
template <class Solve, class B, class X>
void solve_columns(std::size_t rows, B b, X x, const Solve& solve) {
    for (std::size_t first = 0; first < b.size(); first += rows) solve(b.subspan(first, rows), x.subspan(first, rows));
}

template <class T>
void solve_triangular(const Matrix<T>& a, bool lower, bool unit, const Vector<T>& b, const MutableVector<T>& x, int accuracy) {
    const Triangle triangle = triangle_of(lower);
    const Diagonal diagonal = diagonal_of(unit);
    const auto rows = static_cast<std::size_t>(a.plan().rows());
    if (a.plan().dense() != nullptr) {
        solve_columns(rows, view<T>(b), view<T>(x), [&](std::span<const T> column, std::span<T> of_x) {
            triangular_solve(*a.plan().dense(), triangle, diagonal, column, of_x, accuracy_of(accuracy), a.plan().device());
        });
        return;
    }
    const TriangularSolvePlan<T> plan(a.plan().matrix(), triangle, diagonal, a.plan().device());
    solve_columns(rows, view<T>(b), view<T>(x),
                  [&](std::span<const T> column, std::span<T> of_x) { plan.solve(column, of_x, accuracy_of(accuracy)); });
}

/// Complex vectors by their parts, in turn.
template <class T>
std::span<const std::complex<T>> complex_view(const Vector<T>& parts) {
    return {reinterpret_cast<const std::complex<T>*>(parts.data()), parts.size() / 2};
}
template <class T>
std::span<std::complex<T>> complex_view(const MutableVector<T>& parts) {
    return {reinterpret_cast<std::complex<T>*>(parts.data()), parts.size() / 2};
}

template <class T>
void solve_dense_complex_triangular(const Strided<std::complex<T>>& elements, bool lower, bool unit, const Vector<T>& b,
                                    const MutableVector<T>& x, int accuracy, int device, int threads) {
    const auto a = dense_view<DenseView<std::complex<T>>>(elements);
    const Released released;
    const auto solve = [&](std::span<const std::complex<T>> column, std::span<std::complex<T>> of_x) {
        triangular_solve(a, triangle_of(lower), diagonal_of(unit), column, of_x, accuracy_of(accuracy),
                         device_of(device, threads));
    };
    solve_columns(static_cast<std::size_t>(a.rows), complex_view<T>(b), complex_view<T>(x), solve);
}

template <class T>
void solve_complex_triangular(std::int64_t rows, std::int64_t columns, const Offsets& offsets,
                              const Vector<std::int32_t>& indices, const Vector<std::complex<T>>& values, bool lower, bool unit,
                              const Vector<T>& b, const MutableVector<T>& x, int accuracy, int device, int threads) {
    using Number = std::complex<T>;
    const auto a = csr_view<Number>(rows, columns, offsets, indices, values);
    const Released released;
    check(a);
    const TriangularSolvePlan<Number> plan(a, triangle_of(lower), diagonal_of(unit), device_of(device, threads));
    solve_columns(
        static_cast<std::size_t>(rows), complex_view<T>(b), complex_view<T>(x),
        [&](std::span<const Number> column, std::span<Number> of_x) { plan.solve(column, of_x, accuracy_of(accuracy)); });
}

/// What products read, the bytes of it that they read a nonzero, and why.
template <class T>
nb::tuple describe(const Matrix<T>& a) {
    const SpmvDescription found = a.plan().describe();
    const std::string storage(a.plan().dense() != nullptr ? "dense" : to_string(found.storage));
    return nb::make_tuple(storage, found.bytes_a_nonzero, found.text);
}

template <class T>
void bind_matrix(nb::module_& module, const char* name) {
    const auto b = nb::arg("b").noconvert(), x = nb::arg("x").noconvert(), y = nb::arg("y").noconvert();
    const nb::arg accuracy("accuracy"), device("device"), threads("threads");
    nb::class_<Matrix<T>>(module, name)
        .def(nb::init<std::int64_t, std::int64_t, Offsets, Vector<std::int32_t>, Vector<T>, int, int, const std::string&,
                      std::int64_t>(),
             nb::arg("rows"), nb::arg("columns"), nb::arg("offsets").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("values").noconvert(), device, threads, nb::arg("storage"), nb::arg("expected_products"))
        .def(nb::init<Strided<T>, int, int>(), nb::arg("elements").noconvert(), device, threads)
        .def("multiply", &multiply<T>, x, y, accuracy, WithoutLock())
        .def("multiply_columns", &multiply_columns<T>, x, y, accuracy, WithoutLock())
        .def("residual", &residual<T>, b, x, nb::arg("x_low").noconvert().none(), nb::arg("r").noconvert(), accuracy,
             WithoutLock())
        .def("solve_triangular", &solve_triangular<T>, nb::arg("lower"), nb::arg("unit"), b, x, accuracy, WithoutLock())
        .def("describe", &describe<T>)
        .def_prop_ro("threads", [](const Matrix<T>& a) { return a.plan().device().threads(); });
}

}  // namespace

void bind_matrices(nb::module_& module) {
    bind_matrix<double>(module, "Matrix64");
    bind_matrix<float>(module, "Matrix32");
    module.def("solve_triangular128", &solve_complex_triangular<double>);
    module.def("solve_triangular64", &solve_complex_triangular<float>);
    module.def("solve_dense_triangular128", &solve_dense_complex_triangular<double>);
    module.def("solve_dense_triangular64", &solve_dense_complex_triangular<float>);
}

}  // namespace samebits
