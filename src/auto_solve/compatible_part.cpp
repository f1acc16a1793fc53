#include "auto_solve/compatible_part.hpp"

#include "auto_solve/scaled_residual.hpp"
#include "auto_solve/vector_copy.hpp"
#include "core/column_norms.hpp"
#include "core/krylov/updates.hpp"
#include "preconditioner/check.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"
#include "solver/views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace solver {
namespace {

/// Every number, or real or imaginary parts.
bool is_of_kind(std::int64_t i, std::int64_t kind, std::int64_t kinds) { return kinds == 1 || i % kinds == kind; }

/// The elements of v in a component that are of one kind.
template <class To, class T>
std::vector<To> gathered(std::span<const T> v, std::span<const std::int64_t> component, std::int64_t kind = 0,
                         std::int64_t kinds = 1) {
    std::vector<To> some;
    some.reserve(component.size() / static_cast<std::size_t>(kinds) + 1);
    for (const std::int64_t i : component)
        if (is_of_kind(i, kind, kinds)) some.push_back(static_cast<To>(v[i]));
    return some;
}

const char* symmetry_of(const MatrixFacts& facts, bool is_complex) {
    if (facts.is_symmetric) return is_complex ? "Hermitian" : "symmetric";
    return is_complex && facts.is_complex_symmetric ? "its own transpose" : nullptr;
}

}  // namespace

template <class T>
CompatibleParts<T>::CompatibleParts(const SpmvPlan<T>& a, const MatrixFacts& facts, std::vector<Unknown<T>>& unknowns,
                                    const KrylovOptions& options)
    : a_(a),
      host_(host_of(a.device())),
      symmetry_(symmetry_of(facts, options.complex_scalars)),
      kinds_(options.complex_scalars ? 2 : 1) {
    if (!may_have_null_space(facts)) return;
    components_ = connected_parts(a.matrix());
    for (std::int64_t c = 0; c < components_.count(); ++c) null_space_.push_back(components_[c]);
    for (std::size_t j = 0; j < unknowns.size(); ++j) add_if_needed(j, unknowns[j], options);
    for (const Part& part : parts_) {
        const T* const begin = part.of_caller.on_device ? part.there.data() : part.here.data();
        unknowns[part.column].b = {begin, part.of_caller.b.size()};
    }
}

/// Columns that add up to zero are rows where A is its own transpose. Else e'A e, which is 0 for them, is looked at before any
/// column is.
template <class T>
bool CompatibleParts<T>::may_have_null_space(const MatrixFacts& facts) const {
    constexpr double nothing = 0x1p-20;
    if (facts.rows == 0 || !facts.is_finite) return false;
    if (facts.zero_sums == facts.rows || facts.empty_rows > 0) return true;
    if (symmetry_ != nullptr || !facts.may_add_up_to_zero()) return false;
    std::vector<T> sums(static_cast<std::size_t>(facts.rows));
    for (std::int64_t kind = 0; kind < kinds_; ++kind) {
        a_.multiply(T(1), constants(kind), T(0), sums, Accuracy::exact);
        const auto total = static_cast<double>(sum(sums, Accuracy::exact, host_));
        for (T& element : sums) element = magnitude(element);
        if (!(std::abs(total) <= nothing * static_cast<double>(sum(sums, Accuracy::exact, host_)))) return false;
    }
    return true;
}

/// e
template <class T>
std::vector<T> CompatibleParts<T>::constants(std::int64_t kind) const {
    std::vector<T> e(static_cast<std::size_t>(a_.rows()));
    for (std::size_t j = 0; j < e.size(); ++j) e[j] = is_of_kind(static_cast<std::int64_t>(j), kind, kinds_) ? T(1) : T(0);
    return e;
}

template <class T>
void CompatibleParts<T>::narrow_null_space() {
    if (!image_.images.empty()) return;
    image_.column_norms = one_norms_of_columns(a_);
    const CsrMatrix<T> transposed = symmetry_ != nullptr ? CsrMatrix<T>() : transpose(a_.matrix(), host_);
    for (std::int64_t kind = 0; kind < kinds_; ++kind) {
        const std::vector<T> e = constants(kind);
        std::vector<T>& image = image_.images.emplace_back(e.size());
        if (symmetry_ != nullptr)
            a_.multiply(T(1), e, T(0), image, Accuracy::exact);
        else
            SpmvPlan<T>(transposed, host_).multiply(T(1), e, T(0), image, Accuracy::exact);
        image_.is_zero = image_.is_zero && std::ranges::all_of(image, [](T element) { return element == T(0); });
    }
    std::erase_if(null_space_, [&](Component component) { return !is_in_null_space(component); });
}

/// By |s_j| / w_j, w_j = sum_i |a_ij|.
template <class T>
bool CompatibleParts<T>::is_in_null_space(Component component) const {
    constexpr double many = 16;
    if (image_.is_zero) return true;
    std::vector<double> relative;
    for (const std::vector<T>& image : image_.images)
        for (const std::int64_t j : component) {
            const double element = std::abs(static_cast<double>(image[j]));
            relative.push_back(element == 0 ? 0 : element / static_cast<double>(image_.column_norms[j]));
        }
    const double mean =
        norm2(relative, Accuracy::exact, host_) / std::sqrt(static_cast<double>(relative.size()) / image_.images.size());
    return mean <= unit_roundoff<T> && *std::ranges::max_element(relative) <= many * unit_roundoff<T>;
}

template <class T>
void CompatibleParts<T>::add_if_needed(std::size_t column, const Unknown<T>& unknown, const KrylovOptions& options) {
    constexpr double harmless = 0x1p-10;
    Part part{column, unknown, 0, 0, fetched(unknown.b, a_.device(), unknown.on_device), {}};
    const double size = norm2(std::span<const T>(part.here), Accuracy::exact, host_);
    part.tolerance = std::max(options.tolerance, options.absolute_tolerance / size);
    const auto is_harmless = [&] {
        part.mean = size_of_means(part.here) / size;
        return !(part.mean > harmless * part.tolerance) || !std::isfinite(part.mean);
    };
    if (is_harmless()) return;
    narrow_null_space();
    if (is_harmless()) return;
    if (is_image_of_constants(part.here, part.tolerance) || relative_residual(unknown) <= part.tolerance) return;
    take_out_means(part.here);
    if (unknown.on_device)
        part.there = cuda::DeviceArray<T>(a_.device().index(), std::span<const T>(part.here), "the compatible part of b");
    parts_.push_back(std::move(part));
}

/// ||(e'b / sqrt(e'e))||, over all vectors e.
template <class T>
double CompatibleParts<T>::size_of_means(std::span<const T> b) const {
    std::vector<double> sizes;
    for (const Component component : null_space_)
        for (std::int64_t kind = 0; kind < kinds_; ++kind) {
            const std::vector<T> some = gathered<T>(b, component, kind, kinds_);
            if (some.empty()) continue;
            sizes.push_back(static_cast<double>(sum(some, Accuracy::exact, host_)) /
                            std::sqrt(static_cast<double>(some.size())));
        }
    return norm2(sizes, Accuracy::exact, host_);
}

/// Twice: rounding of the first means may be more than what is left.
template <class T>
void CompatibleParts<T>::take_out_means(std::span<T> b) const {
    for (const Component component : null_space_)
        for (std::int64_t kind = 0; kind < kinds_; ++kind)
            for (int time = 0; time < 2; ++time) {
                const std::vector<T> some = gathered<T>(std::span<const T>(b), component, kind, kinds_);
                const T mean = div_rn(sum(some, Accuracy::exact, host_), static_cast<T>(some.size()));
                for (const std::int64_t i : component)
                    if (is_of_kind(i, kind, kinds_)) b[i] = add_rn(b[i], -mean);
            }
}

template <class T>
bool CompatibleParts<T>::is_image_of_constants(std::span<const T> b, double tolerance) const {
    if (image_.is_zero || symmetry_ == nullptr) return false;
    std::vector<double> rests;
    for (std::int64_t c = 0; c < components_.count(); ++c) {
        std::vector<double> rest = gathered<double>(b, components_[c]);
        for (const std::vector<T>& image : image_.images) {
            std::vector<double> direction = gathered<double>(std::span<const T>(image), components_[c]);
            const double length = norm2(direction, Accuracy::exact, host_);
            if (length == 0) continue;
            for (double& element : direction) element /= length;
            const double along = dot(rest, direction, Accuracy::exact, host_);
            for (std::size_t j = 0; j < rest.size(); ++j) rest[j] = subtracted(rest[j], along, direction[j]);
        }
        rests.push_back(norm2(rest, Accuracy::exact, host_));
    }
    return norm2(rests, Accuracy::exact, host_) <= tolerance * norm2(b, Accuracy::exact, host_);
}

template <class T>
void CompatibleParts<T>::finish(SolveReport& report, const std::function<SolveResult(std::size_t, double)>& solve_on) const {
    constexpr double safely = 0.99;
    for (const Part& part : parts_) {
        SolveResult& result = report.results[part.column];
        const bool may_be_met = result.status == SolveStatus::converged && part.mean < part.tolerance;
        if (!may_be_met || relative_residual(part.of_caller) <= part.tolerance) continue;
        const double left_to_meet = safely * std::sqrt((part.tolerance - part.mean) * (part.tolerance + part.mean));
        const SolveResult last = solve_on(part.column, left_to_meet);
        result.recursive_residual = last.recursive_residual;
        result.iterations += last.iterations;
        result.replacements += last.replacements;
        result.restarts += last.restarts;
    }
}

template <class T>
void CompatibleParts<T>::tell(SolveReport& report) const {
    double largest_mean = 0;
    const bool is_solved = std::ranges::all_of(  // for b without what A cannot reach
        report.results, [](const SolveResult& result) { return result.status == SolveStatus::converged; });
    for (const Part& part : parts_) {
        SolveResult& result = report.results[part.column];
        result.relative_residual = relative_residual(part.of_caller);
        if (result.relative_residual <= part.tolerance) continue;
        if (result.status == SolveStatus::converged) result.status = SolveStatus::stagnated;
        if (part.mean > part.tolerance) largest_mean = std::max(largest_mean, part.mean);
    }
    if (largest_mean == 0 || (!is_solved && !report.obstacle.empty())) return;
    constexpr const char* least = ", for which ||b - A x|| is least but for the tolerance";
    if (std::ranges::all_of(null_space_, [](Component component) { return component.size() == 1; })) {
        const std::int64_t rows = std::ssize(null_space_) / kinds_;
        report.obstacle = fmt::format(
            "A is singular: it has {} empty row{}, the first is {} (counted from 1{}), where b - A x keeps what b has, {:.1e} "
            "||b||, whatever x is; this x is for b without that{}",
            rows, rows == 1 ? "" : "s", null_space_.front().front() / kinds_ + 1, kinds_ == 1 ? "" : ", of the complex matrix",
            largest_mean, is_solved ? least : "");
        return;
    }
    const bool is_sure = image_.is_zero;
    const bool is_whole = components_.count() == 1;
    const std::string where =
        is_whole ? "" : fmt::format(" in {} of the {} parts into which A falls", null_space_.size(), components_.count());
    const std::string why =
        symmetry_ != nullptr ? fmt::format("it is {}, and its rows add up to zero", symmetry_) : "its columns add up to zero";
    report.obstacle = fmt::format(
        "A is singular{}: {}{}, so that b - A x keeps the mean of b{}, {:.1e} ||b||{}; this x is for b less {}{}",
        is_sure ? "" : " as far as this precision can tell", why, is_sure ? "" : " but for rounding", where, largest_mean,
        is_sure ? ", whatever x is" : "", is_whole ? "its mean" : "these means", is_sure && is_solved ? least : "");
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
