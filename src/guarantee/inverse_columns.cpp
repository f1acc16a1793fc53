#include "guarantee/inverse_columns.hpp"

#include "cpu/elementwise.hpp"
#include "guarantee/norms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace solver::guarantee {
namespace {

constexpr std::int64_t columns_at_once = 16;

/// Some columns of Y, and what they miss.
template <class T>
class Columns {
public:
    Columns(const SpmvPlan<T>& a, const Preparation& preparation, const Preconditioner<T>& inverse)
        : a_(a), preparation_(preparation), inverse_(inverse) {}

    /// first, first + 1, ..., first + count - 1.
    void make(std::int64_t first, std::int64_t count) {
        first_ = first;
        const auto n = static_cast<std::size_t>(a_.rows());
        y_.assign(static_cast<std::size_t>(count), std::vector<T>(n));
        rest_.assign(static_cast<std::size_t>(count), std::vector<T>(n));
        for (std::int64_t j = 0; j < count; ++j) {
            rest_[j][first + j] = static_cast<T>(std::ldexp(1.0, -preparation_.row_exponents[first + j]));
            inverse_.apply(rest_[j], y_[j], Accuracy::compensated);
        }
        subtract_products(y_);
        correct(count);
    }

    /// max_j ||g_j||_1 of these.
    double largest_rest() const {
        double most = 0;
        for (const std::vector<T>& rest : rest_) {
            const double norm = sum_above(a_.rows(), [&](std::int64_t i) {
                return std::ldexp(size_before_rounding(rest[i]), preparation_.row_exponents[i]) + smallest_subnormal<double>;
            });
            most = norm <= most ? most : norm == norm ? norm : std::numeric_limits<double>::infinity();
        }
        return most;
    }

    void raise(std::span<double> reach) const {
        cpu::update(reach, Device::cpu(), [&](double most, std::int64_t i) {
            for (const std::vector<T>& y : y_) most = std::max(most, static_cast<double>(magnitude(y[i])));
            return most;
        });
    }

private:
    /// rest = RN(rest - A y)
    void subtract_products(const std::vector<std::vector<T>>& y) {
        std::vector<SpmvTask<T>> tasks;
        for (std::size_t j = 0; j < y.size(); ++j)
            tasks.push_back({.alpha = T(-1), .x = y[j], .beta = T(1), .y_in = rest_[j], .y = rest_[j]});
        a_.multiply(tasks, Accuracy::exact);
    }

    /// One step of refinement: y + d and its own rest, from e_j anew, since y + d is rounded.
    void correct(std::int64_t count) {
        const auto n = static_cast<std::size_t>(a_.rows());
        std::vector<T> d(n);
        for (std::int64_t j = 0; j < count; ++j) {
            inverse_.apply(rest_[j], d, Accuracy::compensated);
            for (std::size_t i = 0; i < n; ++i) y_[j][i] += d[i];
            std::fill(rest_[j].begin(), rest_[j].end(), T(0));
            rest_[j][first_ + j] = static_cast<T>(std::ldexp(1.0, -preparation_.row_exponents[first_ + j]));
        }
        subtract_products(y_);
    }

    const SpmvPlan<T>& a_;
    const Preparation& preparation_;
    const Preconditioner<T>& inverse_;
    std::int64_t first_ = 0;
    std::vector<std::vector<T>> y_;
    std::vector<std::vector<T>> rest_;
};

}  // namespace

template <class T>
Certificate certificate_by_inverse(const SpmvPlan<T>& a, const Preparation& preparation, const Preconditioner<T>& inverse) {
    const std::int64_t n = a.rows();
    Certificate certificate;
    certificate.reach.assign(static_cast<std::size_t>(n), 0.0);
    double alpha = 0;
    Columns<T> columns(a, preparation, inverse);
    for (std::int64_t j = 0; j < n && alpha < 1; j += columns_at_once) {
        columns.make(j, std::min(columns_at_once, n - j));
        alpha = std::max(alpha, columns.largest_rest());
        columns.raise(certificate.reach);
    }
    const double divisor = below(below(1 - alpha));
    if (!(divisor > 0)) {
        certificate.reason = fmt::format("an approximate inverse is off by {:.1e} of the identity, 1 or more", alpha);
        certificate.reach.clear();
        return certificate;
    }
    certificate.status = ProofStatus::proven;
    certificate.reason = "inverse by columns";
    certificate.adds_up = true;
    for (double& reach : certificate.reach) reach = above(above(reach / divisor));
    for (const std::int32_t exponent : preparation.row_exponents) certificate.weights.push_back(std::ldexp(1.0, exponent));
    return certificate;
}

template Certificate certificate_by_inverse(const SpmvPlan<double>&, const Preparation&, const Preconditioner<double>&);

}  // namespace solver::guarantee
