#pragma once

/// A matrix whose arrays belong to Python.

#include "arguments.hpp"
#include "lock.hpp"
#include "solver/cuda.hpp"
#include "solver/spmv.hpp"

#include <nanobind/stl/variant.h>

#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace samebits {

template <class T>
using Strided = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;

/// Row offsets of either width.
using Offsets = std::variant<Vector<std::int32_t>, Vector<std::int64_t>>;

inline solver::RowOffsets view(const Offsets& offsets) {
    return std::visit([]<class Offset>(const Vector<Offset>& given) -> solver::RowOffsets { return view<Offset>(given); },
                      offsets);
}

template <class T>
solver::CsrView<T> csr_view(std::int64_t rows, std::int64_t columns, const Offsets& offsets,
                            const Vector<std::int32_t>& indices, const Vector<T>& values) {
    return {rows, columns, view(offsets), view<std::int32_t>(indices), view<T>(values)};
}

template <class T>
class Matrix {
public:
    Matrix(std::int64_t rows, std::int64_t columns, Offsets offsets, Vector<std::int32_t> indices, Vector<T> values, int device,
           int threads, const std::string& storage, std::int64_t expected_products)
        : offsets_(std::move(offsets)), indices_(std::move(indices)), values_(std::move(values)) {
        const solver::CsrView<T> a{rows, columns, view(offsets_), view<std::int32_t>(indices_), view<T>(values_)};
        const Released released;
        solver::SpmvOptions options{.storage = solver::spmv_storage_from_text(storage), .expected_products = expected_products};
        if (values_.device_type() != nb::device::cpu::value) {
            plan_.emplace(on_device(a, device), options);
            return;
        }
        const solver::Device where = device_of(device, threads);
        solver::check(a, where);
        options.is_checked = true;
        plan_.emplace(a, where, options);
    }

    Matrix(Strided<T> elements, int device, int threads) : elements_(std::move(elements)) {
        const auto a = dense_view<solver::DenseView<T>>(elements_);
        const Released released;
        plan_.emplace(a, device_of(device, threads));
    }

    Matrix(const Matrix&) = delete;

    const solver::SpmvPlan<T>& plan() const { return *plan_; }

private:
    /// A view of arrays that lie on a device, as a matrix there.
    static solver::cuda::DeviceCsrView<T> on_device(const solver::CsrView<T>& a, int device) {
        if (std::ssize(a.row_offsets) != a.rows + 1 || std::ssize(a.column_indices) != a.nonzeros())
            throw solver::DimensionMismatch("the matrix has " + std::to_string(a.rows) + " rows and " +
                                            std::to_string(a.nonzeros()) + " values, but " +
                                            std::to_string(a.row_offsets.size()) + " row offsets and " +
                                            std::to_string(a.column_indices.size()) + " column indices");
        return {device, a.rows, a.columns, a.nonzeros(), a.row_offsets, a.column_indices.data(), a.values.data()};
    }

    // They keep the arrays alive that the plan looks at.
    Offsets offsets_;
    Vector<std::int32_t> indices_;
    Vector<T> values_;
    Strided<T> elements_;
    std::optional<solver::SpmvPlan<T>> plan_;
};

}  // namespace samebits
