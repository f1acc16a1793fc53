#pragma once

/// Solutions of linear systems of up to some hundred rows, by integers (GMP), and what they are rounded to (MPFR).

#include "support/rational_system.hpp"

#include <gmp.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace solver::testing {

class Integer {
public:
    Integer() { mpz_init(value_); }
    Integer(const Integer& other) { mpz_init_set(value_, other.value_); }
    Integer(Integer&& other) noexcept : Integer() { mpz_swap(value_, other.value_); }
    Integer& operator=(Integer other) noexcept {
        mpz_swap(value_, other.value_);
        return *this;
    }
    ~Integer() { mpz_clear(value_); }

    mpz_ptr get() { return value_; }
    mpz_srcptr get() const { return value_; }
    bool is_zero() const { return mpz_sgn(value_) == 0; }

private:
    mpz_t value_;
};

struct ExactNumber {
    Integer numerator;
    Integer denominator;

    /// RN with so many digits, ties to even, subnormal numbers and overflow as those of doubles, or of floats for 24.
    double rounded(int digits = 53) const {
        mpfr_t quotient;
        mpfr_init2(quotient, digits);
        const mpfr_exp_t lowest = mpfr_get_emin(), highest = mpfr_get_emax();
        mpfr_set_emin(digits == 53 ? -1073 : -148);
        mpfr_set_emax(digits == 53 ? 1024 : 128);
        const int ternary = set(quotient);
        mpfr_subnormalize(quotient, ternary, MPFR_RNDN);
        const double value = mpfr_get_d(quotient, MPFR_RNDN);
        mpfr_set_emin(lowest);
        mpfr_set_emax(highest);
        mpfr_clear(quotient);
        return value == 0 ? 0.0 : value;
    }

    Rational rational() const { return {numerator.get(), denominator.get()}; }

    /// Whether |x - this| <= bound, where x is finite.
    bool is_within(double bound, double x) const {
        return !std::isfinite(bound) || (rational() - Rational(x)).is_within(bound);
    }

private:
    int set(mpfr_ptr quotient) const { return mpfr_set_q(quotient, rational().get(), MPFR_RNDN); }
};

/// x = mantissa 2^exponent, the mantissa a whole number of at most 53 bits.
inline int exponent_of(double x) { return std::ilogb(x) - 52; }

/// The rows of [A B], each made whole by a power of two. A is n x n and B n x m, both by rows.
inline std::vector<std::vector<Integer>> whole_rows(std::span<const double> a, std::span<const double> b, std::size_t n,
                                                    std::size_t m) {
    std::vector<std::vector<Integer>> rows(n, std::vector<Integer>(n + m));
    for (std::size_t i = 0; i < n; ++i) {
        const auto element = [&](std::size_t j) { return j < n ? a[i * n + j] : b[i * m + j - n]; };
        int least = std::numeric_limits<int>::max();
        for (std::size_t j = 0; j < n + m; ++j)
            if (element(j) != 0) least = std::min(least, exponent_of(element(j)));
        for (std::size_t j = 0; j < n + m; ++j) {
            const double x = element(j);
            if (x == 0) continue;
            mpz_set_d(rows[i][j].get(), std::ldexp(x, -exponent_of(x)));
            mpz_mul_2exp(rows[i][j].get(), rows[i][j].get(), static_cast<mp_bitcnt_t>(exponent_of(x) - least));
        }
    }
    return rows;
}

/// The solutions of A X = B, column by column, from the rows of [A B]; empty where A is singular. Gauss and Jordan's
/// elimination without fractions (Bareiss, Math. Comp. 22, 1968): after step k every diagonal element up to the k-th would be
/// the k-th.
inline std::vector<ExactNumber> solve_whole(std::vector<std::vector<Integer>> rows) {
    const std::size_t n = rows.size(), m = n == 0 ? 0 : rows.front().size() - n;
    Integer last, product;
    mpz_set_si(last.get(), 1);
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        while (pivot < n && rows[pivot][k].is_zero()) ++pivot;
        if (pivot == n) return {};
        std::swap(rows[k], rows[pivot]);
        for (std::size_t i = 0; i < n; ++i) {
            if (i == k) continue;
            for (std::size_t j = k + 1; j < n + m; ++j) {
                mpz_mul(product.get(), rows[i][j].get(), rows[k][k].get());
                mpz_submul(product.get(), rows[i][k].get(), rows[k][j].get());
                mpz_divexact(rows[i][j].get(), product.get(), last.get());
            }
            mpz_set_ui(rows[i][k].get(), 0);
        }
        last = rows[k][k];
    }
    std::vector<ExactNumber> x;
    for (std::size_t c = 0; c < m; ++c)
        for (std::size_t i = 0; i < n; ++i) x.push_back({rows[i][n + c], last});  // what every diagonal element has become
    return x;
}

/// Those of A, n x n, and B, n x m, both by rows.
inline std::vector<ExactNumber> solve_exactly(std::span<const double> a, std::span<const double> b, std::size_t n) {
    return solve_whole(whole_rows(a, b, n, n == 0 ? 0 : b.size() / n));
}

}  // namespace solver::testing
