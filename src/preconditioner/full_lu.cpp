#include "preconditioner/full_lu.hpp"

#include "core/huge_pages.hpp"
#include "core/thread_pool.hpp"
#include "cpu/rank_update.hpp"
#include "elimination.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

namespace solver {
namespace {

/// A, row by row, while it becomes L and U.
class FullElimination {
public:
    FullElimination(CsrMatrix<double> a, const Device& device)
        : n_(a.rows),
          device_(device),
          elements_(zeros<double>(n_ * n_, device.threads())),
          order_(static_cast<std::size_t>(n_)) {
        std::iota(order_.begin(), order_.end(), 0);
        for_each_row([&](std::int64_t i) {
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) row(i)[a.column_indices[k]] = a.values[k];
        });
    }

    /// The pivots found.
    std::int64_t run() {
        if (device_.kind() == Device::Kind::cuda) return cuda::eliminate(device_.index(), elements_, order_);
        for (std::int64_t first = 0; first < n_; first += block_size) {
            const std::int64_t end = std::min(first + block_size, n_);
            const std::int64_t found = eliminate(first, end);
            if (found < end) return found;
            update_rest(first, end);
        }
        return n_;
    }

    IluFactors<double> factors() const {
        IluFactors<double> result;
        for (CsrMatrix<double>* const factor : {&result.lower, &result.upper}) {
            factor->rows = factor->columns = n_;
            factor->row_offsets.resize(static_cast<std::size_t>(n_) + 1);
        }
        for (std::int64_t i = 0; i < n_; ++i) {
            result.lower.row_offsets[i + 1] = result.lower.row_offsets[i] + i;
            result.upper.row_offsets[i + 1] = result.upper.row_offsets[i] + n_ - i;
        }
        for (CsrMatrix<double>* const factor : {&result.lower, &result.upper}) {
            resize_in_huge_pages(factor->column_indices, factor->row_offsets.back(), device_.threads());
            resize_in_huge_pages(factor->values, factor->row_offsets.back(), device_.threads());
        }
        for_each_row([&](std::int64_t i) {
            copy_elements(result.lower, i, 0, i);
            copy_elements(result.upper, i, i, n_);
        });
        return result;
    }

    const std::vector<std::int32_t>& order() const { return order_; }

private:
    static constexpr std::int64_t block_size = 48;
    static constexpr std::int64_t most_one_by_one = 6;  ///< columns; more are eliminated by halves
    static constexpr std::int64_t strip_columns = 64;   ///< that a thread updates at once

    double* row(std::int64_t i) { return elements_.data() + i * n_; }
    const double* row(std::int64_t i) const { return elements_.data() + i * n_; }

    template <class Body>
    void for_each_row(const Body& body) const {
        const int parts = static_cast<int>(std::min<std::int64_t>(device_.threads(), n_));
        cpu::parallel_for(parts, [&](int part) {
            for (std::int64_t i = cpu::share_begin(n_, part, parts); i < cpu::share_begin(n_, part + 1, parts); ++i) body(i);
        });
    }

    /// Columns first..end-1 of row i to the factor's row.
    void copy_elements(CsrMatrix<double>& factor, std::int64_t i, std::int64_t first, std::int64_t end) const {
        const std::int64_t begin = factor.row_offsets[i];
        std::copy(row(i) + first, row(i) + end, factor.values.begin() + begin);
        std::iota(factor.column_indices.begin() + begin, factor.column_indices.begin() + begin + (end - first),
                  static_cast<std::int32_t>(first));
    }

    /// Columns first..end-1 of all rows from the first on, the left half before the right one. Returns the first column without
    /// a pivot, or the end.
    std::int64_t eliminate(std::int64_t first, std::int64_t end) {
        if (end - first <= most_one_by_one) return eliminate_one_by_one(first, end);
        const std::int64_t middle = first + (end - first) / 2;
        const std::int64_t found = eliminate(first, middle);
        if (found < middle) return found;
        finish_rows(first, middle, middle, end);
        cpu::subtract_products(n_ - middle, end - middle, middle - first, row(middle) + first, row(first) + middle, n_,
                               row(middle) + middle, n_);
        return eliminate(middle, end);
    }

    std::int64_t eliminate_one_by_one(std::int64_t first, std::int64_t end) {
        for (std::int64_t k = first; k < end; ++k) {
            std::int64_t pivot = k;
            for (std::int64_t i = k + 1; i < n_; ++i)
                if (magnitude(row(i)[k]) > magnitude(row(pivot)[k])) pivot = i;
            if (row(pivot)[k] == 0) return k;
            if (pivot != k) std::swap_ranges(row(k), row(k) + n_, row(pivot));
            std::swap(order_[k], order_[pivot]);
            for (std::int64_t i = k + 1; i < n_; ++i) {
                const double factor = row(i)[k] = div_rn(row(i)[k], row(k)[k]);
                for (std::int64_t j = k + 1; j < end; ++j) row(i)[j] = add_rn(row(i)[j], -mul_rn(factor, row(k)[j]));
            }
        }
        return end;
    }

    /// What stands right of columns first..end-1 in their own rows, from one column until another.
    void finish_rows(std::int64_t first, std::int64_t end, std::int64_t column, std::int64_t until) {
        for (std::int64_t i = first + 1; i < end; ++i)
            cpu::subtract_products(1, until - column, i - first, row(i) + first, row(first) + column, n_, row(i) + column, n_);
    }

    /// The rows that are done, and C -= L U below them, for the columns from `end` on.
    void update_rest(std::int64_t first, std::int64_t end) {
        const std::int64_t strips = (n_ - end + strip_columns - 1) / strip_columns;
        const int parts = static_cast<int>(std::min<std::int64_t>(device_.threads(), strips));
        if (parts == 0) return;
        cpu::parallel_for(parts, [&](int part) {
            for (std::int64_t s = cpu::share_begin(strips, part, parts); s < cpu::share_begin(strips, part + 1, parts); ++s)
                update_strip(first, end, end + s * strip_columns);
        });
    }

    void update_strip(std::int64_t first, std::int64_t end, std::int64_t column) {
        std::array<double, block_size * strip_columns> u;
        const std::int64_t columns = std::min(strip_columns, n_ - column);
        finish_rows(first, end, column, column + columns);
        for (std::int64_t k = first; k < end; ++k)
            std::copy_n(row(k) + column, columns, u.begin() + (k - first) * strip_columns);
        cpu::subtract_products(n_ - end, columns, end - first, row(end) + first, u.data(), strip_columns, row(end) + column,
                               n_);
    }

    std::int64_t n_;
    const Device& device_;
    std::vector<double> elements_;
    std::vector<std::int32_t> order_;
};

}  // namespace

FullFactors factor_full(CsrMatrix<double> b, const Device& device) {
    const std::int64_t n = b.rows;
    FullElimination elimination(std::move(b), device);  // which needs no more of it
    FullFactors result;
    result.pivots = elimination.run();
    result.row_order = elimination.order();
    if (result.pivots == n) result.factors = elimination.factors();
    return result;
}

}  // namespace solver
