#include "core/paired_rows.hpp"

#include "solver/complex.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

namespace solver {
namespace {

/// The entries beside the diagonal; the parts of those of the diagonal are appended to `pivots`.
template <class T>
CsrMatrix<std::complex<T>> without_diagonal(const CsrView<std::complex<T>>& a, std::vector<T>& pivots) {
    CsrMatrix<std::complex<T>> beside{a.rows, a.columns, {0}, {}, {}};
    for (std::int64_t row = 0; row < a.rows; ++row) {
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            if (a.column_indices[k] == row) {
                pivots.insert(pivots.end(), {a.values[k].real(), a.values[k].imag()});
            } else {
                beside.column_indices.push_back(a.column_indices[k]);
                beside.values.push_back(a.values[k]);
            }
        }
        beside.row_offsets.push_back(beside.nonzeros());
    }
    return beside;
}

}  // namespace

template <class T>
PairedRows<T>::PairedRows(const CsrView<std::complex<T>>& a) : beside(real_form(without_diagonal(a, pivots).view())) {}

void require_few_paired_rows(std::int64_t rows) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 4;
    if (rows > most)
        throw InvalidArgument(
            fmt::format("triangular solve: A has {} rows; on a CUDA device at most {} are supported", rows, most));
}

template struct PairedRows<float>;
template struct PairedRows<double>;

}  // namespace solver
