#include "core/complex_check.hpp"
#include "core/floating_point_guard.hpp"
#include "solver/complex.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace solver {
namespace {

/// Appends row `part` (0: real, 1: imaginary) of what a row of A becomes.
template <class T>
void append_row(const CsrView<std::complex<T>>& a, std::int64_t row, int part, CsrMatrix<T>& real) {
    const auto append = [&](std::int64_t column, T value) {
        if (value == T(0)) return;
        real.column_indices.push_back(static_cast<std::int32_t>(column));
        real.values.push_back(value);
    };
    for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
        const std::int64_t column = 2 * std::int64_t{a.column_indices[k]};
        append(column, part == 0 ? a.values[k].real() : a.values[k].imag());
        append(column + 1, part == 0 ? -a.values[k].imag() : a.values[k].real());
    }
    real.row_offsets.push_back(real.nonzeros());
}

template <class T>
std::size_t nonzero_parts(const CsrView<std::complex<T>>& a) {
    std::size_t count = 0;
    for (const T part : real_view(a.values)) count += part != T(0);
    return count;
}

}  // namespace

template <class T>
CsrMatrix<T> real_form(const CsrView<std::complex<T>>& a) {
    check(a);
    require_room_for_real_form(a);
    const cpu::FloatingPointGuard guard;  // a subnormal part is an entry
    CsrMatrix<T> real{2 * a.rows, 2 * a.columns, {0}, {}, {}};
    real.row_offsets.reserve(static_cast<std::size_t>(real.rows) + 1);
    real.column_indices.reserve(2 * nonzero_parts(a));
    real.values.reserve(2 * nonzero_parts(a));
    for (std::int64_t row = 0; row < a.rows; ++row)
        for (const int part : {0, 1}) append_row(a, row, part, real);
    return real;
}

template <class T>
CsrMatrix<T> read_real_form(const std::filesystem::path& path, const MatrixMarketOptions& options) {
    if (!holds_complex_numbers(path)) return read_csr<T>(path, options);
    return real_form(read_csr<std::complex<T>>(path, options).view());
}

template <class T>
CsrMatrix<std::complex<T>> complex_form(const CsrView<T>& real_form) {
    check(real_form);
    if (real_form.rows % 2 != 0 || real_form.columns % 2 != 0)
        throw InvalidArgument(
            fmt::format("complex matrix: the real form is {} x {}; expected even numbers", real_form.rows, real_form.columns));
    CsrMatrix<std::complex<T>> a{real_form.rows / 2, real_form.columns / 2, {0}, {}, {}};
    for (std::int64_t row = 0; row < real_form.rows; row += 2) {
        const std::int64_t begin = a.nonzeros();
        for (std::int64_t k = real_form.row_offsets[row]; k < real_form.row_offsets[row + 1]; ++k) {
            const std::int32_t column = real_form.column_indices[k] / 2;
            if (a.nonzeros() == begin || a.column_indices.back() != column) {
                a.column_indices.push_back(column);
                a.values.emplace_back();
            }
            if (real_form.column_indices[k] % 2 == 0)
                a.values.back().real(real_form.values[k]);
            else
                a.values.back().imag(-real_form.values[k]);
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    return a;
}

template <class T>
CsrMatrix<std::complex<T>> conjugate_transpose(const CsrView<std::complex<T>>& a, const Device& device) {
    CsrMatrix<std::complex<T>> result = transpose(a, device);
    for (std::complex<T>& value : result.values) value = std::conj(value);
    return result;
}

template CsrMatrix<float> real_form(const CsrView<std::complex<float>>&);
template CsrMatrix<double> real_form(const CsrView<std::complex<double>>&);
template CsrMatrix<float> read_real_form(const std::filesystem::path&, const MatrixMarketOptions&);
template CsrMatrix<double> read_real_form(const std::filesystem::path&, const MatrixMarketOptions&);
template CsrMatrix<std::complex<float>> complex_form(const CsrView<float>&);
template CsrMatrix<std::complex<double>> complex_form(const CsrView<double>&);
template CsrMatrix<std::complex<float>> conjugate_transpose(const CsrView<std::complex<float>>&, const Device&);
template CsrMatrix<std::complex<double>> conjugate_transpose(const CsrView<std::complex<double>>&, const Device&);

}  // namespace solver
