#include "guarantee/inverse_in_pairs.hpp"

#include "solver/device.hpp"
#include "solver/numeric/error_free.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace solver::guarantee {
namespace {

Pair normalised(double high, double low) {
    const Split<double> sum = two_sum(high, low);
    return {sum.value, sum.error};
}

Pair operator*(const Pair& a, const Pair& b) {
    const Split<double> product = two_prod(a.high, b.high);
    return normalised(product.value, product.error + (a.high * b.low + a.low * b.high));
}

Pair operator-(const Pair& a, const Pair& b) {
    const Split<double> high = two_sum(a.high, -b.high), low = two_sum(a.low, -b.low);
    const Pair sum = normalised(high.value, high.error + low.value);
    return normalised(sum.high, sum.low + low.error);
}

/// Two steps of Newton's method for 1 / a.
Pair reciprocal(const Pair& a) {
    Pair x{1 / a.high, 0};
    for (int step = 0; step < 2; ++step) {
        const Pair defect = a * x - Pair{1, 0};
        x = x - defect * x;
    }
    return x;
}

/// Replaces a square matrix, by rows, by its inverse.
void invert(std::vector<Pair>& a, std::size_t n) {
    std::vector<std::size_t> pivots(n);
    for (std::size_t k = 0; k < n; ++k) {
        std::size_t& pivot = pivots[k] = k;
        for (std::size_t i = k + 1; i < n; ++i)
            if (std::abs(a[i * n + k].high) > std::abs(a[pivot * n + k].high)) pivot = i;
        for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
        const Pair factor = reciprocal(a[k * n + k]);
        a[k * n + k] = {1, 0};
        for (std::size_t j = 0; j < n; ++j) a[k * n + j] = a[k * n + j] * factor;
        for (std::size_t i = 0; i < n; ++i) {
            if (i == k) continue;
            const Pair multiple = std::exchange(a[i * n + k], Pair());
            if (multiple.high == 0) continue;
            for (std::size_t j = 0; j < n; ++j) a[i * n + j] = a[i * n + j] - multiple * a[k * n + j];
        }
    }
    for (std::size_t k = n; k-- > 0;)
        for (std::size_t i = 0; i < n; ++i) std::swap(a[i * n + k], a[i * n + pivots[k]]);
}

}  // namespace

InverseInPairs::InverseInPairs(const CsrView<double>& a, const Preparation& preparation)
    : a_(convert<double>(a)), preparation_(preparation), inverse_(size() * size()) {
    const CsrMatrix<double> prepared = prepared_matrix(a, preparation);
    for (std::int64_t i = 0; i < prepared.rows; ++i)
        for (std::int64_t k = prepared.row_offsets[i]; k < prepared.row_offsets[i + 1]; ++k)
            inverse_[static_cast<std::size_t>(i) * size() + prepared.column_indices[k]] = {prepared.values[k], 0};
    invert(inverse_, size());
}

void InverseInPairs::column(std::int64_t j, std::span<double> y, std::span<double> y_low) const {
    for (std::size_t k = 0; k < size(); ++k) {
        if (preparation_.row_order[k] != j) continue;
        for (std::size_t l = 0; l < size(); ++l) {
            const std::int32_t row = preparation_.column_order[l];
            const std::int32_t exponent = preparation_.column_exponents[row];
            y[row] = std::ldexp(inverse_[l * size() + k].high, exponent);
            y_low[row] = std::ldexp(inverse_[l * size() + k].low, exponent);
        }
    }
}

void InverseInPairs::add_product(std::span<const double> r, std::span<double> z, std::span<double> z_low) const {
    std::vector<Pair> scaled;
    for (const std::int32_t row : preparation_.row_order)
        scaled.push_back({std::ldexp(r[row], preparation_.row_exponents[row]), 0});
    for (std::size_t l = 0; l < size(); ++l) {
        Pair sum;
        for (std::size_t k = 0; k < size(); ++k) sum = sum - inverse_[l * size() + k] * scaled[k];
        const std::int32_t row = preparation_.column_order[l], exponent = preparation_.column_exponents[row];
        const Pair total = Pair{z[row], z_low[row]} - Pair{std::ldexp(sum.high, exponent), std::ldexp(sum.low, exponent)};
        z[row] = total.high;
        z_low[row] = total.low;
    }
}

void InverseInPairs::apply(std::span<const double> r, std::span<double> z, std::span<double> z_low) const {
    constexpr int refinements = 3;
    const SpmvPlan<double> plan(a_, Device::cpu(1));
    std::fill(z.begin(), z.end(), 0.0);
    std::fill(z_low.begin(), z_low.end(), 0.0);
    add_product(r, z, z_low);
    std::vector<double> rest(r.size());
    for (int step = 0; step < refinements; ++step) {
        plan.residual(r, z, z_low, rest, Accuracy::exact);
        add_product(rest, z, z_low);
    }
}

}  // namespace solver::guarantee
