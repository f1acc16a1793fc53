#include "arguments.hpp"
#include "lock.hpp"
#include "matrices/generators.hpp"
#include "matrix.hpp"
#include "solver/complex.hpp"
#include "solver/matrix_market.hpp"

#include <nanobind/stl/string.h>

#include <complex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace samebits {
namespace {

using namespace solver;

/// An array of Python's that owns what the vector held.
template <class T>
nb::object in_python(std::vector<T>&& values) {
    auto* const kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), {kept->size()}, owner));
}

/// (rows, columns, offsets, indices, values).
template <class T>
nb::tuple parts(CsrMatrix<T>&& a) {
    return nb::make_tuple(a.rows, a.columns, in_python(std::move(a.row_offsets)), in_python(std::move(a.column_indices)),
                          in_python(std::move(a.values)));
}

/// (rows, columns, offsets, indices, values) or (rows, columns, elements column by column).
template <class T>
nb::tuple read(const std::string& path, int threads) {
    std::variant<CsrMatrix<T>, DenseMatrix<T>> found;
    {
        const Released released;
        found = read_matrix_market<T>(path, {.threads = threads});
    }
    if (auto* const a = std::get_if<CsrMatrix<T>>(&found)) return parts(std::move(*a));
    auto& dense = std::get<DenseMatrix<T>>(found);
    return nb::make_tuple(dense.rows, dense.columns, in_python(std::move(dense.values)));
}

/// None where no family has such names.
nb::object generate(const std::string& name) {
    std::optional<CsrMatrix<double>> real;
    std::optional<CsrMatrix<std::complex<double>>> complex;
    {
        const Released released;
        const auto generator = matrices::find_generator(name);
        if (generator && generator->is_complex()) complex = generator->make_complex();
        if (generator && !generator->is_complex()) real = generator->make();
    }
    if (complex) return parts(std::move(*complex));
    return real ? nb::object(parts(std::move(*real))) : nb::none();
}

template <class T>
nb::tuple real_form_of(std::int64_t rows, std::int64_t columns, const Offsets& offsets, const Vector<std::int32_t>& indices,
                       const Vector<std::complex<T>>& values) {
    CsrMatrix<T> made;
    {
        const auto a = csr_view<std::complex<T>>(rows, columns, offsets, indices, values);
        const Released released;
        made = real_form(a);
    }
    return parts(std::move(made));
}

template <class T>
void write_complex(const std::string& path, std::int64_t rows, std::int64_t columns, const Offsets& offsets,
                   const Vector<std::int32_t>& indices, const Vector<std::complex<T>>& values) {
    write_matrix_market(path, csr_view<std::complex<T>>(rows, columns, offsets, indices, values));
}

/// Column by column.
template <class T>
void write_complex_elements(const std::string& path, std::int64_t rows, std::int64_t columns,
                            const Vector<std::complex<T>>& elements) {
    write_matrix_market(path, DenseView<std::complex<T>>{rows, columns, 1, rows, elements.data()});
}

/// (name, purpose) of every family.
nb::list generator_kinds() {
    nb::list kinds;
    for (const matrices::GeneratorKind& kind : matrices::generator_kinds())
        kinds.append(nb::make_tuple(std::string(kind.pattern), std::string(kind.purpose)));
    return kinds;
}

template <class T>
void write(const std::string& path, const Matrix<T>& a) {
    if (a.plan().dense() != nullptr)
        write_matrix_market(path, *a.plan().dense());
    else
        write_matrix_market(path, a.plan().matrix());
}

}  // namespace

void bind_files(nb::module_& module) {
    using WithoutLock = nb::call_guard<Released>;
    module.def("read64", &read<double>, nb::arg("path"), nb::arg("threads"));
    module.def("read32", &read<float>, nb::arg("path"), nb::arg("threads"));
    module.def("read_complex128", &read<std::complex<double>>, nb::arg("path"), nb::arg("threads"));
    module.def("read_complex64", &read<std::complex<float>>, nb::arg("path"), nb::arg("threads"));
    module.def(
        "holds_complex_numbers", [](const std::string& path) { return holds_complex_numbers(path); }, nb::arg("path"));
    module.def("real_form128", &real_form_of<double>);
    module.def("real_form64", &real_form_of<float>);
    module.def("write_complex128", &write_complex<double>);
    module.def("write_complex64", &write_complex<float>);
    module.def("write_complex_elements128", &write_complex_elements<double>);
    module.def("write_complex_elements64", &write_complex_elements<float>);
    module.def("generate", &generate, nb::arg("name"));
    module.def("generator_kinds", &generator_kinds);
    module.def("write", &write<double>, nb::arg("path"), nb::arg("matrix"), WithoutLock());
    module.def("write", &write<float>, nb::arg("path"), nb::arg("matrix"), WithoutLock());
}

}  // namespace samebits
