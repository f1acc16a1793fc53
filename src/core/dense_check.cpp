#include "core/dense_check.hpp"

#include "solver/error.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <functional>

namespace solver {
namespace {

template <class T>
bool is_empty(const DenseView<T>& a) {
    return a.rows == 0 || a.columns == 0;
}

/// Column by column with a distance between columns that no two of them share an element at.
template <class T>
bool is_column_major(const DenseView<T>& a) {
    return a.row_stride == 1 && a.column_stride >= a.rows;
}

template <class T>
void require_sizes(const char* operation, const GemmTask<T>& task) {
    const auto& [alpha, a, b, beta, c] = task;
    if (a.columns != b.rows)
        throw DimensionMismatch(fmt::format("{}: A is {} x {}, B is {} x {}; A needs as many columns as B has rows", operation,
                                            a.rows, a.columns, b.rows, b.columns));
    if (c.rows != a.rows || c.columns != b.columns)
        throw DimensionMismatch(fmt::format("{}: C is {} x {}, A is {} x {} and B is {} x {}; C needs to be {} x {}", operation,
                                            c.rows, c.columns, a.rows, a.columns, b.rows, b.columns, a.rows, b.columns));
}

/// One past the last element in memory.
template <class T>
const T* end_of(const DenseView<T>& a) {
    return a.data + (a.rows - 1) * a.row_stride + (a.columns - 1) * a.column_stride + 1;
}

/// How many bytes lie between its elements at most, rounded.
template <class T>
double reach_of(const DenseView<T>& a) {
    const auto along = [](std::int64_t count, std::int64_t stride) {
        return static_cast<double>(count) * std::abs(static_cast<double>(stride));
    };
    return (along(a.rows, a.row_stride) + along(a.columns, a.column_stride)) * sizeof(T);
}

/// Whether two blocks of one column-major matrix share an element. `offset` is from the first element of a to that of b,
/// offset = i + leading j: the rows i and columns j that b lies away from a, where i counts from 0, or, one column further,
/// from -leading.
template <class T>
bool blocks_overlap(const DenseView<T>& a, const DenseView<T>& b, std::int64_t offset) {
    const std::int64_t leading = a.column_stride;
    const auto columns_meet = [&](std::int64_t j) { return j < a.columns && -j < b.columns; };
    std::int64_t j = offset / leading;
    std::int64_t i = offset % leading;
    if (i < 0) {
        i += leading;
        --j;
    }
    return (i < a.rows && columns_meet(j)) || (leading - i < b.rows && columns_meet(j + 1));
}

/// Whether two matrices share an element; of different layouts, whether what lies between their first and last elements does.
template <class T>
bool overlap(const DenseView<T>& a, const DenseView<T>& b) {
    if (is_empty(a) || is_empty(b)) return false;
    const std::less<const T*> before;
    if (!before(a.data, end_of(b)) || !before(b.data, end_of(a))) return false;
    const std::int64_t offset = b.data - a.data;
    const auto of_one_matrix = [](const DenseView<T>& x, const DenseView<T>& y) {
        return is_column_major(x) && is_column_major(y) && x.column_stride == y.column_stride;
    };
    if (of_one_matrix(a, b)) return blocks_overlap(a, b, offset);
    if (of_one_matrix(a.transposed(), b.transposed())) return blocks_overlap(a.transposed(), b.transposed(), offset);
    return true;
}

template <class T>
void require_apart(const char* operation, const char* name, const DenseView<T>& a, const DenseView<T>& c) {
    if (overlap(a, c))
        throw InvalidArgument(fmt::format(
            "{}: C overlaps {} in memory, which is still read while C is written; give C memory of its own", operation, name));
}

}  // namespace

template <class T>
void require_valid(const char* operation, const char* name, const DenseView<T>& a) {
    if (a.rows < 0 || a.columns < 0)
        throw InvalidArgument(fmt::format("{}: {} is {} x {}; sizes are 0 or more", operation, name, a.rows, a.columns));
    if (!is_empty(a) && a.data == nullptr)
        throw InvalidArgument(fmt::format("{}: {} is {} x {} and has no data", operation, name, a.rows, a.columns));
    if (!is_empty(a) && !(reach_of(a) < 0x1p62))
        throw InvalidArgument(
            fmt::format("{}: {} is {} x {} with row_stride {} and column_stride {}; expected elements within 2^62 bytes",
                        operation, name, a.rows, a.columns, a.row_stride, a.column_stride));
}

template <class T>
void require_lines(const char* operation, const char* name, const DenseView<T>& a) {
    require_valid(operation, name, a);
    if (is_empty(a) || is_column_major(a) || is_column_major(a.transposed())) return;
    throw InvalidArgument(
        fmt::format("{}: {} is {} x {} with row_stride {} and column_stride {}; one stride has to be 1 and the other at least "
                    "the length of "
                    "what it steps over: {} by columns, {} by rows",
                    operation, name, a.rows, a.columns, a.row_stride, a.column_stride, a.rows, a.columns));
}

template <class T>
void require_valid(const char* operation, const GemmTask<T>& task) {
    const DenseView<T> c = task.c;
    require_sizes(operation, task);
    require_lines(operation, "A", task.a);
    require_lines(operation, "B", task.b);
    require_lines(operation, "C", c);
    require_apart(operation, "A", task.a, c);
    require_apart(operation, "B", task.b, c);
}

template <class T>
void require_valid(const GemmTask<std::complex<T>>& task) {
    require_valid("gemm", task);
    const auto require_real = [](const char* name, std::complex<T> factor) {
        if (factor.imag() != T(0))
            throw InvalidArgument(
                fmt::format("gemm: {} is {} + {} i; products of dense complex matrices take real factors only", name,
                            factor.real(), factor.imag()));
    };
    require_real("alpha", task.alpha);
    require_real("beta", task.beta);
}

template <class T>
void require_valid(const GemmTask<T>& task, const GemmOptions& options) {
    require_valid("gemm", task);
    if (options.block < 1)
        throw InvalidArgument(fmt::format("gemm: a block of {} products; 1 or more are needed", options.block));
}

template void require_valid(const char*, const char*, const DenseView<float>&);
template void require_valid(const char*, const char*, const DenseView<double>&);
template void require_valid(const char*, const char*, const DenseView<std::complex<float>>&);
template void require_valid(const char*, const char*, const DenseView<std::complex<double>>&);
template void require_lines(const char*, const char*, const DenseView<float>&);
template void require_lines(const char*, const char*, const DenseView<double>&);
template void require_valid(const char*, const GemmTask<float>&);
template void require_valid(const char*, const GemmTask<double>&);
template void require_valid(const GemmTask<std::complex<float>>&);
template void require_valid(const GemmTask<std::complex<double>>&);
template void require_valid(const char*, const GemmTask<std::complex<float>>&);
template void require_valid(const char*, const GemmTask<std::complex<double>>&);
template void require_valid(const GemmTask<float>&, const GemmOptions&);
template void require_valid(const GemmTask<double>&, const GemmOptions&);

}  // namespace solver
