#include "preconditioner/amg/dense_inverse.hpp"

#include "solver/numeric/rounding.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace solver::amg {
namespace {

/// Turns A, row by row, into its inverse.
class Elimination {
public:
    explicit Elimination(const CsrView<double>& a)
        : n_(a.rows), elements_(static_cast<std::size_t>(n_ * n_)), row_of_(static_cast<std::size_t>(n_)) {
        double largest = 0;
        for (std::int64_t i = 0; i < n_; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                row(i)[a.column_indices[k]] = a.values[k];
                largest = std::max(largest, magnitude(a.values[k]));
            }
        smallest_pivot_ = static_cast<double>(n_) * 0x1p-40 * largest;
    }

    bool try_invert() {
        for (std::int64_t k = 0; k < n_; ++k) {
            row_of_[k] = pivot_row(k);
            std::swap_ranges(row(k), row(k) + n_, row(row_of_[k]));
            if (!(magnitude(row(k)[k]) > smallest_pivot_)) return false;
            eliminate(k);
        }
        for (std::int64_t k = n_; k-- > 0;)
            for (std::int64_t i = 0; i < n_; ++i) std::swap(row(i)[k], row(i)[row_of_[k]]);
        return std::all_of(elements_.begin(), elements_.end(), [](double x) { return is_finite(x); });
    }

    std::vector<double>& elements() { return elements_; }

private:
    double* row(std::int64_t i) { return elements_.data() + i * n_; }

    std::int64_t pivot_row(std::int64_t k) {
        std::int64_t best = k;
        for (std::int64_t i = k + 1; i < n_; ++i)
            if (magnitude(row(i)[k]) > magnitude(row(best)[k])) best = i;
        return best;
    }

    void eliminate(std::int64_t k) {
        double* pivot_row = row(k);
        const double pivot = std::exchange(pivot_row[k], 1.0);
        for (std::int64_t j = 0; j < n_; ++j) pivot_row[j] = div_rn(pivot_row[j], pivot);
        for (std::int64_t i = 0; i < n_; ++i) {
            double* other = row(i);
            if (i == k || other[k] == 0) continue;
            const double factor = std::exchange(other[k], 0.0);
            for (std::int64_t j = 0; j < n_; ++j) other[j] = add_rn(other[j], -mul_rn(factor, pivot_row[j]));
        }
    }

    std::int64_t n_;
    std::vector<double> elements_;
    std::vector<std::int64_t> row_of_;  // which row was exchanged with the k-th
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

std::optional<CsrMatrix<double>> dense_inverse(const CsrView<double>& a) {
    Elimination elimination(a);
    if (!elimination.try_invert()) return std::nullopt;
    CsrMatrix<double> inverse{a.rows, a.rows, {}, {}, std::move(elimination.elements())};
    for (std::int64_t i = 0; i <= a.rows; ++i) inverse.row_offsets.push_back(i * a.rows);
    for (std::int64_t k = 0; k < a.rows * a.rows; ++k) inverse.column_indices.push_back(static_cast<std::int32_t>(k % a.rows));
    return inverse;
}

std::optional<CsrMatrix<double>> regularized_inverse(const CsrView<double>& a, bool is_symmetric) {
    std::optional<CsrMatrix<double>> inverse = dense_inverse(a);
    if (!inverse) inverse = dense_inverse(with_larger_diagonal(a));
    if (inverse && is_symmetric) average_with_transpose(*inverse);
    return inverse;
}

}  // namespace solver::amg
