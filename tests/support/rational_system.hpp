#pragma once

/// Solutions of small linear systems in rational arithmetic (GMP), and what they are rounded to (MPFR).

#include <gmp.h>
#include <mpfr.h>

#include <compare>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <ostream>
#include <span>
#include <utility>
#include <vector>

namespace solver::testing {

class Rational {
public:
    explicit Rational(double value = 0) {
        mpq_init(value_);
        mpq_set_d(value_, value);
    }
    Rational(mpz_srcptr numerator, mpz_srcptr denominator) {
        mpq_init(value_);
        mpq_set_num(value_, numerator);
        mpq_set_den(value_, denominator);
        mpq_canonicalize(value_);
    }
    Rational(const Rational& other) {
        mpq_init(value_);
        mpq_set(value_, other.value_);
    }
    Rational& operator=(const Rational& other) {
        mpq_set(value_, other.value_);
        return *this;
    }
    ~Rational() { mpq_clear(value_); }

    Rational& operator+=(const Rational& other) {
        mpq_add(value_, value_, other.value_);
        return *this;
    }
    Rational& operator-=(const Rational& other) {
        mpq_sub(value_, value_, other.value_);
        return *this;
    }
    Rational& operator*=(const Rational& other) {
        mpq_mul(value_, value_, other.value_);
        return *this;
    }
    Rational& operator/=(const Rational& other) {
        mpq_div(value_, value_, other.value_);
        return *this;
    }
    friend Rational operator+(Rational a, const Rational& b) { return a += b; }
    friend Rational operator-(Rational a, const Rational& b) { return a -= b; }
    friend Rational operator*(Rational a, const Rational& b) { return a *= b; }
    friend Rational operator/(Rational a, const Rational& b) { return a /= b; }
    friend bool operator==(const Rational& a, const Rational& b) { return mpq_equal(a.value_, b.value_) != 0; }
    friend auto operator<=>(const Rational& a, const Rational& b) { return mpq_cmp(a.value_, b.value_) <=> 0; }
    friend Rational abs(Rational a) {
        mpq_abs(a.value_, a.value_);
        return a;
    }
    friend std::ostream& operator<<(std::ostream& out, const Rational& a) { return out << a.approximate(); }
    mpq_srcptr get() const { return value_; }
    bool is_zero() const { return mpq_sgn(value_) == 0; }
    double approximate() const { return mpq_get_d(value_); }

    /// Of a wider range than doubles have, whose squares it holds.
    long double wide_approximate() const {
        mpfr_t result;
        mpfr_init2(result, std::numeric_limits<long double>::digits);
        mpfr_set_q(result, value_, MPFR_RNDN);
        const long double value = mpfr_get_ld(result, MPFR_RNDN);
        mpfr_clear(result);
        return value;
    }

    Rational times_power_of_two(long exponent) const {
        Rational result;
        const auto shift = static_cast<mp_bitcnt_t>(std::abs(exponent));
        exponent < 0 ? mpq_div_2exp(result.value_, value_, shift) : mpq_mul_2exp(result.value_, value_, shift);
        return result;
    }

    /// That of the largest power of two not above |this|, which is not 0.
    long exponent() const {
        mpfr_t power;
        mpfr_init2(power, MPFR_PREC_MIN);
        mpfr_set_q(power, value_, MPFR_RNDZ);
        const long exponent = mpfr_get_exp(power) - 1;
        mpfr_clear(power);
        return exponent;
    }

    /// Whether |this| <= bound.
    bool is_within(double bound) const {
        Rational size(*this), limit(bound);
        mpq_abs(size.value_, size.value_);
        return mpq_cmp(size.value_, limit.value_) <= 0;
    }

    /// RN, ties to even, to a double in the normal range or zero; for floats give 24 digits.
    double rounded(int digits = 53) const {
        mpfr_t result;
        mpfr_init2(result, digits);
        mpfr_set_q(result, value_, MPFR_RNDN);
        const double value = mpfr_get_d(result, MPFR_RNDN);
        mpfr_clear(result);
        return value == 0 ? 0.0 : value;
    }

private:
    mpq_t value_;
};

/// x with A x = b, A by rows; empty where A is singular.
inline std::vector<Rational> solve_in_rationals(std::span<const double> a, std::span<const double> b) {
    const std::size_t n = b.size();
    std::vector<std::vector<Rational>> rows(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) rows[i].emplace_back(a[i * n + j]);
        rows[i].emplace_back(b[i]);
    }
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t pivot = k;
        while (pivot < n && rows[pivot][k].is_zero()) ++pivot;
        if (pivot == n) return {};
        std::swap(rows[k], rows[pivot]);
        for (std::size_t i = 0; i < n; ++i) {
            if (i == k || rows[i][k].is_zero()) continue;
            Rational factor = rows[i][k];
            factor /= rows[k][k];
            for (std::size_t j = k; j <= n; ++j) {
                Rational product = rows[k][j];
                product *= factor;
                rows[i][j] -= product;
            }
        }
    }
    std::vector<Rational> x;
    for (std::size_t i = 0; i < n; ++i) x.emplace_back(rows[i][n]) /= rows[i][i];
    return x;
}

}  // namespace solver::testing
