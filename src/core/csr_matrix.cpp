#include "solver/csr_matrix.hpp"

#include "core/csr_assembly.hpp"
#include "core/floating_point_guard.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <limits>
#include <numeric>

namespace solver {
namespace {

constexpr std::int64_t max_dimension = std::numeric_limits<std::int32_t>::max();

void check_dimensions(const char* doing, std::int64_t rows, std::int64_t columns) {
    if (rows < 0 || columns < 0 || rows > max_dimension || columns > max_dimension)
        throw InvalidArgument(
            fmt::format("{}: the matrix is {} x {}; rows and columns lie within 0..{}", doing, rows, columns, max_dimension));
}

void check_row_offsets(std::int64_t rows, std::span<const std::int64_t> row_offsets, std::int64_t nonzeros) {
    if (static_cast<std::int64_t>(row_offsets.size()) != rows + 1)
        throw DimensionMismatch(
            fmt::format("check CSR matrix: row_offsets has {} elements; {} rows need {}", row_offsets.size(), rows, rows + 1));
    if (row_offsets[0] != 0)
        throw InvalidArgument(fmt::format("check CSR matrix: row_offsets[0] is {}; it must be 0", row_offsets[0]));
    for (std::int64_t row = 0; row < rows; ++row)
        if (row_offsets[row + 1] < row_offsets[row])
            throw InvalidArgument(
                fmt::format("check CSR matrix: row_offsets falls from {} to {} behind row {}; it must not fall",
                            row_offsets[row], row_offsets[row + 1], row));
    if (row_offsets[rows] != nonzeros)
        throw DimensionMismatch(
            fmt::format("check CSR matrix: row_offsets ends with {}; it must end with the number of entries, {}",
                        row_offsets[rows], nonzeros));
}

}  // namespace

template <class T>
void check(const CsrView<T>& matrix) {
    check_dimensions("check CSR matrix", matrix.rows, matrix.columns);
    if (matrix.column_indices.size() != matrix.values.size())
        throw DimensionMismatch(
            fmt::format("check CSR matrix: there are {} column indices and {} values; one of each per entry",
                        matrix.column_indices.size(), matrix.values.size()));
    check_row_offsets(matrix.rows, matrix.row_offsets, matrix.nonzeros());
    for (std::int64_t k = 0; k < matrix.nonzeros(); ++k)
        if (matrix.column_indices[k] < 0 || matrix.column_indices[k] >= matrix.columns)
            throw InvalidArgument(
                fmt::format("check CSR matrix: entry {} is in column {}, counted from 0; the matrix has {} columns", k,
                            matrix.column_indices[k], matrix.columns));
}

template <class T>
CsrMatrix<T> csr_from_entries(std::int64_t rows, std::int64_t columns, std::span<const Entry<T>> entries) {
    check_dimensions("CSR matrix from entries", rows, columns);
    for (std::size_t k = 0; k < entries.size(); ++k)
        if (entries[k].row < 0 || entries[k].row >= rows || entries[k].column < 0 || entries[k].column >= columns)
            throw InvalidArgument(
                fmt::format("CSR matrix from entries: entry {} is at ({}, {}), counted from 0; the matrix is {} x {}", k,
                            entries[k].row, entries[k].column, rows, columns));
    return assemble<T>(rows, columns, std::span(&entries, 1), Symmetry::general, 1).matrix;
}

template <class T>
CsrMatrix<T> transpose(const CsrView<T>& matrix) {
    CsrMatrix<T> result{matrix.columns, matrix.rows, std::vector<std::int64_t>(matrix.columns + 1),
                        std::vector<std::int32_t>(matrix.nonzeros()), std::vector<T>(matrix.nonzeros())};
    std::vector<std::int64_t>& offsets = result.row_offsets;
    for (const std::int32_t column : matrix.column_indices) ++offsets[column + 1];
    std::inclusive_scan(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    for (std::int64_t row = 0; row < matrix.rows; ++row)
        for (std::int64_t k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            const std::int64_t place = next[matrix.column_indices[k]]++;
            result.column_indices[place] = static_cast<std::int32_t>(row);
            result.values[place] = matrix.values[k];
        }
    return result;
}

template <class To, class From>
CsrMatrix<To> convert(const CsrView<From>& matrix) {
    const cpu::FloatingPointGuard guard;
    return {matrix.rows,
            matrix.columns,
            {matrix.row_offsets.begin(), matrix.row_offsets.end()},
            {matrix.column_indices.begin(), matrix.column_indices.end()},
            {matrix.values.begin(), matrix.values.end()}};
}

template void check(const CsrView<float>&);
template void check(const CsrView<double>&);
template CsrMatrix<float> csr_from_entries(std::int64_t, std::int64_t, std::span<const Entry<float>>);
template CsrMatrix<double> csr_from_entries(std::int64_t, std::int64_t, std::span<const Entry<double>>);
template CsrMatrix<float> transpose(const CsrView<float>&);
template CsrMatrix<double> transpose(const CsrView<double>&);
template CsrMatrix<float> convert(const CsrView<float>&);
template CsrMatrix<float> convert(const CsrView<double>&);
template CsrMatrix<double> convert(const CsrView<float>&);
template CsrMatrix<double> convert(const CsrView<double>&);

}  // namespace solver
