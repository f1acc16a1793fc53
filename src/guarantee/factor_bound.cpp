#include "guarantee/factor_bound.hpp"

#include "guarantee/decision.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace solver::guarantee {
namespace {

constexpr double smallest_normal = std::numeric_limits<double>::min();

/// x becomes an upper bound of <U>^-1 <L>^-1 x, x >= 0. By induction over the rows: each element is computed from upper bounds
/// of those before it, by nonnegative operations, and rounded up.
void solve_above(const CsrMatrix<double>& lower, const CsrMatrix<double>& upper, std::vector<double>& x) {
    for (std::int64_t i = 0; i < lower.rows; ++i) {
        const std::int64_t begin = lower.row_offsets[i], end = lower.row_offsets[i + 1];
        double sum = x[i];
        for (std::int64_t k = begin; k < end; ++k) sum += magnitude(lower.values[k]) * x[lower.column_indices[k]];
        x[i] = above_sum(sum, end - begin);
    }
    for (std::int64_t i = upper.rows - 1; i >= 0; --i) {
        const std::int64_t begin = upper.row_offsets[i], end = upper.row_offsets[i + 1];  // the diagonal is the first entry
        double sum = x[i];
        for (std::int64_t k = begin + 1; k < end; ++k) sum += magnitude(upper.values[k]) * x[upper.column_indices[k]];
        x[i] = above_sum(above_sum(sum, end - begin) / magnitude(upper.values[begin]), 0);
    }
}

double largest_of(const std::vector<double>& x) {
    double most = 0;
    for (const double value : x) most = value <= most ? most : value == value ? value : std::numeric_limits<double>::infinity();
    return most;
}

}  // namespace

double above_sum(double rounded, std::int64_t terms) {
    return rounded * (1 + static_cast<double>(terms + 4) * 2 * unit_roundoff<double>)+smallest_normal;
}

std::vector<double> product_above(const CsrMatrix<double>& a, const std::vector<double>& x, bool has_unit_diagonal) {
    std::vector<double> y(x.size());
    for (std::int64_t i = 0; i < a.rows; ++i) {
        double sum = has_unit_diagonal ? x[i] : 0;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            sum += magnitude(a.values[k]) * x[a.column_indices[k]];
        y[i] = above_sum(sum, a.row_offsets[i + 1] - a.row_offsets[i]);
    }
    return y;
}

std::vector<double> error_of_factors_above(const CsrMatrix<double>& lower, const CsrMatrix<double>& upper) {
    const std::vector<double> ones(static_cast<std::size_t>(lower.rows), 1.0);
    std::vector<double> t = product_above(lower, product_above(upper, ones, false), true);
    for (std::int64_t i = 0; i < lower.rows; ++i) {
        const auto terms = static_cast<double>(lower.row_offsets[i + 1] - lower.row_offsets[i] + 1);
        const double k_u = terms * unit_roundoff<double>;
        const double underflow = (terms + 1) * static_cast<double>(lower.rows) * smallest_normal;
        t[i] = (k_u / (1 - k_u) * t[i] + underflow) * inflation;
    }
    return t;
}

Certificate certificate_by_factors(const CsrMatrix<double>& lower, const CsrMatrix<double>& upper,
                                   const Preparation& preparation) {
    Certificate certificate;
    std::vector<double> z = error_of_factors_above(lower, upper);
    solve_above(lower, upper, z);
    const double most_z = largest_of(z);
    const double room = below(1 - most_z);
    if (!(room > 0)) {
        certificate.reason = fmt::format("the rounding errors of complete factors may add up to {:.1e}, 1 or more", most_z);
        return certificate;
    }
    std::vector<double> y(z.size(), 1.0);
    solve_above(lower, upper, y);
    const double most_y = largest_of(y);
    certificate.status = ProofStatus::proven;
    certificate.reason = "complete factors";
    certificate.reach.resize(z.size());
    for (std::size_t l = 0; l < z.size(); ++l) {
        const std::int32_t column = preparation.column_order[l];
        const double reach = (y[l] + z[l] * most_y / room) * inflation;
        certificate.reach[column] = std::ldexp(reach, preparation.column_exponents[column]) + smallest_subnormal<double>;
    }
    for (const std::int32_t exponent : preparation.row_exponents) certificate.weights.push_back(std::ldexp(1.0, exponent));
    return certificate;
}

}  // namespace solver::guarantee
