#include "preconditioner/full_lu.hpp"

#include "core/thread_pool.hpp"
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
    FullElimination(CsrMatrix<double> a, int threads)
        : n_(a.rows), threads_(threads), elements_(static_cast<std::size_t>(n_ * n_)), order_(static_cast<std::size_t>(n_)) {
        std::iota(order_.begin(), order_.end(), 0);
        for (std::int64_t i = 0; i < n_; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) row(i)[a.column_indices[k]] = a.values[k];
    }

    /// The pivots found.
    std::int64_t run() {
        for (std::int64_t first = 0; first < n_; first += block_size) {
            const std::int64_t end = std::min(first + block_size, n_);
            const std::int64_t found = eliminate_in_block(first, end);
            if (found < end) return found;
            finish_rows(first, end);
            update_rest(first, end);
        }
        return n_;
    }

    IluFactors<double> factors() const {
        IluFactors<double> result;
        make_room(result.lower, n_ * (n_ - 1) / 2);
        make_room(result.upper, n_ * (n_ + 1) / 2);
        for (std::int64_t i = 0; i < n_; ++i) {
            append(result.lower, i, 0, i);
            append(result.upper, i, i, n_);
        }
        return result;
    }

    const std::vector<std::int32_t>& order() const { return order_; }

private:
    static constexpr std::int64_t block_size = 48;

    // Of the update: elements of C in registers, and the columns that a thread takes at once.
    static constexpr std::int64_t tile_rows = 4;
    static constexpr std::int64_t tile_columns = 4;
    static constexpr std::int64_t strip_columns = 64;

    double* row(std::int64_t i) { return elements_.data() + i * n_; }
    const double* row(std::int64_t i) const { return elements_.data() + i * n_; }

    void make_room(CsrMatrix<double>& factor, std::int64_t entries) const {
        factor.rows = factor.columns = n_;
        factor.row_offsets.reserve(static_cast<std::size_t>(n_) + 1);
        factor.column_indices.reserve(static_cast<std::size_t>(entries));
        factor.values.reserve(static_cast<std::size_t>(entries));
    }

    void append(CsrMatrix<double>& factor, std::int64_t i, std::int64_t first, std::int64_t end) const {
        for (std::int64_t j = first; j < end; ++j) factor.column_indices.push_back(static_cast<std::int32_t>(j));
        factor.values.insert(factor.values.end(), row(i) + first, row(i) + end);
        factor.row_offsets.push_back(factor.nonzeros());
    }

    static void subtract_multiple(double factor, const double* from, double* to, std::int64_t first, std::int64_t end) {
        for (std::int64_t j = first; j < end; ++j) to[j] = add_rn(to[j], -mul_rn(factor, from[j]));
    }

    /// Columns first..end-1 of all rows from the first on. Returns the first column without a pivot, or the end.
    std::int64_t eliminate_in_block(std::int64_t first, std::int64_t end) {
        for (std::int64_t k = first; k < end; ++k) {
            std::int64_t pivot = k;
            for (std::int64_t i = k + 1; i < n_; ++i)
                if (magnitude(row(i)[k]) > magnitude(row(pivot)[k])) pivot = i;
            if (row(pivot)[k] == 0) return k;
            if (pivot != k) std::swap_ranges(row(k), row(k) + n_, row(pivot));
            std::swap(order_[k], order_[pivot]);
            for (std::int64_t i = k + 1; i < n_; ++i) {
                row(i)[k] = div_rn(row(i)[k], row(k)[k]);
                subtract_multiple(row(i)[k], row(k), row(i), k + 1, end);
            }
        }
        return end;
    }

    /// What stands right of a block in its own rows.
    void finish_rows(std::int64_t first, std::int64_t end) {
        for (std::int64_t i = first + 1; i < end; ++i)
            for (std::int64_t k = first; k < i; ++k) subtract_multiple(row(i)[k], row(k), row(i), end, n_);
    }

    /// C -= L U for the rows and columns from `end` on.
    void update_rest(std::int64_t first, std::int64_t end) {
        const std::int64_t strips = (n_ - end + strip_columns - 1) / strip_columns;
        const int parts = static_cast<int>(std::min<std::int64_t>(threads_, strips));
        if (parts == 0) return;
        cpu::parallel_for(parts, [&](int part) {
            for (std::int64_t s = cpu::share_begin(strips, part, parts); s < cpu::share_begin(strips, part + 1, parts); ++s)
                update_strip(first, end, end + s * strip_columns);
        });
    }

    void update_strip(std::int64_t first, std::int64_t end, std::int64_t column) {
        std::array<double, block_size * strip_columns> u;
        const std::int64_t columns = std::min(strip_columns, n_ - column);
        for (std::int64_t k = first; k < end; ++k)
            std::copy_n(row(k) + column, columns, u.begin() + (k - first) * strip_columns);
        for (std::int64_t i = end; i < n_; i += tile_rows)
            for (std::int64_t j = 0; j < columns; j += tile_columns) {
                if (i + tile_rows <= n_ && j + tile_columns <= columns)
                    update_tile(i, first, end - first, u.data() + j, column + j);
                else
                    update_edge(i, first, end - first, u.data() + j, column + j, std::min(tile_columns, columns - j));
            }
    }

    void update_tile(std::int64_t i, std::int64_t first, std::int64_t depth, const double* u, std::int64_t column) {
        std::array<std::array<double, tile_columns>, tile_rows> c;
        for (std::int64_t r = 0; r < tile_rows; ++r) std::copy_n(row(i + r) + column, tile_columns, c[r].begin());
        for (std::int64_t k = 0; k < depth; ++k, u += strip_columns)
            for (std::int64_t r = 0; r < tile_rows; ++r) {
                const double l = row(i + r)[first + k];
                for (std::int64_t j = 0; j < tile_columns; ++j) c[r][j] = add_rn(c[r][j], -mul_rn(l, u[j]));
            }
        for (std::int64_t r = 0; r < tile_rows; ++r) std::copy_n(c[r].begin(), tile_columns, row(i + r) + column);
    }

    /// A tile that is not whole.
    void update_edge(std::int64_t i, std::int64_t first, std::int64_t depth, const double* u, std::int64_t column,
                     std::int64_t columns) {
        for (std::int64_t r = i; r < std::min(i + tile_rows, n_); ++r)
            for (std::int64_t k = 0; k < depth; ++k)
                subtract_multiple(row(r)[first + k], u + k * strip_columns, row(r) + column, 0, columns);
    }

    std::int64_t n_;
    int threads_;
    std::vector<double> elements_;
    std::vector<std::int32_t> order_;
};

}  // namespace

FullFactors factor_full(CsrMatrix<double> b, int threads) {
    const std::int64_t n = b.rows;
    FullElimination elimination(std::move(b), threads);  // which needs no more of it
    FullFactors result;
    result.pivots = elimination.run();
    result.row_order = elimination.order();
    if (result.pivots == n) result.factors = elimination.factors();
    return result;
}

}  // namespace solver
