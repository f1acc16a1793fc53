#include "preconditioner/isai.hpp"

#include "core/thread_pool.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <span>

namespace solver {
namespace {

/// Solves the small systems of rows of a triangular factor. One a thread.
template <class T>
class RowInversion {
public:
    RowInversion(const CsrView<T>& factor, Triangle triangle)
        : factor_(factor), is_lower_(triangle == Triangle::lower), place_(static_cast<std::size_t>(factor.rows), absent) {}

    /// Fills in the row of the inverse whose pattern is `columns`; false where an element is not finite.
    bool invert(std::span<const std::int32_t> columns, std::span<T> values) {
        const std::int64_t size = std::ssize(columns);
        for (std::int64_t e = 0; e < size; ++e) place_[columns[e]] = static_cast<std::int32_t>(e);
        std::fill(values.begin(), values.end(), T(0));
        values[is_lower_ ? size - 1 : 0] = 1;
        bool finite = true;
        for (std::int64_t step = 0; step < size; ++step) {
            const std::int64_t e = is_lower_ ? size - 1 - step : step;
            finish_element(columns, values, e);
            finite = finite && is_finite(values[e]);
        }
        for (const std::int32_t column : columns) place_[column] = absent;
        return finite;
    }

private:
    static constexpr std::int32_t absent = -1;
    static constexpr std::size_t search_cost = 8;  // steps of a walk that cost as much as a search

    /// Element e has all its products: divide it by the pivot and subtract its multiple of a row of the factor from the
    /// elements to come; the shorter of the two is walked.
    void finish_element(std::span<const std::int32_t> columns, std::span<T> values, std::int64_t e) {
        const std::int32_t k = columns[e];
        std::int64_t begin = factor_.row_offsets[k];
        const std::int64_t end = factor_.row_offsets[k + 1];
        if (!is_lower_) values[e] = div_rn(values[e], factor_.values[begin++]);
        const std::span<const std::int32_t> row = factor_.column_indices.subspan(begin, end - begin);
        const std::span<const T> row_values = factor_.values.subspan(begin, end - begin);
        const auto to_come = is_lower_ ? columns.first(e) : columns.subspan(e + 1);
        const auto to_come_values = is_lower_ ? values.first(e) : values.subspan(e + 1);
        if (row.size() <= search_cost * to_come.size())
            walk_row(row, row_values, values[e], values);
        else
            search_row(row, row_values, values[e], to_come, to_come_values);
    }

    void walk_row(std::span<const std::int32_t> row, std::span<const T> row_values, T multiplier, std::span<T> values) const {
        for (std::size_t j = 0; j < row.size(); ++j)
            if (const std::int32_t place = place_[row[j]]; place != absent) subtract(multiplier, row_values[j], values[place]);
    }

    static void search_row(std::span<const std::int32_t> row, std::span<const T> row_values, T multiplier,
                           std::span<const std::int32_t> to_come, std::span<T> to_come_values) {
        auto from = row.begin();
        for (std::size_t f = 0; f < to_come.size(); ++f) {
            from = std::lower_bound(from, row.end(), to_come[f]);
            if (from == row.end()) return;
            if (*from == to_come[f]) subtract(multiplier, row_values[from - row.begin()], to_come_values[f]);
        }
    }

    static void subtract(T multiplier, T factor, T& element) { element = add_rn(element, -mul_rn(multiplier, factor)); }

    CsrView<T> factor_;
    bool is_lower_;
    std::vector<std::int32_t> place_;  // of each column in the current row
};

/// Fills in the values of `inverse`, whose pattern is given, row by row; threads take blocks of rows as they come.
template <class T>
void invert_rows(const CsrView<T>& factor, Triangle triangle, CsrMatrix<T>& inverse, int threads) {
    constexpr std::int64_t block = 256;
    constexpr std::int64_t worth_a_thread = 8192;  // entries
    const auto parts = static_cast<int>(std::clamp<std::int64_t>(inverse.nonzeros() / worth_a_thread, 1, threads));
    std::atomic<std::int64_t> next{0};
    std::atomic<std::int64_t> first_failure{inverse.rows};
    cpu::parallel_for(parts, [&](int) {
        RowInversion<T> inversion(factor, triangle);
        for (std::int64_t first = next.fetch_add(block); first < inverse.rows; first = next.fetch_add(block))
            for (std::int64_t i = first; i < std::min(first + block, inverse.rows); ++i) {
                const std::int64_t begin = inverse.row_offsets[i];
                const auto size = static_cast<std::size_t>(inverse.row_offsets[i + 1] - begin);
                if (inversion.invert({inverse.column_indices.data() + begin, size}, {inverse.values.data() + begin, size}))
                    continue;
                std::int64_t lowest = first_failure.load();
                while (i < lowest && !first_failure.compare_exchange_weak(lowest, i)) {
                }
            }
    });
    if (first_failure < inverse.rows)
        throw InvalidArgument(
            fmt::format("preconditioner isai: row {} (counted from 1) of the inverse of {} has an entry that is not "
                        "finite: the pivots of ILU(0) are too small; use ilut, klu or jacobi",
                        first_failure + 1, triangle == Triangle::lower ? "L" : "U"));
}

/// The pattern of `lower` and a diagonal; no values yet.
template <class T>
CsrMatrix<T> with_diagonal(const CsrView<T>& lower) {
    CsrMatrix<T> full{lower.rows, lower.columns, {}, {}, {}};
    full.row_offsets.reserve(static_cast<std::size_t>(lower.rows) + 1);
    full.column_indices.reserve(static_cast<std::size_t>(lower.nonzeros() + lower.rows));
    full.row_offsets.push_back(0);
    for (std::int64_t i = 0; i < lower.rows; ++i) {
        const auto row = lower.column_indices.subspan(lower.row_offsets[i], lower.row_length(i));
        full.column_indices.insert(full.column_indices.end(), row.begin(), row.end());
        full.column_indices.push_back(static_cast<std::int32_t>(i));
        full.row_offsets.push_back(std::ssize(full.column_indices));
    }
    full.values.resize(full.column_indices.size());
    return full;
}

}  // namespace

template <class T>
CsrMatrix<T> invert_unit_lower(const CsrView<T>& lower, int threads) {
    CsrMatrix<T> inverse = with_diagonal(lower);
    invert_rows(lower, Triangle::lower, inverse, threads);
    return inverse;
}

template <class T>
CsrMatrix<T> invert_upper(const CsrView<T>& upper, int threads) {
    CsrMatrix<T> inverse{upper.rows, upper.columns, {}, {}, {}};
    inverse.row_offsets.assign(upper.row_offsets.begin(), upper.row_offsets.end());
    inverse.column_indices.assign(upper.column_indices.begin(), upper.column_indices.end());
    inverse.values.resize(inverse.column_indices.size());
    invert_rows(upper, Triangle::upper, inverse, threads);
    return inverse;
}

template CsrMatrix<float> invert_unit_lower(const CsrView<float>&, int);
template CsrMatrix<double> invert_unit_lower(const CsrView<double>&, int);
template CsrMatrix<float> invert_upper(const CsrView<float>&, int);
template CsrMatrix<double> invert_upper(const CsrView<double>&, int);

}  // namespace solver
