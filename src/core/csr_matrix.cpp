#include "solver/csr_matrix.hpp"

#include "core/csr_assembly.hpp"
#include "core/floating_point_guard.hpp"
#include "core/huge_pages.hpp"
#include "core/row_ranges.hpp"
#include "core/thread_pool.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

namespace solver {
namespace {

constexpr std::int64_t max_dimension = std::numeric_limits<std::int32_t>::max();

void check_dimensions(const char* doing, std::int64_t rows, std::int64_t columns) {
    if (rows < 0 || columns < 0 || rows > max_dimension || columns > max_dimension)
        throw InvalidArgument(
            fmt::format("{}: the matrix is {} x {}; rows and columns lie within 0..{}", doing, rows, columns, max_dimension));
}

/// Negative unless 0 <= low <= high.
template <class Integer>
Integer order(Integer low, Integer high) {
    using Unsigned = std::make_unsigned_t<Integer>;
    return low | high | static_cast<Integer>(static_cast<Unsigned>(high) - static_cast<Unsigned>(low));
}

/// Whether value(k) is negative for any k < count. All are looked at in any case, many at a time.
template <class Value>
bool any_negative(std::int64_t count, const Device& device, const Value& value) {
    std::atomic<bool> found{false};
    for_each_row_range(count, count, device.threads(), [&](std::int64_t begin, std::int64_t end) {
        decltype(value(begin)) signs = 0;
        for (std::int64_t k = begin; k < end; ++k) signs |= value(k);
        if (signs < 0) found = true;
    });
    return found;
}

void check_row_offsets(std::int64_t rows, const RowOffsets& row_offsets, std::int64_t nonzeros, const Device& device) {
    if (static_cast<std::int64_t>(row_offsets.size()) != rows + 1)
        throw DimensionMismatch(
            fmt::format("check CSR matrix: row_offsets has {} elements; {} rows need {}", row_offsets.size(), rows, rows + 1));
    if (row_offsets[0] != 0)
        throw InvalidArgument(fmt::format("check CSR matrix: row_offsets[0] is {}; it must be 0", row_offsets[0]));
    if (any_negative(rows, device, [&](std::int64_t row) { return order(row_offsets[row], row_offsets[row + 1]); }))
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
void check(const CsrView<T>& matrix, const Device& device) {
    check_dimensions("check CSR matrix", matrix.rows, matrix.columns);
    if (matrix.column_indices.size() != matrix.values.size())
        throw DimensionMismatch(
            fmt::format("check CSR matrix: there are {} column indices and {} values; one of each per entry",
                        matrix.column_indices.size(), matrix.values.size()));
    check_row_offsets(matrix.rows, matrix.row_offsets, matrix.nonzeros(), device);
    const std::span<const std::int32_t> columns = matrix.column_indices;
    const auto last = static_cast<std::int32_t>(matrix.columns - 1);
    if (any_negative(matrix.nonzeros(), device, [&](std::int64_t k) { return order(columns[k], last); }))
        for (std::int64_t k = 0; k < matrix.nonzeros(); ++k)
            if (columns[k] < 0 || columns[k] > last)
                throw InvalidArgument(
                    fmt::format("check CSR matrix: entry {} is in column {}, counted from 0; the matrix has {} columns", k,
                                columns[k], matrix.columns));
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

namespace {

/// A transposition by several threads. Each part of the rows counts its entries of every column, so that it knows where they
/// go: the result does not depend on how many parts there are.
template <class T>
class Transposition {
public:
    Transposition(const CsrView<T>& matrix, const Device& device)
        : matrix_(matrix),
          parts_(parts_for(matrix, device)),
          next_(zeros<std::int64_t>(parts_ * matrix.columns, parts_)),
          result_{matrix.columns, matrix.rows, zeros<std::int64_t>(matrix.columns + 1, parts_), {}, {}} {}

    CsrMatrix<T> run() {
        cpu::parallel_for(parts_, [&](int part) { count(part); });
        number_places();
        resize_in_huge_pages(result_.column_indices, matrix_.nonzeros(), parts_);
        resize_in_huge_pages(result_.values, matrix_.nonzeros(), parts_);
        cpu::parallel_for(parts_, [&](int part) { move(part); });
        return std::move(result_);
    }

private:
    /// The counts are not to take more memory than the values.
    static int parts_for(const CsrView<T>& matrix, const Device& device) {
        constexpr std::int64_t worth_a_thread = 32768;
        const std::int64_t most = matrix.nonzeros() / std::max(worth_a_thread, matrix.columns);
        return static_cast<int>(std::clamp<std::int64_t>(most, 1, device.threads()));
    }

    std::int64_t row_begin(int part) const { return cpu::share_begin(matrix_.rows, part, parts_); }
    std::span<std::int64_t> next_of(int part) { return std::span(next_).subspan(part * matrix_.columns, matrix_.columns); }

    void count(int part) {
        const std::span<std::int64_t> counts = next_of(part);
        for (std::int64_t k = matrix_.row_offsets[row_begin(part)]; k < matrix_.row_offsets[row_begin(part + 1)]; ++k)
            ++counts[matrix_.column_indices[k]];
    }

    /// From counts to the places of first entries: columns in order, in each the parts in order.
    void number_places() {
        std::vector<std::int64_t> before(static_cast<std::size_t>(parts_) + 1);
        const auto for_columns_of = [&](int share, auto&& work) {
            for (std::int64_t j = cpu::share_begin(matrix_.columns, share, parts_);
                 j < cpu::share_begin(matrix_.columns, share + 1, parts_); ++j)
                work(j);
        };
        cpu::parallel_for(parts_, [&](int share) {
            for (int part = 0; part < parts_; ++part)
                for_columns_of(share, [&, counts = next_of(part)](std::int64_t j) { before[share + 1] += counts[j]; });
        });
        std::inclusive_scan(before.begin(), before.end(), before.begin());
        cpu::parallel_for(parts_, [&](int share) {
            std::int64_t place = before[share];
            for_columns_of(share, [&](std::int64_t j) {
                for (int part = 0; part < parts_; ++part) place += std::exchange(next_of(part)[j], place);
                result_.row_offsets[j + 1] = place;
            });
        });
    }

    void move(int part) {
        const std::span<std::int64_t> next = next_of(part);
        for (std::int64_t row = row_begin(part); row < row_begin(part + 1); ++row)
            for (std::int64_t k = matrix_.row_offsets[row]; k < matrix_.row_offsets[row + 1]; ++k) {
                const std::int64_t place = next[matrix_.column_indices[k]]++;
                result_.column_indices[place] = static_cast<std::int32_t>(row);
                result_.values[place] = matrix_.values[k];
            }
    }

    CsrView<T> matrix_;
    int parts_;
    std::vector<std::int64_t> next_;  ///< of each part and column: the place of the part's next entry in the column
    CsrMatrix<T> result_;
};

}  // namespace

template <class T>
CsrMatrix<T> transpose(const CsrView<T>& matrix, const Device& device) {
    check(matrix, device);
    return Transposition<T>(matrix, device).run();
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

template void check(const CsrView<float>&, const Device&);
template void check(const CsrView<double>&, const Device&);
template void check(const CsrView<std::complex<float>>&, const Device&);
template void check(const CsrView<std::complex<double>>&, const Device&);
template CsrMatrix<float> csr_from_entries(std::int64_t, std::int64_t, std::span<const Entry<float>>);
template CsrMatrix<double> csr_from_entries(std::int64_t, std::int64_t, std::span<const Entry<double>>);
template CsrMatrix<std::complex<float>> csr_from_entries(std::int64_t, std::int64_t,
                                                         std::span<const Entry<std::complex<float>>>);
template CsrMatrix<std::complex<double>> csr_from_entries(std::int64_t, std::int64_t,
                                                          std::span<const Entry<std::complex<double>>>);
template CsrMatrix<float> transpose(const CsrView<float>&, const Device&);
template CsrMatrix<double> transpose(const CsrView<double>&, const Device&);
template CsrMatrix<std::complex<float>> transpose(const CsrView<std::complex<float>>&, const Device&);
template CsrMatrix<std::complex<double>> transpose(const CsrView<std::complex<double>>&, const Device&);
template CsrMatrix<float> convert(const CsrView<float>&);
template CsrMatrix<float> convert(const CsrView<double>&);
template CsrMatrix<double> convert(const CsrView<float>&);
template CsrMatrix<double> convert(const CsrView<double>&);
template CsrMatrix<std::complex<float>> convert(const CsrView<std::complex<double>>&);
template CsrMatrix<std::complex<double>> convert(const CsrView<std::complex<float>>&);
template CsrMatrix<std::complex<double>> convert(const CsrView<double>&);

}  // namespace solver
