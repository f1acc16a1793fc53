#include "arguments.hpp"
#include "matrix.hpp"
#include "solver/matrix_market.hpp"

#include <nanobind/stl/string.h>

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

/// (rows, columns, offsets, indices, values) or (rows, columns, elements column by column).
template <class T>
nb::tuple read(const std::string& path, int threads) {
    std::variant<CsrMatrix<T>, DenseMatrix<T>> found;
    {
        const nb::gil_scoped_release released;
        found = read_matrix_market<T>(path, {.threads = threads});
    }
    if (auto* const a = std::get_if<CsrMatrix<T>>(&found))
        return nb::make_tuple(a->rows, a->columns, in_python(std::move(a->row_offsets)),
                              in_python(std::move(a->column_indices)), in_python(std::move(a->values)));
    auto& dense = std::get<DenseMatrix<T>>(found);
    return nb::make_tuple(dense.rows, dense.columns, in_python(std::move(dense.values)));
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
    using Released = nb::call_guard<nb::gil_scoped_release>;
    module.def("read64", &read<double>, nb::arg("path"), nb::arg("threads"));
    module.def("read32", &read<float>, nb::arg("path"), nb::arg("threads"));
    module.def("write", &write<double>, nb::arg("path"), nb::arg("matrix"), Released());
    module.def("write", &write<float>, nb::arg("path"), nb::arg("matrix"), Released());
}

}  // namespace samebits
