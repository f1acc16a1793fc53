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
    Columns(const SpmvPlan<double>& a, const Preparation& preparation, const Preconditioner<double>& inverse)
        : a_(a), preparation_(preparation), inverse_(inverse) {}

    /// first, first + 1, ..., first + count - 1.
    void make(std::int64_t first, std::int64_t count) {
        y_.assign(static_cast<std::size_t>(count), std::vector<double>(size()));
        rest_.assign(static_cast<std::size_t>(count), std::vector<double>(size()));
        set_to_identity(first);
        each([&](std::size_t j) { inverse_.apply(rest_[j], y_[j], Accuracy::compensated); });
        subtract_products();
        each([&](std::size_t j) {  // one step of refinement
            std::vector<double> d(size());
            inverse_.apply(rest_[j], d, Accuracy::compensated);
            for (std::size_t i = 0; i < size(); ++i) y_[j][i] += d[i];
        });
        set_to_identity(first);
        subtract_products();
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
            for (const std::vector<double>& y : y_) most = std::max(most, magnitude(y[i]));
            return most;
        });
    }

private:
    std::size_t size() const { return static_cast<std::size_t>(a_.rows()); }

    template <class Work>
    void each(const Work& work) const {
        cpu::parallel_for(static_cast<int>(y_.size()), [&](int j) { work(static_cast<std::size_t>(j)); });
    }

    /// Columns of D^-1.
    void set_to_identity(std::int64_t first) {
        for (std::size_t j = 0; j < rest_.size(); ++j) {
            const auto row = static_cast<std::size_t>(first) + j;
            std::fill(rest_[j].begin(), rest_[j].end(), 0.0);
            rest_[j][row] = power_of_two(-preparation_.row_exponents[row]);
        }
    }

    /// rest = RN(rest - A y)
    void subtract_products() {
        std::vector<SpmvTask<double>> tasks;
        for (std::size_t j = 0; j < y_.size(); ++j)
            tasks.push_back({.alpha = -1, .x = y_[j], .beta = 1, .y_in = rest_[j], .y = rest_[j]});
        a_.multiply(tasks, Accuracy::exact);
    }

    const SpmvPlan<double>& a_;
    const Preparation& preparation_;
    const Preconditioner<double>& inverse_;
    std::vector<std::vector<double>> y_;
    std::vector<std::vector<double>> rest_;
};

}  // namespace

Certificate certificate_by_inverse(const SpmvPlan<double>& a, const Preparation& preparation,
                                   const Preconditioner<double>& inverse) {
    const std::int64_t n = a.rows();
    Certificate certificate;
    certificate.reach.assign(static_cast<std::size_t>(n), 0.0);
    double alpha = 0;
    Columns columns(a, preparation, inverse);
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

}  // namespace solver::guarantee
