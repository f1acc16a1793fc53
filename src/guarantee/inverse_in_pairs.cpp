#include "guarantee/inverse_in_pairs.hpp"

#include "guarantee/gauss_jordan.hpp"
#include "solver/device.hpp"
#include "solver/spmv.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace solver::guarantee {

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
