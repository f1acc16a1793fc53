#pragma once

/// Systems of a few unknowns, with all that is to be known of them by rational numbers.

#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/numeric/complex.hpp"
#include "support/exact_systems.hpp"
#include "support/rational_system.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace solver::testing {

template <class T>
bool all_are_finite(std::span<const T> values) {
    return std::all_of(values.begin(), values.end(), [](T value) { return std::isfinite(value); });
}

/// These numbers times their least common denominator.
inline std::vector<Integer> made_whole(std::span<const Rational> numbers) {
    Integer common;
    mpz_set_si(common.get(), 1);
    for (const Rational& x : numbers) mpz_lcm(common.get(), common.get(), mpq_denref(x.get()));
    std::vector<Integer> whole(numbers.size());
    for (std::size_t j = 0; j < numbers.size(); ++j) {
        mpz_divexact(whole[j].get(), common.get(), mpq_denref(numbers[j].get()));
        mpz_mul(whole[j].get(), whole[j].get(), mpq_numref(numbers[j].get()));
    }
    return whole;
}

/// x + x_low; x_low may be empty.
template <class T>
std::vector<Rational> exact_sum(std::span<const T> x, std::span<const T> x_low) {
    std::vector<Rational> sum;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sum.emplace_back(static_cast<double>(x[i]));
        if (!x_low.empty()) sum.back() += Rational(static_cast<double>(x_low[i]));
    }
    return sum;
}

/// A X = B for a square A, of which entries that are stored twice add up. Complex numbers are two real ones, as in real_form;
/// `order` counts real unknowns.
template <class S>
class KnownSystem {
public:
    using T = RealOf<S>;

    KnownSystem(const CsrMatrix<S>& a, const DenseMatrix<S>& b)
        : order_(components<S> * static_cast<std::size_t>(a.rows)), columns_(static_cast<std::size_t>(b.columns)) {
        const auto values = real_view(std::span<const S>(a.values));
        const auto parts = real_view(std::span<const S>(b.values));
        is_finite_ = all_are_finite<T>(values);
        for (std::size_t c = 0; c < columns_; ++c) has_numbers_.push_back(all_are_finite(parts.subspan(c * order_, order_)));
        if (!is_finite_) return;
        a_.resize(order_ * order_);
        magnitudes_.resize(order_ * order_);
        for (std::int64_t i = 0; i < a.rows; ++i)
            for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) add(i, a.column_indices[k], a.values[k]);
        for (const T part : parts) b_.emplace_back(std::isfinite(part) ? static_cast<double>(part) : 0);
        solve();
    }

    /// Whether A is; if not, nothing else is known.
    bool is_finite() const { return is_finite_; }
    /// Whether A and this right-hand side are.
    bool is_finite(std::size_t column) const { return is_finite_ && has_numbers_[column]; }
    bool is_singular() const { return order_ > 0 && solution_.empty(); }
    std::size_t order() const { return order_; }

    /// The unknowns of one right-hand side; where A is not singular.
    std::span<const ExactNumber> solution(std::size_t column) const {
        return std::span(solution_).subspan(column * order_, order_);
    }

    const Rational& a(std::size_t i, std::size_t j) const { return a_[i * order_ + j]; }
    /// The sum of the magnitudes of the entries of which a(i, j) is the sum.
    const Rational& stored_magnitude(std::size_t i, std::size_t j) const { return magnitudes_[i * order_ + j]; }
    const Rational& b(std::size_t i, std::size_t column) const { return b_[column * order_ + i]; }

    /// b - A x
    std::vector<Rational> residual(std::span<const Rational> x, std::size_t column) const {
        std::vector<Rational> r;
        for (std::size_t i = 0; i < order_; ++i) {
            Rational sum = b(i, column);
            for (std::size_t j = 0; j < order_; ++j)
                if (!a(i, j).is_zero()) sum -= a(i, j) * x[j];
            r.push_back(sum);
        }
        return r;
    }

    /// |A| |x| + |b|
    std::vector<Rational> terms(std::span<const Rational> x, std::size_t column) const { return terms_of(a_, x, column); }

    /// |A| |x| + |b|, where entries that are stored for one place of A count each by its own magnitude.
    std::vector<Rational> stored_terms(std::span<const Rational> x, std::size_t column) const {
        return terms_of(magnitudes_, x, column);
    }

private:
    std::vector<Rational> terms_of(std::span<const Rational> a, std::span<const Rational> x, std::size_t column) const {
        std::vector<Rational> terms;
        for (std::size_t i = 0; i < order_; ++i) {
            Rational sum = abs(b(i, column));
            for (std::size_t j = 0; j < order_; ++j)
                if (!a[i * order_ + j].is_zero()) sum += abs(a[i * order_ + j] * x[j]);
            terms.push_back(sum);
        }
        return terms;
    }

    void add_part(std::size_t i, std::size_t j, const Rational& part) {
        a_[i * order_ + j] += part;
        magnitudes_[i * order_ + j] += abs(part);
    }

    void add(std::int64_t row, std::int64_t column, S value) {
        const std::size_t i = components<S> * static_cast<std::size_t>(row),
                          j = components<S> * static_cast<std::size_t>(column);
        if constexpr (is_complex<S>) {
            const Rational re(static_cast<double>(value.real())), im(static_cast<double>(value.imag()));
            add_part(i, j, re);
            add_part(i, j + 1, Rational() - im);
            add_part(i + 1, j, im);
            add_part(i + 1, j + 1, re);
        } else {
            add_part(i, j, Rational(static_cast<double>(value)));
        }
    }

    void solve() {
        std::vector<std::vector<Integer>> rows;
        for (std::size_t i = 0; i < order_; ++i) {
            std::vector<Rational> row(a_.begin() + static_cast<std::ptrdiff_t>(i * order_),
                                      a_.begin() + static_cast<std::ptrdiff_t>((i + 1) * order_));
            for (std::size_t c = 0; c < columns_; ++c) row.push_back(b(i, c));
            rows.push_back(made_whole(row));
        }
        solution_ = solve_whole(std::move(rows));
    }

    std::size_t order_;
    std::size_t columns_;
    bool is_finite_ = false;
    std::vector<bool> has_numbers_;     // of right-hand sides
    std::vector<Rational> a_;           // by rows
    std::vector<Rational> magnitudes_;  // sums of the magnitudes of entries, by rows
    std::vector<Rational> b_;           // by columns
    std::vector<ExactNumber> solution_;
};

/// The identity as right-hand sides, by which a system knows the inverse of A.
template <class S>
DenseMatrix<S> identity(std::int64_t n) {
    DenseMatrix<S> b{n, n, std::vector<S>(static_cast<std::size_t>(n * n))};
    for (std::int64_t i = 0; i < n; ++i) b.values[i * n + i] = S(1);
    return b;
}

}  // namespace solver::testing
