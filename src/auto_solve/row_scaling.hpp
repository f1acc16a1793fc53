#pragma once

/// Rows of a matrix, scaled to one size.

#include "core/row_facts.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace solver {

/// ||S (b - A x)|| by ||S b|| above which rows count as unsolved. Where small rows are solved it is some times the tolerance t
/// (24 t at most in 200 solves to 10^-10, 4e-4 in one more, which hid rows), where they are not it is about 1: 2^10 t, less
/// than 1, but more than t comes to in rows of one size, 2 t.
inline double unsolved_share(double tolerance) {
    return std::max(std::clamp(0x1p10 * tolerance, 0x1p-16, 0x1p-2), 4 * tolerance);
}

/// Whether an x that leaves so much of b, as a share of it, may leave more of S b than that.
inline bool may_leave_small_rows(const RowFacts& facts, double residual, double tolerance) {
    if (!(facts.smallest_row > 0)) return false;
    // ||S v|| is between ||v|| by the largest row and ||v|| by the smallest, but for a factor of two. A residual of 0 may be
    // one below all numbers.
    const double spread = facts.largest_row / facts.smallest_row;
    return 2 * spread * std::max(residual, smallest_subnormal<double>) > unsolved_share(tolerance);
}

template <class T>
std::vector<T> largest_of_rows(const CsrView<T>& a) {
    std::vector<T> largest;
    for (std::int64_t i = 0; i < a.rows; ++i) {
        T of_row = 0;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            of_row = std::max(of_row, magnitude(a.values[k]));
        largest.push_back(of_row);
    }
    return largest;
}

/// S, of powers of two that scale each row to a largest |a_ij| from 1 to 2: the two rows of a complex number (complex.hpp)
/// alike, which have the same numbers but for their signs.
template <class T>
class RowScaling {
public:
    /// Of rows, one at least, with these largest |a_ij|.
    explicit RowScaling(std::span<const T> largest) {
        for (const T size : largest) exponents_.push_back(size > 0 ? std::ilogb(size) : 0);
    }

    CsrMatrix<T> scaled(const CsrView<T>& a) const {
        std::vector<T> values(a.values.begin(), a.values.end());
        for (std::int64_t i = 0; i < a.rows; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
                values[k] = std::ldexp(values[k], -exponents_[i]);
        return {a.rows,
                a.columns,
                {a.row_offsets.begin(), a.row_offsets.end()},
                {a.column_indices.begin(), a.column_indices.end()},
                std::move(values)};
    }

    template <class Number>
    std::vector<Number> scaled(std::span<const T> v) const {
        std::vector<Number> result;
        for (std::size_t i = 0; i < v.size(); ++i) result.push_back(std::ldexp(static_cast<Number>(v[i]), -exponents_[i]));
        return result;
    }

    double norm(std::span<const T> v) const { return norm2(scaled<double>(v), Accuracy::exact); }

    /// ||b|| / (2^e ||S b||), e the largest exponent: ||r|| <= 2^e ||S r||, so that ||S r|| <= t ||S b|| with a t of so many
    /// times a tolerance meets that by ||r||, too.
    double share_of_tolerance(std::span<const T> b) const {
        const int largest = *std::ranges::max_element(exponents_);
        std::vector<double> in_units;
        for (const T value : b) in_units.push_back(std::ldexp(static_cast<double>(value), -largest));
        return norm2(in_units, Accuracy::exact) / norm(b);
    }

private:
    std::vector<int> exponents_;
};

/// ||S (b - A (x + x_low))|| by ||S b||.
template <class T>
double share_of_rows(const SpmvPlan<T>& a, const RowScaling<T>& rows, std::span<const T> b, std::span<const T> x,
                     std::span<const T> x_low = {}) {
    std::vector<T> r(b.size());
    a.residual(b, x, x_low, r, Accuracy::exact);
    return rows.norm(r) / rows.norm(b);
}

}  // namespace solver
