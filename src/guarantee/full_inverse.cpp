#include "guarantee/full_inverse.hpp"

#include "cpu/elementwise.hpp"
#include "guarantee/gauss_jordan.hpp"
#include "guarantee/norms.hpp"
#include "solver/gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace solver::guarantee {
namespace {

using Block = MutableDenseView<double>;

constexpr std::int64_t eliminated_rows = 64;

/// Products of fewer rows are made on the host: to bring them to a device takes longer.
constexpr std::int64_t least_rows_on_device = 512;

Block block(const Block& a, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
    return {rows, columns, a.row_stride, a.column_stride, a.data + row * a.row_stride + column * a.column_stride};
}

DenseMatrix<double> zero_matrix(std::int64_t rows, std::int64_t columns) {
    return {rows, columns, std::vector<double>(static_cast<std::size_t>(rows * columns))};
}

void eliminate(const Block& a) {
    std::vector<double> rows;
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < a.rows; ++j) rows.push_back(a.data[i * a.row_stride + j * a.column_stride]);
    invert(rows, static_cast<std::size_t>(a.rows));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < a.rows; ++j) a.data[i * a.row_stride + j * a.column_stride] = rows[i * a.rows + j];
}

/// Replaces [P Q; R S] by its inverse, where T = S - R P^-1 Q is the Schur complement:
/// [P^-1 + P^-1 Q T^-1 R P^-1, -P^-1 Q T^-1; -T^-1 R P^-1, T^-1].
void invert_by_halves(const Block& a, const Device& device) {
    if (a.rows <= eliminated_rows) return eliminate(a);
    const Device& place = a.rows < least_rows_on_device ? Device::cpu() : device;
    const std::int64_t n = a.rows / 2, m = a.rows - n;
    const Block p = block(a, 0, 0, n, n), q = block(a, 0, n, n, m), r = block(a, n, 0, m, n), s = block(a, n, n, m, m);
    const auto add = [&](double alpha, const DenseView<double>& left, const DenseView<double>& right, double beta,
                         const Block& to) { gemm(alpha, left, right, beta, to, Accuracy::fast, place); };
    invert_by_halves(p, device);
    DenseMatrix<double> pq = zero_matrix(n, m), rp = zero_matrix(m, n);
    add(1, p, q, 0, pq.mutable_view());
    add(-1, r, pq, 1, s);
    invert_by_halves(s, device);
    add(1, r, p, 0, rp.mutable_view());
    add(-1, pq, s, 0, q);
    add(-1, s, rp, 0, r);
    add(-1, q, rp, 1, p);
}

DenseMatrix<double> dense(const CsrMatrix<double>& a) {
    DenseMatrix<double> result = zero_matrix(a.rows, a.columns);
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            result.values[i + a.column_indices[k] * a.rows] = a.values[k];
    return result;
}

}  // namespace

/// B, X, I - B X, and a fourth of that size for the next X, or for halves.
double bytes_of_full_inverse(std::int64_t n) { return 4.0 * sizeof(double) * static_cast<double>(n) * static_cast<double>(n); }

FullInverse::FullInverse(const CsrView<double>& a, const Preparation& preparation, const Device& device)
    : preparation_(preparation), device_(device) {
    const CsrMatrix<double> prepared = prepared_matrix(a, preparation, device);
    if (prepared.nonzeros() < a.nonzeros()) rounding_of_entries_ = unit_roundoff<double>;
    b_ = x_ = dense(prepared);
    constexpr double small = 0x1p-10;
    constexpr int most_steps = 2;
    invert_by_halves(x_.mutable_view(), device_);
    find_rest(Accuracy::fast);
    if (alpha_ <= small) return;
    find_rest(Accuracy::compensated);
    for (int step = 0; step < most_steps && alpha_ < 1 && alpha_ > small; ++step) {
        DenseMatrix<double> next = x_;
        gemm(1, x_, rest_, 1, next.mutable_view(), Accuracy::fast, device_);
        x_ = std::move(next);
        find_rest(Accuracy::compensated);
    }
}

void FullInverse::find_rest(Accuracy accuracy) {
    rest_ = zero_matrix(b_.rows, b_.rows);
    for (std::int64_t i = 0; i < b_.rows; ++i) rest_.values[i + i * b_.rows] = 1;
    gemm(-1, b_, x_, 1, rest_.mutable_view(), accuracy, device_);
    alpha_ = bound_of_rest(accuracy);
}

/// An element g of n + 1 terms is off by at most gamma_{n+3} (|B| |X| + I)_ij + (n + 1) mu in `fast`, mu = 2^-1074, and in
/// `compensated` by u |g| + gamma_1024^2 (|B| |X| + I)_ij + (n + 1) mu (accuracy.hpp). Products of column j add up to
/// 1 + sum_k c_k |x_kj|, c_k the sums of the columns of |B|. Entries of B may have been rounded below the smallest normal
/// number, by at most mu each, which adds n mu ||x_j||_1, and those that are sums of several of A by u |b| each. Sums of n
/// terms, in order, are off by a factor of 1 + n u, and (n + 3) u / gamma_{n+3} by one of 1 + 2 n u at most.
double FullInverse::bound_of_rest(Accuracy accuracy) const {
    const std::int64_t n = b_.rows;
    const auto terms = static_cast<double>(n);
    const double of_sums = accuracy == Accuracy::fast ? (terms + 3) * unit_roundoff<double> : 0x1p-85;
    const double of_products = of_sums + rounding_of_entries_;
    const double roundings = 1 + (terms + 3) * 8 * unit_roundoff<double>;
    std::vector<double> sums(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k)
        for (std::int64_t i = k * n; i < (k + 1) * n; ++i) sums[k] += magnitude(b_.values[i]);
    return largest(n, [&](std::int64_t j) {
        double rest = 0, x = 0, products = 1;
        for (std::int64_t i = 0; i < n; ++i) {
            const double size = magnitude(x_.values[i + j * n]);
            rest += size_before_rounding(rest_.values[i + j * n]);
            x += size;
            products += sums[i] * size;
        }
        const double of_underflow = terms * smallest_subnormal<double> * (terms + 2 + x) + smallest_subnormal<double>;
        return (rest + of_products * products + of_underflow) * roundings * inflation;
    });
}

Certificate FullInverse::certificate() const {
    Certificate certificate;
    const double divisor = below(below(1 - alpha_));
    if (!(divisor > 0)) {
        certificate.reason =
            fmt::format("an approximate inverse by blocks is off by {:.1e} of the identity, 1 or more", alpha_);
        return certificate;
    }
    certificate.status = ProofStatus::proven;
    certificate.reason = "inverse by blocks";
    certificate.adds_up = true;
    const auto n = static_cast<std::size_t>(b_.rows);
    std::vector<double> most(n);
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t l = 0; l < n; ++l) most[l] = std::max(most[l], magnitude(x_.values[l + j * n]));
    certificate.reach.resize(n);
    for (std::size_t l = 0; l < n; ++l) {
        const std::int32_t column = preparation_.column_order[l];
        const double reach = std::ldexp(most[l] / divisor, preparation_.column_exponents[column]);
        certificate.reach[column] = reach * inflation + smallest_subnormal<double>;
    }
    for (const std::int32_t exponent : preparation_.row_exponents) certificate.weights.push_back(std::ldexp(1.0, exponent));
    return certificate;
}

void FullInverse::apply(std::span<const double> r, std::span<double> d) const {
    const std::int64_t n = b_.rows;
    DenseMatrix<double> scaled = zero_matrix(n, 1), sum = zero_matrix(n, 1);
    for (std::int64_t k = 0; k < n; ++k) {
        const std::int32_t row = preparation_.row_order[k];
        scaled.values[k] = std::ldexp(r[row], preparation_.row_exponents[row]);
    }
    gemm(1, x_, scaled, 0, sum.mutable_view(), Accuracy::compensated);
    for (std::int64_t l = 0; l < n; ++l) {
        const std::int32_t column = preparation_.column_order[l];
        d[column] = std::ldexp(sum.values[l], preparation_.column_exponents[column]);
    }
}

}  // namespace solver::guarantee
