#pragma once

/// The checks of triangular matrices, real or complex.

#include "core/check.hpp"
#include "core/dense_check.hpp"
#include "solver/error.hpp"
#include "solver/triangular_solve.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <span>

namespace solver {

/// Throws InvalidArgument.
template <class Matrix>
void require_square(const Matrix& a) {
    if (a.rows != a.columns)
        throw InvalidArgument(fmt::format("triangular solve: A is {} x {}; it must be square", a.rows, a.columns));
}

/// Throws InvalidArgument where a square matrix is none that TriangularSolvePlan takes. Rows and columns are counted from 1 in
/// messages, as in Matrix Market files.
template <class T>
void require_triangle(const CsrView<T>& a, Triangle triangle, Diagonal diagonal) {
    const auto is_beyond = [&](std::int64_t row, std::int64_t column) {
        return triangle == Triangle::lower ? column > row : column < row;
    };
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const std::int64_t first = a.row_offsets[row];
        const std::int64_t last = a.row_offsets[row + 1];
        for (std::int64_t k = first; k < last; ++k) {
            const std::int64_t column = a.column_indices[k];
            if (is_beyond(row, column))
                throw InvalidArgument(fmt::format("triangular solve: entry ({}, {}) lies beyond the diagonal of {} triangle",
                                                  row + 1, column + 1, triangle == Triangle::lower ? "a lower" : "an upper"));
            if (k > first && a.column_indices[k - 1] >= column)
                throw InvalidArgument(
                    fmt::format("triangular solve: the columns of row {} do not rise; sort them, and have each once", row + 1));
            if (diagonal == Diagonal::unit && column == row)
                throw InvalidArgument(
                    fmt::format("triangular solve: row {} stores a diagonal entry, which a unit diagonal has not", row + 1));
        }
        if (diagonal == Diagonal::unit) continue;
        const std::int64_t k = triangle == Triangle::lower ? last - 1 : first;
        if (first == last || a.column_indices[k] != row)
            throw InvalidArgument(fmt::format("triangular solve: row {} has no diagonal entry", row + 1));
        if (a.values[k] == T(0))
            throw InvalidArgument(fmt::format("triangular solve: the diagonal entry of row {} is 0", row + 1));
    }
}

/// Throws where a dense matrix's triangle is none that triangular_solve takes with these vectors on this device.
template <class T>
void require_dense_triangle(const DenseView<T>& a, Diagonal diagonal, std::span<const T> b, std::span<const T> x,
                            const Device& device) {
    require_cpu(device, "triangular solve");
    require_valid("triangular solve", "A", a);
    require_square(a);
    const cpu::FloatingPointGuard guard;  // a subnormal pivot is not 0
    for (std::int64_t i = 0; diagonal == Diagonal::stored && i < a.rows; ++i)
        if (a.data[i * (a.row_stride + a.column_stride)] == T(0))
            throw InvalidArgument(fmt::format("triangular solve: the diagonal entry of row {} is 0", i + 1));
    require_length("triangular solve", "b", b.size(), a.rows, "the rows of A", a);
    require_length("triangular solve", "x", x.size(), a.columns, "the columns of A", a);
    require_same_or_apart("triangular solve", "x", x, "b", b);
}

}  // namespace solver
