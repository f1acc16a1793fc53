#include "guarantee/structural_zeros.hpp"

#include "core/huge_pages.hpp"
#include "guarantee/norms.hpp"
#include "preparation/full_diagonal.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/preparation.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace solver::guarantee {
namespace {

/// The column that each row is matched with. None where the matrix is structurally singular.
template <class T>
std::optional<std::vector<std::int32_t>> transversal_of(const CsrView<T>& a) {
    const Transversal transversal = maximum_product_transversal(a);
    if (transversal.structural_rank < a.rows) return std::nullopt;
    std::vector<std::int32_t> column_of_row(static_cast<std::size_t>(a.rows));
    for (std::int64_t j = 0; j < a.columns; ++j) column_of_row[transversal.row_of_column[j]] = static_cast<std::int32_t>(j);
    return column_of_row;
}

/// Marks the columns to which a path leads from a nonzero of b: a row that has one of b, or an entry in a marked column, marks
/// the column that it is matched with.
template <class T>
class Paths {
public:
    /// `column_of_row` is empty where every row is matched with the column of its own number.
    Paths(const CsrView<T>& a, std::span<const T> b, std::vector<std::int32_t> column_of_row)
        : a_(a),
          b_(b),
          column_of_row_(std::move(column_of_row)),
          is_marked_(zeros<std::uint8_t>(a.rows, Device::cpu().threads())) {}

    /// Sweeps over the rows, upwards and downwards, reach nearly everything where rows have neighbours beside them, as on
    /// grids; what they leave is searched for column by column.
    void find() {
        constexpr int most_sweeps = 4;
        for (int sweep = 0; sweep < most_sweeps; ++sweep) {
            const Sweep seen = sweep_rows(sweep % 2 == 0);
            if (seen.marked == 0 || seen.unmarked == 0) return;
        }
        search();
    }

    /// 1 where no path leads; empty where one leads everywhere.
    std::vector<std::uint8_t> unmarked() && {
        if (largest(a_.rows, [&](std::int64_t i) { return is_marked_[i] == 0 ? 1.0 : 0.0; }) == 0) return {};
        cpu::update(std::span(is_marked_), Device::cpu(),
                    [](std::uint8_t marked, std::int64_t) { return static_cast<std::uint8_t>(1 - marked); });
        return std::move(is_marked_);
    }

private:
    struct Sweep {
        std::int64_t marked = 0;    ///< columns, by it
        std::int64_t unmarked = 0;  ///< after it
    };

    std::int32_t column_of(std::int64_t row) const {
        return column_of_row_.empty() ? static_cast<std::int32_t>(row) : column_of_row_[row];
    }

    bool is_marked(std::int32_t column) {
        return std::atomic_ref<std::uint8_t>(is_marked_[column]).load(std::memory_order_relaxed) != 0;
    }

    bool leads_on(std::int64_t row) {
        bool found = b_[row] != 0;
        for (std::int64_t k = a_.row_offsets[row]; k < a_.row_offsets[row + 1] && !found; ++k)
            found = is_marked(a_.column_indices[k]) && a_.values[k] != 0;
        return found;
    }

    /// What threads see of one another's marks depends on chance, what is marked in the end does not.
    Sweep sweep_rows(bool upwards) {
        std::atomic<std::int64_t> marked{0}, unmarked{0};
        cpu::for_each_range(a_.rows, Device::cpu(), [&](std::int64_t begin, std::int64_t end) {
            Sweep mine;
            for (std::int64_t k = begin; k < end; ++k) {
                const std::int64_t row = upwards ? k : end - 1 - (k - begin);
                const std::int32_t column = column_of(row);
                if (is_marked(column)) continue;
                const bool is_reached = leads_on(row);
                if (is_reached) std::atomic_ref<std::uint8_t>(is_marked_[column]).store(1, std::memory_order_relaxed);
                ++(is_reached ? mine.marked : mine.unmarked);
            }
            marked += mine.marked;
            unmarked += mine.unmarked;
        });
        return {marked, unmarked};
    }

    /// From all marked columns on.
    void search() {
        const CsrMatrix<T> by_columns = transpose(a_, Device::cpu());
        std::vector<std::int32_t> to_visit;
        for (std::int64_t j = 0; j < a_.columns; ++j)
            if (is_marked_[j] != 0) to_visit.push_back(static_cast<std::int32_t>(j));
        while (!to_visit.empty()) {
            const std::int32_t from = to_visit.back();
            to_visit.pop_back();
            for (std::int64_t k = by_columns.row_offsets[from]; k < by_columns.row_offsets[from + 1]; ++k) {
                const std::int32_t column = column_of(by_columns.column_indices[k]);
                if (by_columns.values[k] == 0 || is_marked_[column] != 0) continue;
                is_marked_[column] = 1;
                to_visit.push_back(column);
            }
        }
    }

    const CsrView<T>& a_;
    std::span<const T> b_;
    std::vector<std::int32_t> column_of_row_;
    std::vector<std::uint8_t> is_marked_;
};

}  // namespace

template <class T>
std::vector<std::uint8_t> structural_zeros(const SpmvPlan<T>& a, std::span<const T> b) {
    if (largest(std::ssize(b), [&](std::int64_t i) { return b[i] == 0 ? 1.0 : 0.0; }) == 0) return {};
    const CsrView<T>& matrix = a.matrix();
    std::optional<std::vector<std::int32_t>> column_of_row;
    if (preparation::has_full_diagonal(a))
        column_of_row.emplace();
    else
        column_of_row = transversal_of(matrix);
    if (!column_of_row) return {};
    Paths<T> paths(matrix, b, std::move(*column_of_row));
    paths.find();
    return std::move(paths).unmarked();
}

template std::vector<std::uint8_t> structural_zeros(const SpmvPlan<float>&, std::span<const float>);
template std::vector<std::uint8_t> structural_zeros(const SpmvPlan<double>&, std::span<const double>);

}  // namespace solver::guarantee
