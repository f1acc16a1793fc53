#pragma once

/// What the entries of rows tell of a matrix, found the same way on every device.

#include "solver/numeric/rounding.hpp"

#include <cstdint>

namespace solver {

/// Kinds of matrices that are their own transposes: real ones, to the bit or but for rounding, and real forms (complex.hpp) of
/// complex ones.
enum class OwnTranspose { of_reals, of_rounded_reals, of_complex_numbers };

/// sqrt(|a_ii a_jj|), by which an a_ij of a semidefinite matrix is bounded.
template <class T>
SOLVER_HD T diagonal_size(T a_ii, T a_jj) noexcept {
    return mul_rn(sqrt_rn(magnitude(a_ii)), sqrt_rn(magnitude(a_jj)));
}

/// Whether a_ij and a_ji are as this kind has them. A real form K of a complex A with A^T = A: those rows of K negated that
/// make imaginary parts, it is symmetric. Rounding may set them apart by 2^7 unit roundoffs of the larger one or, where that is
/// more, of diagonal_size, which size() tells: what cancels in a sum of semidefinite matrices was no larger.
template <class T, class Size>
SOLVER_HD bool is_mirrored(OwnTranspose kind, std::int64_t i, std::int64_t j, T value, T mirrored, const Size& size) {
    constexpr T some_roundings = 128 * unit_roundoff<T>;
    if (kind == OwnTranspose::of_complex_numbers && (i + j) % 2 != 0) return mirrored == -value;
    if (mirrored == value) return true;
    if (kind != OwnTranspose::of_rounded_reals) return false;
    const T difference = magnitude(add_rn(value, -mirrored));
    const T larger = magnitude(value) > magnitude(mirrored) ? magnitude(value) : magnitude(mirrored);
    return is_finite(difference) &&
           (difference <= mul_rn(some_roundings, larger) || difference <= mul_rn(some_roundings, size()));
}

/// Of any rows, an empty set at first; merged in any order.
struct RowFacts {
    std::int64_t nonzeros = 0;       ///< entries other than zero
    std::int64_t balanced_rows = 0;  ///< those with sum_{j != i} |a_ij| <= 4 |a_ii|
    std::int64_t zero_sums = 0;      ///< rows with |sum_j a_ij| <= 2^-10 |a_ii|
    std::int64_t positive_sums = 0;  ///< rows with sum_j a_ij above 2^-10 |a_ii|
    std::int64_t negative_sums = 0;  ///< rows with sum_j a_ij below -2^-10 |a_ii|
    bool is_finite = true;           ///< no Inf or NaN
    std::int64_t empty_rows = 0;     ///< with no entry but zeros: the next two do not look at them
    bool zeros_on_diagonal = false;  ///< or missing entries
    bool positive_diagonal = true;   ///< every diagonal entry above zero
    double smallest_row = 0;  ///< the largest |a_ij| of a row, of the row that has the smallest but zero; 0 where none has
    double largest_row = 0;   ///< ... of the row that has the largest

    void merge(const RowFacts& other) {
        nonzeros += other.nonzeros;
        balanced_rows += other.balanced_rows;
        zero_sums += other.zero_sums;
        positive_sums += other.positive_sums;
        negative_sums += other.negative_sums;
        is_finite = is_finite && other.is_finite;
        empty_rows += other.empty_rows;
        zeros_on_diagonal = zeros_on_diagonal || other.zeros_on_diagonal;
        positive_diagonal = positive_diagonal && other.positive_diagonal;
        see_row(other.smallest_row);
        see_row(other.largest_row);
    }

    /// With this largest |a_ij|.
    SOLVER_HD void see_row(double size) {
        if (size > 0 && (smallest_row == 0 || size < smallest_row)) smallest_row = size;
        if (size > largest_row) largest_row = size;
    }
};

/// The facts of some rows, seen entry by entry.
template <class T>
class RowWatch {
public:
    SOLVER_HD void begin_row() {
        diagonal_ = 0;
        rest_ = 0;
        sum_ = 0;
        largest_ = 0;
    }
    SOLVER_HD void see(bool on_diagonal, T value) {
        facts_.is_finite = facts_.is_finite && solver::is_finite(value);
        facts_.nonzeros += value != T(0) ? 1 : 0;
        sum_ = add_rn(sum_, static_cast<double>(value));
        if (magnitude(value) > largest_) largest_ = magnitude(value);
        if (on_diagonal)
            diagonal_ = add_rn(diagonal_, value);
        else
            rest_ = add_rn(rest_, static_cast<double>(magnitude(value)));
    }
    SOLVER_HD void end_row() {
        constexpr double balance = 4, small = 0x1p-10;
        const double size = magnitude(diagonal_);
        const bool is_empty = diagonal_ == T(0) && rest_ == 0;
        facts_.empty_rows += is_empty ? 1 : 0;
        facts_.zeros_on_diagonal = facts_.zeros_on_diagonal || (diagonal_ == T(0) && !is_empty);
        facts_.positive_diagonal = facts_.positive_diagonal && (diagonal_ > T(0) || is_empty);
        facts_.balanced_rows += rest_ <= mul_rn(balance, size) ? 1 : 0;
        const double least = mul_rn(small, size);
        facts_.zero_sums += magnitude(sum_) <= least ? 1 : 0;
        facts_.positive_sums += sum_ > least ? 1 : 0;
        facts_.negative_sums += sum_ < -least ? 1 : 0;
        facts_.see_row(static_cast<double>(largest_));
    }

    SOLVER_HD const RowFacts& facts() const { return facts_; }

private:
    RowFacts facts_;
    T diagonal_ = 0;
    double rest_ = 0;
    double sum_ = 0;
    T largest_ = 0;
};

}  // namespace solver
