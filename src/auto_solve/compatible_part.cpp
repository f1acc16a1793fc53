#include "auto_solve/compatible_part.hpp"

#include "auto_solve/scaled_residual.hpp"
#include "auto_solve/vector_copy.hpp"
#include "core/column_norms.hpp"
#include "core/krylov/updates.hpp"
#include "preconditioner/check.hpp"
#include "solver/device.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

namespace solver {
namespace {

/// The elements of one kind: every one, or real or imaginary parts.
template <class T>
std::vector<T> of_kind(std::span<const T> v, int kind, int kinds) {
    std::vector<T> some;
    some.reserve(v.size() / static_cast<std::size_t>(kinds) + 1);
    for (std::size_t i = static_cast<std::size_t>(kind); i < v.size(); i += static_cast<std::size_t>(kinds))
        some.push_back(v[i]);
    return some;
}

/// ||(e'v / sqrt(e'e))||, over all vectors e; exact sums, on a device where v lies there.
template <class T>
double size_of_means(const SpmvPlan<T>& a, const Unknown<T>& unknown, int kinds) {
    const std::span<const T> b = unknown.b;
    const double root = std::sqrt(static_cast<double>(b.size()) / kinds);
    if (kinds == 1)
        return std::abs(static_cast<double>(sum(b, Accuracy::exact, unknown.on_device ? a.device() : host_of(a.device())))) /
               root;
    const std::vector<T> here = fetched(b, a.device(), unknown.on_device);
    std::vector<double> sizes;
    for (int kind = 0; kind < kinds; ++kind)
        sizes.push_back(static_cast<double>(sum(of_kind(std::span(here), kind, kinds), Accuracy::exact, host_of(a.device()))) /
                        root);
    return norm2(sizes, Accuracy::exact);
}

/// Taken out twice: rounding of the first means may be more than what is left.
template <class T>
void take_out_means(std::span<T> v, int kinds, const Device& host) {
    for (int time = 0; time < 2; ++time)
        for (int kind = 0; kind < kinds; ++kind) {
            const std::vector<T> some = of_kind(std::span<const T>(v), kind, kinds);
            const T mean = div_rn(sum(some, Accuracy::exact, host), static_cast<T>(some.size()));
            for (std::size_t i = static_cast<std::size_t>(kind); i < v.size(); i += static_cast<std::size_t>(kinds))
                v[i] = add_rn(v[i], -mean);
        }
}

}  // namespace

template <class T>
CompatibleParts<T>::CompatibleParts(const SpmvPlan<T>& a, const MatrixFacts& facts, std::vector<Unknown<T>>& unknowns,
                                    const KrylovOptions& options)
    : a_(a),
      symmetry_(!facts.is_symmetric       ? "its own transpose"
                : options.complex_scalars ? "Hermitian"
                                          : "symmetric"),
      kinds_(options.complex_scalars ? 2 : 1) {
    const bool is_own_transpose = facts.is_symmetric || (options.complex_scalars && facts.is_complex_symmetric);
    if (!is_own_transpose || facts.rows == 0 || facts.zero_sums < facts.rows) return;
    for (std::size_t j = 0; j < unknowns.size(); ++j) add_if_needed(j, unknowns[j], options);
    for (const Part& part : parts_) {
        const T* const begin = part.of_caller.on_device ? part.there.data() : part.here.data();
        unknowns[part.column].b = {begin, part.of_caller.b.size()};
    }
}

template <class T>
void CompatibleParts<T>::add_if_needed(std::size_t column, const Unknown<T>& unknown, const KrylovOptions& options) {
    constexpr double harmless = 0x1p-10;
    const double size = norm2(unknown.b, Accuracy::exact, unknown.on_device ? a_.device() : host_of(a_.device()));
    const double mean = size_of_means(a_, unknown, kinds_) / size;
    const double tolerance = std::max(options.tolerance, options.absolute_tolerance / size);
    if (!(mean > harmless * tolerance) || !std::isfinite(mean) || !has_constants_in_null_space()) return;
    Part part{column, unknown, tolerance, mean, fetched(unknown.b, a_.device(), unknown.on_device), {}};
    if (is_image_of_constants(part.here, tolerance) || relative_residual(unknown) <= tolerance) return;
    take_out_means(std::span(part.here), kinds_, host_of(a_.device()));
    if (unknown.on_device)
        part.there = cuda::DeviceArray<T>(a_.device().index(), std::span<const T>(part.here), "the compatible part of b");
    parts_.push_back(std::move(part));
}

template <class T>
auto CompatibleParts<T>::image_of_constants() const -> ImageOfConstants {
    const Device host = host_of(a_.device());
    const std::vector<T> column_norms = one_norms_of_columns(a_);
    const std::size_t n = column_norms.size(), kinds = static_cast<std::size_t>(kinds_);
    std::vector<T> e(n), image(n);
    std::vector<double> relative;
    ImageOfConstants found;
    for (std::size_t kind = 0; kind < kinds; ++kind) {
        for (std::size_t j = 0; j < n; ++j) e[j] = j % kinds == kind ? T(1) : T(0);
        a_.multiply(T(1), e, T(0), image, Accuracy::exact);
        const double size = norm2(std::span<const T>(image), Accuracy::exact, host);
        if (size > 0) found.directions.emplace_back(image.begin(), image.end());
        for (std::size_t j = 0; j < n; ++j) {
            const double element = static_cast<double>(image[j]);
            relative.push_back(element == 0 ? 0 : std::abs(element) / static_cast<double>(column_norms[j]));
            if (size > 0) found.directions.back()[j] /= size;
        }
    }
    found.mean = norm2(relative, Accuracy::exact, host) / std::sqrt(static_cast<double>(n));
    found.largest = *std::ranges::max_element(relative);
    return found;
}

template <class T>
bool CompatibleParts<T>::has_constants_in_null_space() {
    constexpr double many = 16;
    if (!image_) image_ = image_of_constants();
    return image_->mean <= unit_roundoff<T> && image_->largest <= many * unit_roundoff<T>;
}

template <class T>
bool CompatibleParts<T>::is_image_of_constants(std::span<const T> b, double tolerance) const {
    if (image_->directions.empty()) return false;
    const Device host = host_of(a_.device());
    std::vector<double> rest(b.begin(), b.end());
    const double size = norm2(rest, Accuracy::exact, host);
    for (const std::vector<double>& direction : image_->directions) {
        const double along = dot(rest, direction, Accuracy::exact, host);
        for (std::size_t j = 0; j < rest.size(); ++j) rest[j] = subtracted(rest[j], along, direction[j]);
    }
    return norm2(rest, Accuracy::exact, host) <= tolerance * size;
}

template <class T>
void CompatibleParts<T>::tell(SolveReport& report) const {
    double largest_mean = 0;
    for (const Part& part : parts_) {
        SolveResult& result = report.results[part.column];
        result.relative_residual = relative_residual(part.of_caller);
        if (result.relative_residual <= part.tolerance) continue;
        if (result.status == SolveStatus::converged) result.status = SolveStatus::stagnated;
        if (part.mean > part.tolerance) largest_mean = std::max(largest_mean, part.mean);
    }
    if (largest_mean == 0) return;
    const bool is_singular = image_->directions.empty();
    report.obstacle = fmt::format(
        "A is singular{}: it is {}, and its rows add up to zero{}, so that b - A x keeps the mean of b, {:.1e} ||b||{}; this x "
        "is "
        "for b less its mean{}",
        is_singular ? "" : " as far as this precision can tell", symmetry_, is_singular ? "" : " but for rounding",
        largest_mean, is_singular ? ", whatever x is" : "",
        is_singular ? ", for which ||b - A x|| is least but for the tolerance" : "");
}

template <class T>
double CompatibleParts<T>::relative_residual(const Unknown<T>& unknown) const {
    const std::vector<T> b = fetched(unknown.b, a_.device(), unknown.on_device);
    std::vector<T> x = fetched(std::span<const T>(unknown.x), a_.device(), unknown.on_device);
    std::vector<T> x_low = fetched(std::span<const T>(unknown.x_low), a_.device(), unknown.on_device);
    return ScaledResidual<T>(a_, {b, x, x_low, false}).relative();
}

template class CompatibleParts<float>;
template class CompatibleParts<double>;

}  // namespace solver
