#include "guarantee/row_bounds.hpp"

#include "core/huge_pages.hpp"
#include "cpu/elementwise.hpp"
#include "guarantee/comparison_matrix.hpp"
#include "guarantee/norms.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace solver::guarantee {
namespace {

/// Each of the n terms, none of them negative, has at most n roundings to 1 - u or more, and a product may lose half of a
/// subnormal: the sum is at most (computed + n subnormals) / (1 - u)^n, and 1 / (1 - u)^n <= 1 + 2 n u for n u <= 1/4.
template <class T>
double bound_of_row(const CsrView<T>& a, std::int64_t i, double size, std::span<const double> bounds) {
    double sum = size;
    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
        const std::int32_t j = a.column_indices[k];
        if (j != i) sum += magnitude(static_cast<double>(a.values[k])) * bounds[j];
    }
    const double diagonal = diagonal_below(a, i), terms = static_cast<double>(a.row_length(i) + 1);
    if (!(diagonal > 0)) return std::numeric_limits<double>::infinity();
    const double most = (sum + terms * smallest_subnormal<double>)*(1 + 2 * terms * unit_roundoff<double>);
    return most / diagonal * inflation + smallest_subnormal<double>;
}

}  // namespace

template <class T>
void sharpen_by_rows(const CsrView<T>& a, std::span<const double> sizes, std::span<double> bounds) {
    std::vector<double> sharper = zeros<double>(a.rows, Device::cpu().threads());
    bool has_fallen = true;
    for (int sweep = 0; sweep < most_sweeps && has_fallen; ++sweep) {
        cpu::update(std::span(sharper), Device::cpu(), [&](double, std::int64_t i) {
            const double found = bound_of_row(a, i, sizes[i], bounds);
            return found < bounds[i] ? found : bounds[i];  // not where it is NaN
        });
        has_fallen = largest(a.rows, [&](std::int64_t i) { return sharper[i] < bounds[i] * 0.75 ? 1.0 : 0.0; }) > 0;
        cpu::update(bounds, Device::cpu(), [&](double, std::int64_t i) { return sharper[i]; });
    }
}

template void sharpen_by_rows(const CsrView<float>&, std::span<const double>, std::span<double>);
template void sharpen_by_rows(const CsrView<double>&, std::span<const double>, std::span<double>);

}  // namespace solver::guarantee
