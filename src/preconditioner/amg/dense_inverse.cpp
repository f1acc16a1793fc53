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

/// Turns A, stored by columns, into its inverse. A column needs the pivots and the factors of the rows, but no other column: a
/// few columns are eliminated first, which gives them, and all others then side by side.
class Elimination {
public:
    Elimination(const CsrView<double>& a, int threads)
        : n_(a.rows),
          threads_(threads),
          elements_(static_cast<std::size_t>(n_ * n_)),
          factors_(static_cast<std::size_t>(n_ * panel_width)),
          pivots_(static_cast<std::size_t>(n_)) {
        double largest = 0;
        for (std::int64_t i = 0; i < n_; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                column(a.column_indices[k])[i] = a.values[k];
                largest = std::max(largest, magnitude(a.values[k]));
            }
        smallest_pivot_ = static_cast<double>(n_) * 0x1p-40 * largest;
    }

    /// The elements of the inverse, row by row.
    std::optional<std::vector<double>> try_invert() {
        for (std::int64_t first = 0; first < n_; first += panel_width) {
            const std::int64_t end = std::min(first + panel_width, n_);
            for (std::int64_t k = first; k < end; ++k)
                if (!try_step(k, first, end)) return std::nullopt;
            eliminate_beside(first, end);
        }
        std::vector<double> inverse = by_rows();
        if (!std::all_of(inverse.begin(), inverse.end(), is_finite<double>)) return std::nullopt;
        return inverse;
    }

private:
    static constexpr std::int64_t panel_width = 8;

    struct Pivot {
        std::int64_t row;  // which row was exchanged with the k-th
        double value;
    };

    double* column(std::int64_t j) { return elements_.data() + j * n_; }
    double* factors(std::int64_t k) { return factors_.data() + k % panel_width * n_; }

    /// The k-th step on the columns from first to end. Factors of earlier steps move with their rows.
    bool try_step(std::int64_t k, std::int64_t first, std::int64_t end) {
        const std::int64_t best = pivot_row(k);
        pivots_[k] = {best, column(k)[best]};
        if (!(magnitude(pivots_[k].value) > smallest_pivot_)) return false;
        for (std::int64_t j = first; j < end; ++j) std::swap(column(j)[k], column(j)[best]);
        for (std::int64_t earlier = first; earlier < k; ++earlier) std::swap(factors(earlier)[k], factors(earlier)[best]);
        std::copy_n(column(k), n_, factors(k));
        std::fill_n(column(k), n_, 0.0);
        column(k)[k] = 1;
        for (std::int64_t j = first; j < end; ++j) eliminate(k, column(j));
        return true;
    }

    std::int64_t pivot_row(std::int64_t k) {
        std::int64_t best = k;
        for (std::int64_t i = k + 1; i < n_; ++i)
            if (magnitude(column(k)[i]) > magnitude(column(k)[best])) best = i;
        return best;
    }

    /// The steps from first to end on all other columns.
    void eliminate_beside(std::int64_t first, std::int64_t end) {
        constexpr std::int64_t columns_a_thread = 32;
        const auto parts = static_cast<int>(std::clamp<std::int64_t>(n_ / columns_a_thread, 1, threads_));
        cpu::parallel_for(parts, [&](int part) {
            for (std::int64_t j = cpu::share_begin(n_, part, parts); j < cpu::share_begin(n_, part + 1, parts); ++j) {
                if (first <= j && j < end) continue;
                for (std::int64_t k = first; k < end; ++k) std::swap(column(j)[k], column(j)[pivots_[k].row]);
                for (std::int64_t k = first; k < end; ++k) eliminate(k, column(j));
            }
        });
    }

    void eliminate(std::int64_t k, double* elements) {
        const double* const factor = factors(k);
        const double quotient = div_rn(elements[k], pivots_[k].value);
        for (std::int64_t i = 0; i < n_; ++i) elements[i] = add_rn(elements[i], -mul_rn(factor[i], quotient));
        elements[k] = quotient;
    }

    std::vector<double> by_rows() {
        std::vector<std::int64_t> column_at(static_cast<std::size_t>(n_));
        std::iota(column_at.begin(), column_at.end(), std::int64_t{0});
        for (std::int64_t k = n_; k-- > 0;) std::swap(column_at[k], column_at[pivots_[k].row]);
        std::vector<double> result;
        result.reserve(static_cast<std::size_t>(n_ * n_));
        for (std::int64_t i = 0; i < n_; ++i)
            for (const std::int64_t j : column_at) result.push_back(column(j)[i]);
        return result;
    }

    std::int64_t n_;
    int threads_;
    std::vector<double> elements_;
    std::vector<double> factors_;  // of every row, for the steps of a panel
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
