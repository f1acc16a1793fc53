#include "guarantee/inverse_columns.hpp"

#include "core/thread_pool.hpp"
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

/// 2^exponent, from -1022 to 1023, as exponents of a preparation are.
double power_of_two(std::int32_t exponent) { return std::ldexp(1.0, exponent); }

/// Some columns of Y and what they miss, each made by one thread.
class Columns {
public:
    Columns(const SpmvPlan<double>& a, const Preparation& preparation, const InverseColumn& column)
        : a_(a), preparation_(preparation), column_(column) {}

    /// first, first + 1, ..., first + count - 1.
    void make(std::int64_t first, std::int64_t count) {
        for (std::vector<std::vector<double>>* const columns : {&y_, &low_, &rest_})
            columns->assign(static_cast<std::size_t>(count), std::vector<double>(size()));
        each([&](std::size_t j) { column_(first + static_cast<std::int64_t>(j), y_[j], low_[j]); });
        std::vector<SpmvTask<double>> tasks;
        for (std::size_t j = 0; j < y_.size(); ++j) {  // columns of D^-1, less the products
            const auto row = static_cast<std::size_t>(first) + j;
            rest_[j][row] = power_of_two(-preparation_.row_exponents[row]);
            const bool is_pair = std::any_of(low_[j].begin(), low_[j].end(), [](double low) { return low != 0; });
            const std::span<const double> low = is_pair ? std::span<const double>(low_[j]) : std::span<const double>();
            tasks.push_back({.alpha = -1, .x = y_[j], .x_low = low, .beta = 1, .y_in = rest_[j], .y = rest_[j]});
        }
        a_.multiply(tasks, Accuracy::exact);
    }

    /// An upper bound of max_j ||g_j||_1 of these; sums of n terms, in order, are off by a factor of 1 + n u.
    double largest_rest() {
        std::vector<double> norms(rest_.size());
        each([&](std::size_t j) {
            double sum = 0;
            for (std::size_t i = 0; i < size(); ++i)
                sum += size_before_rounding(rest_[j][i]) * power_of_two(preparation_.row_exponents[i]) +
                       smallest_subnormal<double>;
            norms[j] = sum * (1 + static_cast<double>(size()) * 2 * unit_roundoff<double>)*inflation;
        });
        return largest(static_cast<std::int64_t>(norms.size()), [&](std::int64_t j) { return norms[j]; });
    }

    void raise(std::span<double> reach) const {
        cpu::update(reach, Device::cpu(), [&](double most, std::int64_t i) {
            for (std::size_t j = 0; j < y_.size(); ++j)
                most = std::max(most, above(magnitude(y_[j][i]) + magnitude(low_[j][i])));
            return most;
        });
    }

private:
    std::size_t size() const { return static_cast<std::size_t>(a_.rows()); }

    template <class Work>
    void each(const Work& work) const {
        cpu::parallel_for(static_cast<int>(y_.size()), [&](int j) { work(static_cast<std::size_t>(j)); });
    }

    const SpmvPlan<double>& a_;
    const Preparation& preparation_;
    const InverseColumn& column_;
    std::vector<std::vector<double>> y_, low_;
    std::vector<std::vector<double>> rest_;
};

}  // namespace

Certificate certificate_by_inverse(const SpmvPlan<double>& a, const Preparation& preparation, const InverseColumn& column) {
    const std::int64_t n = a.rows();
    Certificate certificate;
    certificate.reach.assign(static_cast<std::size_t>(n), 0.0);
    double alpha = 0;
    Columns columns(a, preparation, column);
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
    for (const std::int32_t exponent : preparation.row_exponents) certificate.weights.push_back(power_of_two(exponent));
    return certificate;
}

Certificate certificate_by_inverse(const SpmvPlan<double>& a, const Preparation& preparation,
                                   const Preconditioner<double>& inverse) {
    const SpmvPlan<double> alone(a.matrix(), Device::cpu(1));
    return certificate_by_inverse(a, preparation, [&](std::int64_t j, std::span<double> y, std::span<double>) {
        std::vector<double> r(y.size()), d(y.size());
        r[j] = power_of_two(-preparation.row_exponents[j]);
        inverse.apply(r, y, Accuracy::compensated);
        alone.residual(r, y, {}, r, Accuracy::exact);
        inverse.apply(r, d, Accuracy::compensated);
        for (std::size_t i = 0; i < y.size(); ++i) y[i] += d[i];
    });
}

}  // namespace solver::guarantee
