#pragma once

/// What alpha sum a_i b_i + beta y should be: the exact number, and the bounds around it.

#include "solver/accuracy.hpp"
#include "solver/numeric/bounds.hpp"
#include "support/oracle.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

namespace solver::testing {

/// One sum of products, exact. What is not finite is kept apart and added by IEEE arithmetic, which gets Inf and NaN right in
/// any order.
template <std::floating_point T>
class ExpectedSum {
public:
    explicit ExpectedSum(int bits = Oracle::every_double) : oracle_(bits) {}

    void add_product(T a, T b) {
        ++terms_;
        if (std::isfinite(a) && std::isfinite(b)) {
            oracle_.add_product(a, b);
            magnitudes_ += std::abs(static_cast<long double>(a)) * std::abs(static_cast<long double>(b));
        } else {
            special_ += a * b;
        }
    }

    void add(T x) { add_product(x, T(1)); }

    /// A finite factor times another sum; one of 0 is none.
    void add_scaled(const ExpectedSum& sum, T factor) {
        if (factor == 0) return;
        oracle_.add_scaled(sum.oracle_, factor);
        if (sum.special_ != 0) special_ += factor * sum.special_;
        overflowing_ = std::max({overflowing_, sum.overflowing_, sum.magnitudes_});
        magnitudes_ += sum.magnitudes_ * std::abs(static_cast<long double>(factor));
        terms_ += sum.terms_;
    }

    /// alpha times this + beta y; beta == 0 does not look at y.
    ExpectedSum affine(T alpha, T beta, T y) const {
        ExpectedSum result(*this);
        result.oracle_.multiply(alpha);
        result.overflowing_ = std::max(overflowing_, magnitudes_);
        result.magnitudes_ *= std::abs(double{alpha});
        if (special_ != 0) result.special_ = alpha * special_;
        result.scale_ = std::max(1.0, std::abs(double{alpha}));
        if (beta != 0) result.add_product(beta, y);
        return result;
    }

    T rounded() const {
        if (special_ != 0) return std::isnan(special_) ? std::numeric_limits<T>::quiet_NaN() : special_;
        return oracle_.rounded<T>();
    }

    T sqrt_rounded() const {
        if (special_ != 0) return std::isnan(special_) ? std::numeric_limits<T>::quiet_NaN() : special_;
        return oracle_.sqrt_rounded<T>();
    }

    /// Whether a partial sum might be beyond the range.
    bool may_overflow() const { return !(std::max(overflowing_, magnitudes_) < double{std::numeric_limits<T>::max()} / 2); }

    bool is_special() const { return special_ != 0; }
    double magnitudes() const { return static_cast<double>(magnitudes_); }
    /// Finite where double overflows.
    long double wide_magnitudes() const { return magnitudes_; }
    std::int64_t terms() const { return terms_; }
    const Oracle& exact() const { return oracle_; }

    /// Whether `found` keeps the promise of a mode. Where a partial sum can overflow, fast and compensated promise nothing, but
    /// that Inf and NaN do not disappear.
    bool allows(T found, Accuracy accuracy) const {
        if (accuracy == Accuracy::exact) return same_bits(found, rounded());
        if (may_overflow()) return !is_special() || !std::isfinite(found);
        return is_special() ? same_bits(found, rounded()) : oracle_.within(found, bound(accuracy));
    }

    /// Whether the promise of `accuracy` allows `found` for this sum divided by a number, rounded once more. Finite numbers;
    /// fast and compensated only.
    bool allows_quotient(T found, T divisor, Accuracy accuracy) const { return allows_products({{found, divisor}}, accuracy); }

    /// Whether the promise of `accuracy` allows numbers that were found, each rounded once more: their products with the
    /// factors beside them are to add up to this sum.
    bool allows_products(std::initializer_list<std::pair<T, T>> found, Accuracy accuracy) const {
        Oracle remainder(oracle_);
        double rounding = 0;
        for (const auto& [number, factor] : found) {
            remainder.add_product(-number, factor);
            const double of_number = double{unit_roundoff<T>} * std::abs(double{number}) + double{smallest_subnormal<T>};
            rounding += of_number * std::abs(double{factor});
        }
        return remainder.within(0, bound(accuracy) + rounding * (1 + 0x1p-30));
    }

private:
    double bound(Accuracy accuracy) const {
        const std::int64_t n = terms_ + 2;
        const double lost = scale_ * underflow_allowance<T>(n);
        const double rounding = accuracy == Accuracy::fast ? gamma<T>(n) * magnitudes()
                                                           : compensated_bound<T>(1024, 0, magnitudes(), magnitude_of_result());
        return rounding * (1 + 0x1p-30) + lost;
    }

    double magnitude_of_result() const { return std::abs(oracle_.approximate()); }

    Oracle oracle_;
    T special_ = 0;  ///< 0, Inf, -Inf or NaN
    long double magnitudes_ = 0;
    long double overflowing_ = 0;  ///< the magnitudes before alpha
    double scale_ = 1;
    std::int64_t terms_ = 0;
};

/// The places where two vectors differ in a bit, as text: how many, and the first.
template <std::floating_point T>
std::string differences(std::span<const T> found, std::span<const T> expected) {
    std::size_t count = 0;
    std::size_t first = 0;
    for (std::size_t i = found.size(); i-- > 0;) {
        if (same_bits(found[i], expected[i])) continue;
        ++count;
        first = i;
    }
    if (count == 0) return "";
    char text[200];
    std::snprintf(text, sizeof text, "%zu of %zu elements differ, the first at %zu: %a instead of %a", count, found.size(),
                  first, double{found[first]}, double{expected[first]});
    return text;
}

}  // namespace solver::testing
