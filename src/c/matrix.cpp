#include "c/matrix.hpp"

#include "c/arguments.hpp"
#include "c/status.hpp"
#include "core/dense_check.hpp"
#include "solver/complex.hpp"
#include "solver/error.hpp"
#include "solver/matrix_market.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>

namespace solver::c {
namespace {

constexpr const char* csr_create = "solver_csr_create";
constexpr const char* dense_create = "solver_dense_create";

void require_sizes(std::int64_t rows, std::int64_t columns, std::int64_t nonzeros) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (rows < 0 || rows > most || columns < 0 || columns > most || nonzeros < 0)
        throw InvalidArgument(
            fmt::format("{}: the matrix is {} x {} with {} entries; expected 0 to {} rows and columns, and 0 or more "
                        "entries",
                        csr_create, rows, columns, nonzeros, most));
}

void require_bytes(const char* of_what, std::int32_t bytes) {
    if (bytes != 4 && bytes != 8)
        throw InvalidArgument(fmt::format("{}: {} is {}; expected 4 or 8", csr_create, of_what, bytes));
}

/// Columns of 64 bits as those of 32.
std::vector<std::int32_t> narrowed(std::span<const std::int64_t> indices, std::int64_t columns) {
    std::vector<std::int32_t> narrow(indices.size());
    for (std::size_t k = 0; k < indices.size(); ++k) {
        if (indices[k] < 0 || indices[k] >= columns)
            throw InvalidArgument(
                fmt::format("{}: entry {} stands in column {}; expected 0 to {}", csr_create, k, indices[k], columns - 1));
        narrow[k] = static_cast<std::int32_t>(indices[k]);
    }
    return narrow;
}

/// A view of the caller's array, or of a copy of it in `own`.
template <class T>
std::span<const T> kept(std::span<const T> given, bool borrow, std::vector<T>& own) {
    if (borrow) return given;
    own.assign(given.begin(), given.end());
    return own;
}

RowOffsets offsets_of(const solver_csr& csr, std::vector<std::int64_t>& own) {
    const std::int64_t count = csr.rows + 1;
    if (csr.offset_bytes == 8)
        return kept(elements<const std::int64_t>(csr.row_offsets, count, csr_create, "row_offsets"), csr.borrow != 0, own);
    const auto narrow = elements<const std::int32_t>(csr.row_offsets, count, csr_create, "row_offsets");
    if (csr.borrow != 0) return narrow;
    own.assign(narrow.begin(), narrow.end());
    return own;
}

std::span<const std::int32_t> indices_of(const solver_csr& csr, std::vector<std::int32_t>& own) {
    if (csr.index_bytes == 4)
        return kept(elements<const std::int32_t>(csr.column_indices, csr.nonzeros, csr_create, "column_indices"),
                    csr.borrow != 0, own);
    own = narrowed(elements<const std::int64_t>(csr.column_indices, csr.nonzeros, csr_create, "column_indices"), csr.columns);
    return own;
}

template <class T>
void copy_elements(const DenseView<T>& from, std::vector<T>& to) {
    to.resize(static_cast<std::size_t>(from.rows * from.columns));
    for (std::int64_t j = 0; j < from.columns; ++j)
        for (std::int64_t i = 0; i < from.rows; ++i)
            to[j * from.rows + i] = from.data[i * from.row_stride + j * from.column_stride];
}

/// The matrix described, of arrays that are the caller's or copied to `own`.
template <class T>
CsrView<T> view_of(const solver_csr& csr, CsrMatrix<T>& own) {
    require_sizes(csr.rows, csr.columns, csr.nonzeros);
    require_bytes("offset_bytes", csr.offset_bytes);
    require_bytes("index_bytes", csr.index_bytes);
    const RowOffsets offsets = offsets_of(csr, own.row_offsets);
    if (offsets[csr.rows] != csr.nonzeros)  // before so many are copied
        throw DimensionMismatch(fmt::format("{}: row_offsets ends with {}; it must end with the number of entries, {}",
                                            csr_create, offsets[csr.rows], csr.nonzeros));
    return {csr.rows, csr.columns, offsets, indices_of(csr, own.column_indices),
            kept(elements<const T>(csr.values, csr.nonzeros, csr_create, "values"), csr.borrow != 0, own.values)};
}

template <class T>
solver_matrix* new_complex_matrix(const CsrView<std::complex<T>>& a, const Device& device, const SpmvOptions& options) {
    return new solver_matrix{std::make_unique<Matrix<T>>(real_form(a), device, options), true, a.nonzeros()};
}

solver_matrix* new_sparse_matrix(const solver_csr& csr, std::int32_t device) {
    solver_matrix* made = nullptr;
    with_number(csr.type, csr_create, [&](auto number) {
        using S = decltype(number);
        const Device where = device_of(device, csr_create);
        if constexpr (is_complex<S>) {
            CsrMatrix<S> own;
            made = new_complex_matrix(view_of(csr, own), where, options_of(csr));
        } else {
            made = new solver_matrix{std::make_unique<Matrix<S>>(csr, where)};
        }
    });
    return made;
}

/// A matrix made by `make`, behind a handle.
template <class T, class... Arguments>
solver_matrix* new_matrix(Arguments&&... arguments) {
    return new solver_matrix{std::make_unique<Matrix<T>>(std::forward<Arguments>(arguments)...)};
}

}  // namespace

template <class S>
MutableDenseView<S> dense_view(const solver_dense& dense, const char* function, const char* name) {
    if (dense.type != type_of<S>)
        throw InvalidArgument(
            fmt::format("{}: {} has the type {}; expected {}, that of the others", function, name, dense.type, type_of<S>));
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (dense.rows < 0 || dense.columns < 0 || (dense.columns > 0 && dense.rows > most / 16 / dense.columns))
        throw InvalidArgument(fmt::format("{}: {} is {} x {}; expected sizes of 0 or more, and less than 2^59 elements",
                                          function, name, dense.rows, dense.columns));
    S* const data = dense.rows == 0 || dense.columns == 0 ? nullptr : &required(static_cast<S*>(dense.data), function, name);
    const MutableDenseView<S> view{dense.rows, dense.columns, dense.row_stride, dense.column_stride, data};
    require_valid(function, name, DenseView<S>(view));
    return view;
}
template MutableDenseView<double> dense_view(const solver_dense&, const char*, const char*);
template MutableDenseView<float> dense_view(const solver_dense&, const char*, const char*);
template MutableDenseView<std::complex<double>> dense_view(const solver_dense&, const char*, const char*);
template MutableDenseView<std::complex<float>> dense_view(const solver_dense&, const char*, const char*);

SpmvOptions options_of(const solver_csr& csr) {
    require(csr.expected_products >= 0, csr_create, "the number of expected products is negative");
    SpmvOptions options;
    if (csr.storage != nullptr) options.storage = spmv_storage_from_text(csr.storage);
    options.expected_products = std::max<std::int64_t>(csr.expected_products, 1);
    return options;
}

template <class T>
Matrix<T>::Matrix(CsrMatrix<T> own, const Device& device, const SpmvOptions& options)
    : device_(device), options_(options), is_dense_(false), own_(std::move(own)), sparse_(own_.view()) {
    make_plan();
}

template <class T>
Matrix<T>::Matrix(const solver_csr& csr, const Device& device)
    : device_(device), options_(options_of(csr)), is_dense_(false), borrows_values_(csr.borrow != 0) {
    sparse_ = view_of(csr, own_);
    check(sparse_, device_);
    options_.is_checked = true;  // update() keeps the pattern
    make_plan();
}

template <class T>
Matrix<T>::Matrix(const cuda::DeviceCsrView<T>& a, const SpmvOptions& options)
    : device_(Device::cuda(a.device)), options_(options), is_dense_(false), lies_on_device_(true), entries_(a.nonzeros) {
    plan_.emplace(a, options);
}

template <class T>
Matrix<T>::Matrix(SpmvPlan<std::complex<T>> plan)
    : device_(plan.device()),
      is_dense_(false),
      lies_on_device_(true),
      complex_plan_(std::move(plan)),
      plan_(complex_plan_->real()) {}

template <class T>
Matrix<T>::Matrix(DenseMatrix<T> own, const Device& device)
    : device_(device), is_dense_(true), elements_(std::move(own.values)) {
    dense_ = {own.rows, own.columns, 1, std::max<std::int64_t>(own.rows, 1), elements_.data()};
    make_plan();
}

template <class T>
Matrix<T>::Matrix(const solver_dense& dense, const Device& device)
    : device_(device), is_dense_(true), borrows_values_(dense.borrow != 0) {
    require(dense.conjugated == 0, dense_create, "the matrix is to be conjugated; expected 0");
    dense_ = dense_view<T>(dense, dense_create, "data");
    static_cast<void>(SpmvPlan<T>(dense_, Device::cpu(1)));  // refuses strides before anything is read by them
    if (!borrows_values_) {
        copy_elements(dense_, elements_);
        dense_ = {dense.rows, dense.columns, 1, std::max<std::int64_t>(dense.rows, 1), elements_.data()};
    }
    make_plan();
}

template <class T>
void Matrix<T>::make_plan() {
    if (is_dense_)
        plan_.emplace(dense_, device_);
    else
        plan_.emplace(sparse_, device_, options_);
    entries_ = sparse_.nonzeros();
}

template <class T>
void Matrix<T>::update(const T* values) {
    constexpr const char* name = "solver_matrix_update";
    require(!lies_on_device_, name,
            "the matrix is read where it was given, on a CUDA device; change it there and create it anew");
    const auto given = elements<const T>(values, entries(), name, "values");
    if (borrows_values_) {
        dense_.data = is_dense_ ? given.data() : nullptr;
        if (!is_dense_) sparse_.values = given;
    } else {
        std::copy(given.begin(), given.end(), is_dense_ ? elements_.begin() : own_.values.begin());
    }
    triangles_.clear();
    make_plan();
}

template <class T>
void Matrix<T>::solve_triangle(Triangle triangle, Diagonal diagonal, std::span<const T> b, std::span<T> x,
                               Accuracy accuracy) const {
    if (is_dense_) return triangular_solve(dense_, triangle, diagonal, b, x, accuracy, device_);
    const auto make = [this] { return sparse(); };
    triangles_.get(triangle, diagonal, device_, make).solve(b, x, accuracy);
}

template <class T>
void Matrix<T>::solve_triangle(Triangle triangle, Diagonal diagonal, std::span<const std::complex<T>> b,
                               std::span<std::complex<T>> x, Accuracy accuracy) const {
    const auto make = [this] { return complex_form(sparse()); };
    complex_triangles_.get(triangle, diagonal, device_, make).solve(b, x, accuracy);
}

template class Matrix<double>;
template class Matrix<float>;

}  // namespace solver::c

using namespace solver;
using namespace solver::c;

solver_status solver_csr_create(const solver_csr* csr, int32_t device, solver_matrix** matrix) {
    return guarded([&] {
        required(matrix, csr_create, "matrix") = nullptr;
        const solver_csr given = filled_up(csr, {}, csr_create, "csr");
        *matrix = new_sparse_matrix(given, device);
    });
}

solver_status solver_dense_create(const solver_dense* dense, int32_t device, solver_matrix** matrix) {
    return guarded([&] {
        required(matrix, dense_create, "matrix") = nullptr;
        const solver_dense given = filled_up(dense, {}, dense_create, "dense");
        with_type(given.type, dense_create,
                  [&](auto number) { *matrix = new_matrix<decltype(number)>(given, device_of(device, dense_create)); });
    });
}

solver_status solver_matrix_read(const char* path, int32_t type, int32_t device, solver_matrix** matrix) {
    constexpr const char* name = "solver_matrix_read";
    return guarded([&] {
        required(matrix, name, "matrix") = nullptr;
        required(path, name, "path");
        with_number(type, name, [&](auto number) {
            using S = decltype(number);
            const Device where = device_of(device, name);
            const MatrixMarketOptions reading{.threads = processor().threads()};
            if constexpr (is_complex<S>)
                *matrix = new_complex_matrix<RealOf<S>>(read_csr<S>(path, reading).view(), where, {});
            else
                std::visit([&](auto&& read) { *matrix = new_matrix<S>(std::move(read), where); },
                           read_matrix_market<S>(path, reading));
        });
    });
}

solver_status solver_matrix_write(const char* path, const solver_matrix* matrix) {
    constexpr const char* name = "solver_matrix_write";
    return guarded([&] {
        required(path, name, "path");
        with_matrix(matrix, name, [&](const auto& of) {
            if (matrix->is_complex)
                write_matrix_market(path, complex_form(of.sparse()).view());
            else if (of.is_dense())
                write_matrix_market(path, of.dense());
            else
                write_matrix_market(path, of.sparse());
        });
    });
}

solver_status solver_matrix_shape(const solver_matrix* matrix, solver_shape* shape) {
    constexpr const char* name = "solver_matrix_shape";
    return guarded([&] {
        with_matrix(matrix, name, [&](const auto& of) {
            solver_shape found{};
            found.type = type_of<element_t<decltype(of)>>;
            found.is_dense = of.is_dense() ? 1 : 0;
            found.rows = of.plan().rows();
            found.columns = of.plan().columns();
            found.nonzeros = of.entries();
            if (matrix->is_complex) {
                found.type += SOLVER_COMPLEX_DOUBLE;
                found.rows /= 2;
                found.columns /= 2;
                found.nonzeros = matrix->complex_entries;
            }
            found.storage = of.storage();
            found.bytes_a_nonzero = of.plan().describe().bytes_a_nonzero;
            hand_over(found, shape, name, "shape");
        });
    });
}

solver_status solver_matrix_csr(const solver_matrix* matrix, solver_csr* csr) {
    constexpr const char* name = "solver_matrix_csr";
    return guarded([&] {
        with_matrix(matrix, name, [&](const auto& of) {
            require(!of.is_dense(), name, "the matrix is dense; solver_matrix_dense has its elements");
            const auto& view = of.sparse();
            solver_csr found{};
            found.type = type_of<element_t<decltype(of)>>;
            found.offset_bytes = static_cast<std::int32_t>(view.row_offsets.element_bytes());
            found.index_bytes = 4;
            found.rows = view.rows;
            found.columns = view.columns;
            found.nonzeros = view.nonzeros();
            found.row_offsets = view.row_offsets.address(0);
            found.column_indices = view.column_indices.data();
            found.values = view.values.data();
            hand_over(found, csr, name, "csr");
        });
    });
}

solver_status solver_matrix_dense(const solver_matrix* matrix, solver_dense* dense) {
    constexpr const char* name = "solver_matrix_dense";
    return guarded([&] {
        with_matrix(matrix, name, [&](const auto& of) {
            using T = element_t<decltype(of)>;
            require(of.is_dense(), name, "the matrix is sparse; solver_matrix_csr has its arrays");
            const auto& view = of.dense();
            hand_over(solver_dense{0, type_of<T>, 0, view.rows, view.columns, view.row_stride, view.column_stride,
                                   const_cast<T*>(view.data), 0},
                      dense, name, "dense");
        });
    });
}

solver_status solver_matrix_update(solver_matrix* matrix, const void* values) {
    return guarded([&] {
        with_matrix(matrix, "solver_matrix_update", [&](auto& of) {
            if (matrix->is_complex) throw NotSupported("solver_matrix_update: the matrix is complex; create it anew");
            of.update(static_cast<const element_t<decltype(of)>*>(values));
        });
    });
}

void solver_matrix_destroy(solver_matrix* matrix) { delete matrix; }
