#include "guarantee/structural_zeros.hpp"

#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/preparation.hpp"

#include <algorithm>

namespace solver::guarantee {
namespace {

/// The column that each row is matched with; the row itself where the diagonal has no zeros. Empty where there is none for
/// some.
template <class T>
std::vector<std::int32_t> columns_of_rows(const CsrView<T>& a) {
    std::vector<std::int32_t> column_of_row(static_cast<std::size_t>(a.rows));
    if (diagnose(a, Device::cpu()).zero_diagonals.count == 0) {
        for (std::int64_t i = 0; i < a.rows; ++i) column_of_row[i] = static_cast<std::int32_t>(i);
        return column_of_row;
    }
    const Transversal transversal = maximum_product_transversal(a);
    if (transversal.structural_rank < a.rows) return {};
    for (std::int64_t j = 0; j < a.columns; ++j) column_of_row[transversal.row_of_column[j]] = static_cast<std::int32_t>(j);
    return column_of_row;
}

}  // namespace

template <class T>
std::vector<std::uint8_t> structural_zeros(const CsrView<T>& a, std::span<const T> b) {
    if (std::find(b.begin(), b.end(), T(0)) == b.end()) return {};
    const std::vector<std::int32_t> column_of_row = columns_of_rows(a);
    if (column_of_row.empty()) return {};
    std::vector<std::uint8_t> is_zero(b.size(), 1);
    std::vector<std::int32_t> to_visit;
    const auto reach = [&](std::int32_t column) {
        if (is_zero[column] == 0) return;
        is_zero[column] = 0;
        to_visit.push_back(column);
    };
    for (std::size_t i = 0; i < b.size(); ++i)
        if (b[i] != 0) reach(column_of_row[i]);
    const CsrMatrix<T> by_columns = transpose(a, Device::cpu());
    while (!to_visit.empty()) {
        const std::int32_t column = to_visit.back();
        to_visit.pop_back();
        for (std::int64_t k = by_columns.row_offsets[column]; k < by_columns.row_offsets[column + 1]; ++k)
            if (by_columns.values[k] != 0) reach(column_of_row[by_columns.column_indices[k]]);
    }
    if (std::find(is_zero.begin(), is_zero.end(), 1) == is_zero.end()) is_zero.clear();
    return is_zero;
}

template std::vector<std::uint8_t> structural_zeros(const CsrView<float>&, std::span<const float>);
template std::vector<std::uint8_t> structural_zeros(const CsrView<double>&, std::span<const double>);

}  // namespace solver::guarantee
