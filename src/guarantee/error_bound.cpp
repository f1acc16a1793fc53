#include "core/floating_point_guard.hpp"
#include "core/huge_pages.hpp"
#include "core/matrix_hash.hpp"
#include "core/nonzero_elements.hpp"
#include "core/sorted_rows.hpp"
#include "cpu/elementwise.hpp"
#include "guarantee/backward_error.hpp"
#include "guarantee/norms.hpp"
#include "guarantee/row_bounds.hpp"
#include "solver/error.hpp"
#include "solver/guarantee.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace solver {
namespace {

template <class T>
void check_vectors(const char* caller, const SpmvPlan<T>& a, std::size_t b, std::size_t x, std::size_t x_low) {
    const auto n = static_cast<std::size_t>(a.rows());
    if (a.rows() == a.columns() && b == n && x == n && (x_low == 0 || x_low == n)) return;
    throw DimensionMismatch(
        fmt::format("{}: A is {} x {}, b has {} elements, x {} and x_low {}; expected a square A, as many elements each, and "
                    "x_low empty or like x",
                    caller, a.rows(), a.columns(), b, x, x_low));
}

/// Of the entries that A has now: a plan keeps the nonzero elements that a dense one had when they were first asked for.
template <class T>
std::uint64_t hash_as_it_is(const SpmvPlan<T>& a) {
    if (a.dense() == nullptr) return hash_of(a.matrix());
    return hash_of(nonzero_elements(*a.dense(), a.device().threads()).view());
}

/// At most (|A| |x + x_low| + |b|)_i, of an A whose repeated entries were summed, in doubles, with one rounding. Of the n terms
/// each has at most n + 8 roundings to 1 + u or less, or one that adds half of a subnormal.
template <class V, class T>
double terms_below(const CsrView<V>& a, std::int64_t i, std::span<const T> b, std::span<const T> x, std::span<const T> x_low) {
    constexpr double most = std::numeric_limits<double>::max();
    double sum = static_cast<double>(magnitude(b[i]));
    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
        const std::int32_t j = a.column_indices[k];
        const double whole = guarantee::sum_in_range(x[j], x_low.empty() ? T(0) : x_low[j]);
        sum += std::min(magnitude(static_cast<double>(a.values[k])), most) * magnitude(whole);
    }
    const auto terms = static_cast<double>(a.row_length(i) + 1);
    sum = std::min(sum, most);  // what is beyond is more
    return std::max(0.0, sum * (1 - (terms + 8) * unit_roundoff<double>)-terms * smallest_subnormal<double>);
}

/// Whether b_i and all products of the row are 0.
template <class V, class T>
bool has_no_terms(const CsrView<V>& a, std::int64_t i, std::span<const T> b, std::span<const T> x, std::span<const T> x_low) {
    bool found = b[i] != 0;
    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
        const std::int32_t j = a.column_indices[k];
        found = found || (a.values[k] != 0 && (x[j] != 0 || (!x_low.empty() && x_low[j] != 0)));
    }
    return !found;
}

/// Of these numbers other than 0, the exponent of the smallest; large where all are 0.
template <class T>
int least_exponent(std::span<const T> values, int least = std::numeric_limits<double>::max_exponent) {
    for (const T value : values)
        if (value != 0) least = std::min(least, std::ilogb(value));
    return least;
}

/// What stands where a column of A is empty does not show in any residual.
template <class T>
bool are_finite(std::span<const T> values) {
    return std::ranges::all_of(values, [](T value) { return is_finite(value); });
}

/// Whether r = b - A (x + x_low) is proven to be 0 by its roundings. Numbers of T with exponents of at least e and f are
/// multiples of 2^(e - p + 1) and 2^(f - p + 1), and every b_i one of the smallest number: where the products are, too, so is
/// r, which cannot then be rounded to 0 unless it is 0.
template <class T>
bool is_zero(std::span<const T> rounded, const CsrView<T>& a, std::span<const T> x, std::span<const T> x_low) {
    const auto is_other_than_0 = [](T r) { return r != 0; };
    if (std::ranges::any_of(rounded, is_other_than_0) || !are_finite(x) || !are_finite(x_low)) return false;
    const int of_products = least_exponent(a.values) + least_exponent(x_low, least_exponent(x));
    return of_products - 2 * (std::numeric_limits<T>::digits - 1) >= std::ilogb(smallest_subnormal<T>);
}

}  // namespace

template <class T>
double guarantee::backward_error_of(const CsrView<T>& a, std::span<const T> r, std::span<const T> b, std::span<const T> x,
                                    std::span<const T> x_low) {
    if (!are_finite(x) || !are_finite(x_low)) return std::numeric_limits<double>::infinity();
    if (is_zero<T>(r, a, x, x_low)) return 0;
    const auto of = [&](const auto& summed) {
        return largest(a.rows, [&](std::int64_t i) {
            const double terms = terms_below(summed, i, b, x, x_low);
            if (terms == 0 && has_no_terms(summed, i, b, x, x_low)) return 0.0;
            const double quotient = size_before_rounding(r[i]) / terms * inflation + smallest_subnormal<double>;
            return std::isfinite(r[i]) ? std::min(quotient, 1.0) : quotient;  // |b - A x| <= |A| |x| + |b|
        });
    };
    if (has_sorted_rows(a, Device::cpu())) return of(a);
    const CsrMatrix<double> summed = with_sorted_rows(convert<double>(a).view());
    return of(summed.view());
}

template <class T>
void error_bound(const SpmvPlan<T>& a, const Certificate& certificate, std::span<const T> b, std::span<const T> x,
                 std::span<const T> x_low, std::span<double> bounds) {
    check_vectors("error_bound", a, b.size(), x.size(), x_low.size());
    if (!certificate.is_proof() || certificate.reach.size() != b.size() || bounds.size() != b.size())
        throw InvalidArgument(fmt::format(
            "error_bound: the certificate is one of {} rows and says '{}', A has {} rows and bounds has {} elements; "
            "expected a proof for A, and as many bounds",
            certificate.reach.size(), to_string(certificate.status), a.rows(), bounds.size()));
    if (certificate.matrix_hash != 0 && certificate.matrix_hash != hash_as_it_is(a))
        throw InvalidArgument(
            "error_bound: the certificate was made for a matrix with other entries; expected that of A as it is now (certify)");
    const cpu::FloatingPointGuard guard;
    std::vector<T> r = zeros<T>(a.rows(), a.device().threads());
    a.residual(b, x, x_low, r, Accuracy::exact);
    if (is_zero<T>(r, a.matrix(), x, x_low)) return std::fill(bounds.begin(), bounds.end(), 0.0);
    std::vector<double> sizes = zeros<double>(a.rows(), Device::cpu().threads());
    cpu::update(std::span(sizes), Device::cpu(), [&](double, std::int64_t i) { return guarantee::size_before_rounding(r[i]); });
    const double norm = guarantee::norm_above(certificate, [&](std::int64_t i) { return sizes[i]; });
    cpu::update(bounds, Device::cpu(), [&](double, std::int64_t i) {
        return certificate.reach[i] * norm * guarantee::inflation + smallest_subnormal<double>;
    });
    guarantee::sharpen_by_rows<T>(a.matrix(), sizes, bounds);
}

template <class T>
double backward_error(const SpmvPlan<T>& a, std::span<const T> b, std::span<const T> x, std::span<const T> x_low) {
    check_vectors("backward_error", a, b.size(), x.size(), x_low.size());
    const cpu::FloatingPointGuard guard;
    std::vector<T> r = zeros<T>(a.rows(), a.device().threads());
    a.residual(b, x, x_low, r, Accuracy::exact);
    return guarantee::backward_error_of<T>(a.matrix(), r, b, x, x_low);
}

template double guarantee::backward_error_of(const CsrView<float>&, std::span<const float>, std::span<const float>,
                                             std::span<const float>, std::span<const float>);
template double guarantee::backward_error_of(const CsrView<double>&, std::span<const double>, std::span<const double>,
                                             std::span<const double>, std::span<const double>);
template void error_bound(const SpmvPlan<float>&, const Certificate&, std::span<const float>, std::span<const float>,
                          std::span<const float>, std::span<double>);
template void error_bound(const SpmvPlan<double>&, const Certificate&, std::span<const double>, std::span<const double>,
                          std::span<const double>, std::span<double>);
template double backward_error(const SpmvPlan<float>&, std::span<const float>, std::span<const float>, std::span<const float>);
template double backward_error(const SpmvPlan<double>&, std::span<const double>, std::span<const double>,
                               std::span<const double>);

}  // namespace solver
