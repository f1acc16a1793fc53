#include "preparation/exponents.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace solver::preparation {
namespace {

std::int64_t rounded(std::int64_t dual) { return (dual + (std::int64_t{1} << (log2_fraction_bits - 1))) >> log2_fraction_bits; }

std::vector<std::int64_t> negated_and_rounded(const std::vector<std::int64_t>& duals) {
    std::vector<std::int64_t> exponents(duals.size());
    std::transform(duals.begin(), duals.end(), exponents.begin(), [](std::int64_t dual) { return -rounded(dual); });
    return exponents;
}

/// What to add to all rows' exponents and to take from all columns'. The median column is left as it is, so that vectors, which
/// the scaling goes through as well, keep about the size of x; but as near to that as keeps all exponents within +-limit, or,
/// where nothing does, what makes the largest of them least.
std::int64_t chosen_shift(const std::vector<std::int64_t>& rows, std::vector<std::int64_t> columns, std::int64_t limit) {
    if (rows.empty()) return 0;
    const auto [row_min, row_max] = std::minmax_element(rows.begin(), rows.end());
    const auto [column_min, column_max] = std::minmax_element(columns.begin(), columns.end());
    const std::int64_t least = std::max(-limit - *row_min, *column_max - limit);
    const std::int64_t most = std::min(limit - *row_max, *column_min + limit);
    if (least > most) return (least + most) / 2;
    const auto middle = columns.begin() + std::ssize(columns) / 2;
    std::nth_element(columns.begin(), middle, columns.end());
    return std::clamp(*middle, least, most);
}

/// Whether a clamp to +-limit changed anything.
bool shift_and_clamp(const std::vector<std::int64_t>& from, std::int64_t shift, std::int64_t limit,
                     std::vector<std::int32_t>& to) {
    bool clamped = false;
    to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
        const std::int64_t shifted = from[i] + shift;
        to[i] = static_cast<std::int32_t>(std::clamp(shifted, -limit, limit));
        clamped = clamped || to[i] != shifted;
    }
    return clamped;
}

/// Lowers exponents, rows' first, until no entry is 2 or more: at the lowest exponents none is.
template <class T>
void bound_entries(Preparation& p, const CsrView<T>& a) {
    constexpr std::int32_t lowest = -max_exponent<T>;
    const auto lower_by_excess = [&](std::vector<std::int32_t>& lowered, bool rows) {
        for (std::int64_t i = 0; i < a.rows; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                if (a.values[k] == 0) continue;
                const std::int32_t j = a.column_indices[k];
                const std::int32_t excess = std::ilogb(a.values[k]) + p.row_exponents[i] + p.column_exponents[j];
                std::int32_t& exponent = lowered[rows ? i : j];
                if (excess > 0) exponent = std::max(exponent - excess, lowest);
            }
    };
    lower_by_excess(p.row_exponents, true);
    lower_by_excess(p.column_exponents, false);
}

}  // namespace

template <class T>
void set_exponents(Preparation& preparation, const CsrView<T>& a, const Transversal& transversal) {
    const std::vector<std::int64_t> rows = negated_and_rounded(transversal.row_duals);
    const std::vector<std::int64_t> columns = negated_and_rounded(transversal.column_duals);
    const std::int64_t shift = chosen_shift(rows, columns, max_exponent<T>);
    const bool rows_clamped = shift_and_clamp(rows, shift, max_exponent<T>, preparation.row_exponents);
    const bool columns_clamped = shift_and_clamp(columns, -shift, max_exponent<T>, preparation.column_exponents);
    if (rows_clamped || columns_clamped) bound_entries(preparation, a);
}

template void set_exponents(Preparation&, const CsrView<float>&, const Transversal&);
template void set_exponents(Preparation&, const CsrView<double>&, const Transversal&);

}  // namespace solver::preparation
