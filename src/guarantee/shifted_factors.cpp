#include "guarantee/shifted_factors.hpp"

#include "guarantee/decision.hpp"
#include "guarantee/factor_bound.hpp"
#include "preconditioner/klu.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace solver::guarantee {
namespace {

/// D and the order, the same for rows and columns.
Preparation symmetric_preparation(const CsrView<double>& a, const Preparation& given) {
    Preparation p = given;
    p.row_order = p.column_order;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k] == i) {
                int exponent = 0;
                std::frexp(a.values[k], &exponent);
                p.row_exponents[i] = p.column_exponents[i] = -(exponent >> 1);
            }
    return p;
}

/// 1 / (v' C^-1 v) for v of length 1 after some steps of inverse iteration: hardly less than the least eigenvalue of C, and
/// seldom far above. What C^-1 v costs is a solve with complete factors.
double estimated_least_eigenvalue(const Preparation& p, const Preconditioner<double>& inverse) {
    constexpr int steps = 12;
    const std::size_t n = p.row_exponents.size();
    std::vector<double> v(n), r(n), z(n);
    std::uint64_t state = 1;
    for (double& x : v) {
        state = state * 6364136223846793005 + 1442695040888963407;
        x = 0.5 + static_cast<double>(state >> 40) * 0x1p-24;
    }
    double product = 0, square = 1;
    for (int step = 0; step < steps; ++step) {
        square = 0;
        for (const double x : v) square += x * x;
        const double size = std::sqrt(square);
        for (std::size_t i = 0; i < n; ++i) r[i] = std::ldexp(v[i] /= size, -p.row_exponents[i]);
        inverse.apply(r, z, Accuracy::exact);
        product = 0;
        for (std::size_t i = 0; i < n; ++i) {
            z[i] = std::ldexp(z[i], -p.row_exponents[i]);
            product += v[i] * z[i];
        }
        std::swap(v, z);
    }
    return 1 / product;
}

/// The row sums of |U - H L^T|, rounded up: u - h l is rounded twice, to at most (|u - h l| + 2 u |h l|) (1 + 2 u).
std::vector<double> asymmetry_above(const IluFactors<double>& factors) {
    const CsrMatrix<double> columns = transpose(factors.lower.view());
    const CsrMatrix<double>& upper = factors.upper;
    std::vector<double> sums;
    for (std::int64_t i = 0; i < upper.rows; ++i) {
        const std::int64_t begin = upper.row_offsets[i], end = upper.row_offsets[i + 1];
        const std::int64_t columns_end = columns.row_offsets[i + 1];
        const double pivot = upper.values[begin];
        std::int64_t k = begin + 1, l = columns.row_offsets[i], terms = 0;
        double sum = 0;
        while (k < end || l < columns_end) {
            const std::int32_t of_upper = k < end ? upper.column_indices[k] : std::numeric_limits<std::int32_t>::max();
            const std::int32_t of_lower =
                l < columns_end ? columns.column_indices[l] : std::numeric_limits<std::int32_t>::max();
            const double u = of_upper <= of_lower ? upper.values[k++] : 0;
            const double product = of_lower <= of_upper ? pivot * columns.values[l++] : 0;
            sum += (magnitude(u - product) + 2 * unit_roundoff<double> * magnitude(product)) * inflation +
                   smallest_subnormal<double>;
            ++terms;
        }
        sums.push_back(above_sum(sum, terms));
    }
    return sums;
}

bool has_positive_pivots(const CsrMatrix<double>& upper) {
    for (std::int64_t i = 0; i < upper.rows; ++i)
        if (!(upper.values[upper.row_offsets[i]] > 0)) return false;
    return true;
}

}  // namespace

double error_of_shifted_factors_above(const IluFactors<double>& factors, double shift) {
    const std::vector<double> error = error_of_factors_above(factors.lower, factors.upper);
    const std::vector<double> asymmetry = product_above(factors.lower, asymmetry_above(factors), true);
    double most = 0;
    for (std::size_t i = 0; i < error.size(); ++i) {
        const double sum = error[i] + asymmetry[i];
        if (!(sum <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::infinity();
        most = std::max(most, sum);
    }
    return (most + unit_roundoff<double> * (2 + shift)) * inflation;
}

std::optional<LeastEigenvalue> find_least_eigenvalue(const CsrView<double>& a, const Preparation& preparation,
                                                     const Preconditioner<double>& inverse, std::int64_t memory_limit) {
    const Preparation p = symmetric_preparation(a, preparation);
    const CsrMatrix<double> c = prepared_matrix(a, p);
    const double estimate = estimated_least_eigenvalue(p, inverse);
    if (!(estimate > 0) || !is_finite(estimate)) return std::nullopt;
    double shift = std::exp2(std::floor(std::log2(estimate)) - 1);
    for (int attempt = 0; attempt < 2; ++attempt, shift /= 4) {
        CsrMatrix<double> shifted = c;
        for (std::int64_t i = 0; i < c.rows; ++i)
            for (std::int64_t k = c.row_offsets[i]; k < c.row_offsets[i + 1]; ++k)
                if (c.column_indices[k] == i) shifted.values[k] -= shift;
        const std::optional<IluFactors<double>> factors = factor_on_diagonal(shifted, *p.fill, memory_limit);
        if (!factors || !has_positive_pivots(factors->upper)) continue;
        const double least = below(shift - error_of_shifted_factors_above(*factors, shift));
        if (least > 0) return LeastEigenvalue{p.row_exponents, least};
    }
    return std::nullopt;
}

Certificate certificate_by_norm(const char* reason, std::span<const std::int32_t> row_exponents,
                                std::span<const std::int32_t> column_exponents, double least) {
    Certificate certificate;
    certificate.status = ProofStatus::proven;
    certificate.reason = reason;
    const double factor = std::sqrt(static_cast<double>(row_exponents.size())) / least * inflation;
    for (const std::int32_t exponent : column_exponents)
        certificate.reach.push_back(std::ldexp(factor, exponent) * inflation + smallest_subnormal<double>);
    for (const std::int32_t exponent : row_exponents) certificate.weights.push_back(std::ldexp(1.0, exponent));
    return certificate;
}

Certificate certificate_by_shift(const CsrView<double>& a, const Preparation& preparation,
                                 const Preconditioner<double>& inverse, std::int64_t memory_limit) {
    if (const auto found = find_least_eigenvalue(a, preparation, inverse, memory_limit))
        return certificate_by_norm("complete factors of A less a part of the identity", found->exponents, found->exponents,
                                   found->at_least);
    Certificate certificate;
    certificate.reason = "A is not positive definite, or nearly so";
    return certificate;
}

}  // namespace solver::guarantee
