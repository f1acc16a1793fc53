#include "preconditioner/amg/dense_inverse.hpp"

#include "core/thread_pool.hpp"
#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace solver::amg {
namespace {

/// Turns A into its inverse. Elements lie in tiles of a few columns, row by row. A column needs the pivots and the factors of
/// the rows, but no other column: those of one tile are eliminated first, which gives them, and all other tiles then side by
/// side.
class Elimination {
public:
    Elimination(const CsrView<double>& a, int threads)
        : n_(a.rows),
          tiles_((n_ + width - 1) / width),
          threads_(threads),
          elements_(static_cast<std::size_t>(tiles_ * n_ * width)),
          factors_(static_cast<std::size_t>(n_ * width)),
          pivots_(static_cast<std::size_t>(n_)) {
        double largest = 0;
        for (std::int64_t i = 0; i < n_; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                const std::int64_t j = a.column_indices[k];
                row(j / width, i)[j % width] = a.values[k];
                largest = std::max(largest, magnitude(a.values[k]));
            }
        smallest_pivot_ = static_cast<double>(n_) * 0x1p-40 * largest;
    }

    /// The elements of the inverse, row by row.
    std::optional<std::vector<double>> try_invert() {
        for (std::int64_t tile = 0; tile < tiles_; ++tile) {
            if (!try_pivots_of(tile)) return std::nullopt;
            eliminate_beside(tile);
        }
        std::vector<double> inverse = with_columns_in_place();
        if (!std::all_of(inverse.begin(), inverse.end(), is_finite<double>)) return std::nullopt;
        return inverse;
    }

private:
    static constexpr std::int64_t width = 8;

    struct Pivot {
        std::int64_t row;  // which row was exchanged with the k-th
        double value;
    };

    double* row(std::int64_t tile, std::int64_t i) { return elements_.data() + (tile * n_ + i) * width; }
    double* factors(std::int64_t k) { return factors_.data() + k % width * n_; }
    std::int64_t end_of(std::int64_t tile) const { return std::min((tile + 1) * width, n_); }

    /// Eliminates the columns of this tile, for the pivots and factors.
    bool try_pivots_of(std::int64_t tile) {
        for (std::int64_t k = tile * width; k < end_of(tile); ++k) {
            const std::int64_t column = k % width;
            const std::int64_t best = pivot_row(tile, k);
            std::swap_ranges(row(tile, k), row(tile, k) + width, row(tile, best));
            for (std::int64_t earlier = tile * width; earlier < k; ++earlier)
                std::swap(factors(earlier)[k], factors(earlier)[best]);
            pivots_[k] = {best, row(tile, k)[column]};
            if (!(magnitude(pivots_[k].value) > smallest_pivot_)) return false;
            for (std::int64_t i = 0; i < n_; ++i) factors(k)[i] = std::exchange(row(tile, i)[column], i == k ? 1.0 : 0.0);
            eliminate(tile, k);
        }
        return true;
    }

    std::int64_t pivot_row(std::int64_t tile, std::int64_t k) {
        std::int64_t best = k;
        for (std::int64_t i = k + 1; i < n_; ++i)
            if (magnitude(row(tile, i)[k % width]) > magnitude(row(tile, best)[k % width])) best = i;
        return best;
    }

    /// The steps of this tile on all others.
    void eliminate_beside(std::int64_t tile) {
        constexpr std::int64_t tiles_a_thread = 4;
        const auto parts = static_cast<int>(std::clamp<std::int64_t>(tiles_ / tiles_a_thread, 1, threads_));
        cpu::parallel_for(parts, [&](int part) {
            const std::int64_t end = cpu::share_begin(tiles_, part + 1, parts);
            for (std::int64_t other = cpu::share_begin(tiles_, part, parts); other < end; ++other) {
                if (other == tile) continue;
                for (std::int64_t k = tile * width; k < end_of(tile); ++k)
                    std::swap_ranges(row(other, k), row(other, k) + width, row(other, pivots_[k].row));
                for (std::int64_t k = tile * width; k < end_of(tile); ++k) eliminate(other, k);
            }
        });
    }

    void eliminate(std::int64_t tile, std::int64_t k) {
        double pivot_row[width];
        for (std::int64_t j = 0; j < width; ++j) row(tile, k)[j] = pivot_row[j] = div_rn(row(tile, k)[j], pivots_[k].value);
        for (std::int64_t i = 0; i < n_; ++i) {
            const double factor = factors(k)[i];
            if (i == k || factor == 0) continue;
            double* const other = row(tile, i);
            for (std::int64_t j = 0; j < width; ++j) other[j] = add_rn(other[j], -mul_rn(factor, pivot_row[j]));
        }
    }

    std::vector<double> with_columns_in_place() {
        std::vector<std::int64_t> column_at(static_cast<std::size_t>(n_));
        std::iota(column_at.begin(), column_at.end(), std::int64_t{0});
        for (std::int64_t k = n_; k-- > 0;) std::swap(column_at[k], column_at[pivots_[k].row]);
        std::vector<double> result;
        result.reserve(static_cast<std::size_t>(n_ * n_));
        for (std::int64_t i = 0; i < n_; ++i)
            for (const std::int64_t j : column_at) result.push_back(row(j / width, i)[j % width]);
        return result;
    }

    std::int64_t n_;
    std::int64_t tiles_;
    int threads_;
    std::vector<double> elements_;
    std::vector<double> factors_;  // of every row, for the columns of a tile
    std::vector<Pivot> pivots_;
    double smallest_pivot_ = 0;
};

CsrMatrix<double> with_larger_diagonal(const CsrView<double>& a) {
    CsrMatrix<double> result = convert<double>(a);
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] == i) result.values[k] = mul_rn(a.values[k], 1 + 0x1p-16);
    return result;
}

void average_with_transpose(CsrMatrix<double>& a) {
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < i; ++j) {
            double& lower = a.values[i * a.rows + j];
            double& upper = a.values[j * a.rows + i];
            lower = upper = mul_rn(0.5, add_rn(lower, upper));
        }
}

}  // namespace

std::optional<CsrMatrix<double>> dense_inverse(const CsrView<double>& a, int threads) {
    std::optional<std::vector<double>> elements = Elimination(a, threads).try_invert();
    if (!elements) return std::nullopt;
    CsrMatrix<double> inverse{a.rows, a.rows, {}, {}, std::move(*elements)};
    for (std::int64_t i = 0; i <= a.rows; ++i) inverse.row_offsets.push_back(i * a.rows);
    for (std::int64_t k = 0; k < a.rows * a.rows; ++k) inverse.column_indices.push_back(static_cast<std::int32_t>(k % a.rows));
    return inverse;
}

std::optional<CsrMatrix<double>> regularized_inverse(const CsrView<double>& a, bool is_symmetric, int threads) {
    std::optional<CsrMatrix<double>> inverse = dense_inverse(a, threads);
    if (!inverse) inverse = dense_inverse(with_larger_diagonal(a), threads);
    if (inverse && is_symmetric) average_with_transpose(*inverse);
    return inverse;
}

}  // namespace solver::amg
