#include "preparation/fill_estimate.hpp"

#include "core/huge_pages.hpp"
#include "preparation/fill_order.hpp"
#include "solver/device.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace solver::preparation {
namespace {

constexpr std::int64_t rows_of_small_part = 4000;
constexpr std::int64_t rows_of_large_part = 8 * rows_of_small_part;

/// More rows than these are worth a look at the small part alone.
constexpr std::int64_t rows_of_parted = 4 * rows_of_small_part;

/// Entries of a part beyond which longer rows are cut: a few dense rows must not make the estimate as dear as the order itself.
constexpr std::size_t most_entries_a_row = 1000;

constexpr std::int32_t unseen = 0;

/// The first rows that a breadth-first search from the middle row meets, and where each row stands among them, counted from 1.
struct Part {
    std::vector<std::int32_t> rows;
    std::vector<std::int32_t> place;
};

Part search(PatternRows& a, std::int64_t wanted) {
    Part part{{}, zeros<std::int32_t>(a.rows(), Device::cpu().threads())};
    const auto visit = [&](std::int32_t row) {
        if (part.place[row] != unseen || std::ssize(part.rows) == wanted) return;
        part.rows.push_back(row);
        part.place[row] = static_cast<std::int32_t>(part.rows.size());
    };
    auto root = static_cast<std::int32_t>(a.rows() / 2);
    for (std::size_t next = 0; std::ssize(part.rows) < wanted; ++next) {
        while (next == part.rows.size()) {  // a new connected part
            visit(root);
            root = root + 1 == a.rows() ? 0 : root + 1;
        }
        for (const std::int32_t column : a.columns_of(part.rows[next])) visit(column);
    }
    return part;
}

/// AMD's count for the submatrix of the first `count` rows of the part and the same columns.
FillPrediction fill_of(PatternRows& a, const Part& part, std::int64_t count) {
    std::vector<std::int32_t> offsets{0}, columns;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::span<const std::int32_t> row = a.columns_of(part.rows[i]);
        const auto first = static_cast<std::ptrdiff_t>(columns.size());
        for (const std::int32_t j : row.first(std::min(row.size(), most_entries_a_row))) {
            const std::int32_t column = part.place[j];
            if (column != unseen && column <= count) columns.push_back(column - 1);
        }
        std::sort(columns.begin() + first, columns.end());
        columns.erase(std::unique(columns.begin() + first, columns.end()), columns.end());
        offsets.push_back(static_cast<std::int32_t>(columns.size()));
    }
    return approximate_minimum_degree(offsets, columns).fill;
}

/// Along the power law through two counts, of the small part and of the large one.
double extrapolated(double small, double large, double times_large) {
    constexpr double part_ratio = static_cast<double>(rows_of_large_part) / static_cast<double>(rows_of_small_part);
    const double power = std::max(1.0, std::log(std::max(large, 1.0) / std::max(small, 1.0)) / std::log(part_ratio));
    return large * std::pow(times_large, power);
}

template <class T>
class RowsOnHost final : public PatternRows {
public:
    explicit RowsOnHost(const CsrView<T>& a) : a_(a) {}

    std::int64_t rows() const override { return a_.rows; }
    std::int64_t row_length(std::int64_t row) override { return a_.row_length(row); }
    std::span<const std::int32_t> columns_of(std::int64_t row) override {
        return a_.column_indices.subspan(a_.row_offsets[row], a_.row_offsets[row + 1] - a_.row_offsets[row]);
    }

private:
    const CsrView<T>& a_;
};

}  // namespace

FillPrediction estimate_fill(PatternRows& a, const IsEnough& is_enough) {
    if (has_only_long_rows(a.rows(), [&](std::int64_t row) { return a.row_length(row); })) return natural_order(a.rows()).fill;
    const auto whole = [&] { return fill_of(a, search(a, a.rows()), a.rows()); };
    const bool is_large = a.rows() > 2 * rows_of_large_part;
    if (!is_large && (!is_enough || a.rows() <= rows_of_parted)) return whole();
    const Part part = search(a, is_large ? rows_of_large_part : rows_of_small_part);
    const FillPrediction small = fill_of(a, part, rows_of_small_part);
    const double copies = static_cast<double>(a.rows()) / static_cast<double>(rows_of_small_part);
    const FillPrediction least{small.factor_entries * copies, small.flops * copies};
    if (is_enough && is_enough(least)) return least;
    if (!is_large) return whole();
    const FillPrediction large = fill_of(a, part, rows_of_large_part);
    const double times = static_cast<double>(a.rows()) / static_cast<double>(rows_of_large_part);
    return {extrapolated(small.factor_entries, large.factor_entries, times), extrapolated(small.flops, large.flops, times)};
}

template <class T>
FillPrediction estimate_fill(const CsrView<T>& a, const IsEnough& is_enough) {
    RowsOnHost<T> rows(a);
    return estimate_fill(rows, is_enough);
}

template <class T>
std::optional<FillPrediction> least_fill(const CsrView<T>& a) {
    if (a.rows <= rows_of_parted) return std::nullopt;
    return estimate_fill(a, [](const FillPrediction&) { return true; });
}

template std::optional<FillPrediction> least_fill(const CsrView<float>&);
template std::optional<FillPrediction> least_fill(const CsrView<double>&);
template FillPrediction estimate_fill(const CsrView<float>&, const IsEnough&);
template FillPrediction estimate_fill(const CsrView<double>&, const IsEnough&);

}  // namespace solver::preparation
