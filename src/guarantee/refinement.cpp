#include "guarantee/refinement.hpp"

#include "core/connected_parts.hpp"
#include "core/huge_pages.hpp"
#include "core/multigrid/scale.hpp"
#include "cpu/elementwise.hpp"
#include "guarantee/norms.hpp"
#include "guarantee/row_bounds.hpp"
#include "guarantee/structural_zeros.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

namespace solver::guarantee {
namespace {

constexpr int most_refinements = 20;

/// From here on down a residual is computed anew, scaled, before it underflows.
template <class T>
inline constexpr double smallest_residual = 0x1p-700;
template <>
inline constexpr double smallest_residual<float> = 0x1p-70;

/// The power of two that brings this into [1, 2), as far as T has it and its inverse.
template <class T>
double scale_to_one(double size) {
    const double highest = std::is_same_v<T, double> ? 0x1p1000 : 0x1p100;
    return std::clamp(amg::scale_of(std::bit_cast<std::uint64_t>(size)), 1 / highest, highest);
}

/// How many components were decided, and how.
struct Counts {
    std::int64_t undecided = 0, ties = 0, zeros = 0, dropped = 0;
    std::vector<std::int64_t> first_undecided;

    void add(const Counts& other) {
        undecided += other.undecided;
        ties += other.ties;
        zeros += other.zeros;
        dropped += other.dropped;
        first_undecided.insert(first_undecided.end(), other.first_undecided.begin(), other.first_undecided.end());
    }
    void add(Decision decision, std::int64_t i) {
        ties += decision == Decision::tie ? 1 : 0;
        zeros += decision == Decision::zero || decision == Decision::dropped ? 1 : 0;
        dropped += decision == Decision::dropped ? 1 : 0;
        if (decision != Decision::undecided) return;
        ++undecided;
        if (first_undecided.size() < most_named_components) first_undecided.push_back(i);
    }
};

template <class T>
class Refinement {
public:
    Refinement(const SpmvPlan<T>& a, const Certificate& certificate, const Corrector<T>& corrector, std::span<const T> b,
               std::span<T> x)
        : a_(a),
          certificate_(certificate),
          corrector_(corrector),
          b_(b),
          x_(x),
          low_(new_vector()),
          r_(new_vector()),
          d_(new_vector()),
          d_low_(new_vector()),
          rounded_(new_vector()),
          residual_(zeros<double>(size(), Device::cpu().threads())),
          radius_(zeros<double>(size(), Device::cpu().threads())),
          is_open_(static_cast<std::size_t>(size())) {}

    SolutionProof run() {
        is_zero_ = structural_zeros(a_, b_);
        drop_structural_zeros(x_);
        std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
        double smallest = std::numeric_limits<double>::infinity(), first = 0;
        int without_gain = 0;
        while (proof_.refinements < most_refinements && without_gain < 2) {
            const double norm = correct();
            decide_all();
            if (counts_.undecided > 0 && counts_.undecided >= fewest && norm >= smallest / 2) decide_by_rows();
            accept_correction();
            if (counts_.undecided == 0) break;
            const bool gained = counts_.undecided < fewest || norm < smallest / 2;
            without_gain = gained ? 0 : without_gain + 1;
            fewest = std::min(fewest, counts_.undecided);
            smallest = std::min(smallest, norm);
            if (proof_.refinements == 1) first = norm;
            if (!gained && (falls_apart() || (smallest < first && begin_third()))) {  // what is open may still get on
                without_gain = 0;
                smallest = std::numeric_limits<double>::infinity();
            }
        }
        cpu::update(x_, Device::cpu(), [&](T, std::int64_t i) { return rounded_[i]; });
        return summary();
    }

    /// |x* - x - l| <= |d + d_low| / scale + what bounds the error after this correction. Bounds that are lower stay.
    void lower(std::span<const T> low, std::span<double> bounds) {
        std::copy(low.begin(), low.end(), low_.begin());
        correct();
        unscale_residual();
        sharpen_by_rows<T>(a_.matrix(), residual_, radius_);
        cpu::update(bounds, Device::cpu(), [&](double bound, std::int64_t i) {
            const double size = static_cast<double>(magnitude(d_[i])) + static_cast<double>(magnitude(d_low_[i]));
            const double found = (unscaled(size) + radius_[i]) * inflation;
            return found < bound ? found : bound;  // not where it is NaN
        });
    }

private:
    std::int64_t size() const { return static_cast<std::int64_t>(b_.size()); }
    std::vector<T> new_vector() const { return zeros<T>(size(), Device::cpu().threads()); }

    bool is_structural_zero(std::int64_t i) const { return !is_zero_.empty() && is_zero_[i] != 0; }

    void drop_structural_zeros(std::span<T> v) const {
        if (is_zero_.empty()) return;
        cpu::update(v, Device::cpu(), [&](T value, std::int64_t i) { return is_zero_[i] != 0 ? T(0) : value; });
    }

    /// r = scale (b - A (x + l + m)), about 1 in size; how far it is off, beside half an ulp each, is returned.
    double find_residual() {
        if (!third_.empty()) std::copy(x_.begin(), x_.end(), twice_x_.begin());
        if (!third_.empty()) std::copy(third_.begin(), third_.end(), twice_x_.begin() + size());
        if (!third_.empty()) std::copy(low_.begin(), low_.end(), twice_low_.begin());
        const SpmvPlan<T>& a = third_.empty() ? a_ : *of_twice_;
        const std::span<const T> x = third_.empty() ? std::span<const T>(x_) : twice_x_;
        const std::span<const T> low = third_.empty() ? low_ : twice_low_;
        a.residual(b_, x, low, r_, Accuracy::exact);
        const auto size_of_r = [&](std::int64_t i) { return static_cast<double>(magnitude(r_[i])); };
        const double found = largest(size(), size_of_r);
        scale_ = scale_to_one<T>(found);
        const auto factor = static_cast<T>(scale_);
        if (found < smallest_residual<T>) {
            const SpmvTask<T> task{.alpha = -factor, .x = x, .x_low = low, .beta = factor, .y_in = b_, .y = r_};
            a.multiply(std::span(&task, 1), Accuracy::exact);
            return smallest_subnormal<T>;
        }
        cpu::update(std::span(r_), Device::cpu(), [&](T r, std::int64_t) { return mul_rn(r, factor); });
        return smallest_subnormal<T> * (1 + scale_);
    }

    /// r = RN(r - A (d + d_low))
    void subtract_correction() {
        const bool is_pair = largest(size(), [&](std::int64_t i) { return d_low_[i] != 0 ? 1.0 : 0.0; }) > 0;
        const std::span<const T> low = is_pair ? std::span<const T>(d_low_) : std::span<const T>();
        const SpmvTask<T> task{.alpha = -1, .x = d_, .x_low = low, .beta = 1, .y_in = r_, .y = r_};
        a_.multiply(std::span(&task, 1), Accuracy::exact);
    }

    /// Whether A has several parts, which is found out once: true the first time, if it has.
    bool falls_apart() {
        if (parts_.count() > 0) return false;
        parts_ = connected_parts(a_.matrix());
        return parts_.count() > 1;
    }

    /// m, a third part of the solution, for what lies far below the largest component, whose l is no longer than 2^-106 of it;
    /// one rounding of b - A (x + l) - A m is that of [A A] times (x + l, m). True the first time, if there is room for it.
    bool begin_third() {
        if (!third_.empty() || size() > std::numeric_limits<std::int32_t>::max() / 2) return false;
        try {
            const CsrView<T>& a = a_.matrix();
            twice_ = {a.rows, 2 * a.columns, {0}, {}, {}};
            for (std::int64_t i = 0; i < a.rows; ++i) {
                for (const std::int64_t shift : {std::int64_t{0}, a.columns})
                    for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) {
                        twice_.column_indices.push_back(static_cast<std::int32_t>(a.column_indices[k] + shift));
                        twice_.values.push_back(a.values[k]);
                    }
                twice_.row_offsets.push_back(twice_.nonzeros());
            }
            of_twice_.emplace(twice_, a_.device());
            twice_x_.resize(static_cast<std::size_t>(2 * size()));
            twice_low_.resize(static_cast<std::size_t>(2 * size()));
            third_.resize(static_cast<std::size_t>(size()));
        } catch (const std::bad_alloc&) {
            return false;
        } catch (const ResourceLimit&) {
            return false;
        }
        return size() > 0;
    }

    /// Bounds the errors of some components by their part of the residual, beside which all others' are zero: where these are a
    /// part of A, (A^-1 r)_i depends on nothing else. Returns what their reach was multiplied by.
    template <class Index>
    double find_radius(std::int64_t count, const Index& index) {
        const auto size = [&](std::int64_t i) { return residual_[i]; };
        const double error = unscaled(norm_above(certificate_, count, index, size));
        cpu::for_each_range(count, Device::cpu(), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t k = begin; k < end; ++k)  // a row may have an entry that makes its error large
                radius_[index(k)] = certificate_.reach[index(k)] * error + smallest_subnormal<double>;
        });
        return error;
    }

    /// The largest of the parts that have an open component.
    double find_radius_by_parts() {
        double of_open = 0;
        for (std::int64_t p = 0; p < parts_.count(); ++p) {
            const std::span<const std::int64_t> members = parts_[p];
            const double error = find_radius(std::ssize(members), [&](std::int64_t k) { return members[k]; });
            if (std::ranges::any_of(members, [&](std::int64_t i) { return is_open_[i] != 0; }))
                of_open = std::max(of_open, error);
        }
        return of_open;
    }

    /// One correction, and bounds of the error that it leaves by the certificate, |error of component i| <= reach_i times what
    /// is returned.
    double correct() {
        const double unit = find_residual();
        cpu::update(std::span(residual_), Device::cpu(), [&](double, std::int64_t i) {
            return static_cast<double>(magnitude(r_[i])) * static_cast<double>(unit_roundoff<T>) + unit;
        });
        for (const std::span<T> d : {std::span(d_), std::span(d_low_)})
            cpu::update(d, Device::cpu(), [](T, std::int64_t) { return T(0); });
        proof_.iterations += corrector_(r_, d_, d_low_);
        ++proof_.refinements;
        drop_structural_zeros(d_);
        drop_structural_zeros(d_low_);
        subtract_correction();
        cpu::update(std::span(residual_), Device::cpu(),
                    [&](double size, std::int64_t i) { return (size + size_before_rounding(r_[i])) * inflation; });
        return parts_.count() > 1 ? find_radius_by_parts() : find_radius(size(), [](std::int64_t i) { return i; });
    }

    /// At most infinite, and not 0.
    double unscaled(double size) const {
        const double bound = size / scale_ * inflation + smallest_subnormal<double>;
        return is_finite(bound) ? bound : std::numeric_limits<double>::infinity();
    }

    void unscale_residual() {
        cpu::update(std::span(residual_), Device::cpu(), [&](double size, std::int64_t) { return unscaled(size); });
    }

    /// Where the certificate's bounds, those of the whole vector, do not get on.
    void decide_by_rows() {
        unscale_residual();
        sharpen_by_rows<T>(a_.matrix(), residual_, radius_);
        decide_all();
    }

    /// m + d / scale, as a number and what it leaves out. The scale is a power of two: the quotient is exact unless it
    /// underflows.
    Split<double> correction_at(std::int64_t i) const {
        const double d = static_cast<double>(d_[i]) / scale_;
        return third_.empty() ? Split<double>{d, 0} : two_sum(static_cast<double>(third_[i]), d);
    }

    /// x + l + m + d / scale, but for what correction_at leaves out.
    ThreeTerms<T> sum_at(std::int64_t i) const { return sum_of(x_[i], low_[i], correction_at(i).value); }

    /// How far the sum may be off.
    double radius_at(std::int64_t i) const {
        const double left_out = static_cast<double>(magnitude(d_low_[i])) / scale_;
        return (radius_[i] + left_out + magnitude(correction_at(i).error) + smallest_subnormal<double>)*inflation;
    }

    /// What bounds zero_width times the largest power of two that is not above max |x*|.
    Between zeros_below() const {
        const auto power = [](double x) {  // infinite of what is not finite
            constexpr std::uint64_t exponent_bits = std::uint64_t{0x7ff} << 52;
            return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & exponent_bits) * zero_width;
        };
        const auto between = [&](std::int64_t i) { return magnitude_of(sum_at(i), radius_at(i)); };
        const double least = largest(size(), [&](std::int64_t i) { return std::max(between(i).least, 0.0); });
        const double most = largest(size(), [&](std::int64_t i) { return between(i).most; });
        return {is_finite(least) ? power(least) : 0, power(most)};
    }

    void decide_all() {
        const Between zero = zeros_below();
        counts_ = {};
        std::mutex mutex;
        cpu::for_each_range(size(), Device::cpu(), [&](std::int64_t begin, std::int64_t end) {
            Counts counts;
            for (std::int64_t i = begin; i < end; ++i) {
                const Decision decision = decide_component(i, zero);
                is_open_[i] = decision == Decision::undecided ? 1 : 0;
                counts.add(decision, i);
            }
            const std::lock_guard lock(mutex);
            counts_.add(counts);
        });
    }

    Decision decide_component(std::int64_t i, const Between& zero) {
        if (is_structural_zero(i)) {
            rounded_[i] = 0;
            return Decision::zero;
        }
        const ThreeTerms<T> sum = sum_at(i);
        const Rounded<T> rounded = decide(sum, radius_at(i), zero);
        rounded_[i] = is_finite(sum.head) ? rounded.value : x_[i];
        return rounded.decision;
    }

    /// Adds d / scale to x + l + m.
    void accept_correction() {
        cpu::for_each_range(size(), Device::cpu(), [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
                const ThreeTerms<T> sum = sum_at(i);
                if (!is_finite(sum.head) || is_structural_zero(i)) continue;
                const Split<double> below = two_sum(sum.tail, sum.rest);
                const double left_out = correction_at(i).error;
                x_[i] = sum.head;
                low_[i] = static_cast<T>(below.value);
                if (!third_.empty())
                    third_[i] = static_cast<T>((below.value - static_cast<double>(low_[i])) + below.error + left_out);
            }
        });
    }

    SolutionProof summary() {
        proof_.undecided = counts_.undecided;
        proof_.ties = counts_.ties;
        proof_.zeros = counts_.zeros;
        proof_.dropped = counts_.dropped;
        proof_.rounded = size() - counts_.undecided;
        std::sort(counts_.first_undecided.begin(), counts_.first_undecided.end());
        if (counts_.first_undecided.size() > most_named_components) counts_.first_undecided.resize(most_named_components);
        proof_.first_undecided = counts_.first_undecided;
        proof_.status = counts_.undecided == 0 ? ProofStatus::proven : ProofStatus::unproven;
        return proof_;
    }

    const SpmvPlan<T>& a_;
    const Certificate& certificate_;
    const Corrector<T>& corrector_;
    std::span<const T> b_;
    std::span<T> x_;  ///< with low_ and third_: where the solution has got to
    std::vector<T> low_, r_, d_, d_low_, rounded_;
    std::vector<T> third_;  ///< none as long as two parts do
    CsrMatrix<T> twice_;    ///< [A A]
    std::optional<SpmvPlan<T>> of_twice_;
    std::vector<T> twice_x_, twice_low_;  ///< (x, m) and (l, 0)
    std::vector<double> residual_;        ///< bounds of what is left of the residual, in its scale
    std::vector<double> radius_;          ///< bounds of the errors of x + l + (d + d_low) / scale
    std::vector<std::uint8_t> is_zero_, is_open_;
    ConnectedParts parts_;  ///< none as long as nobody has asked
    double scale_ = 1;
    Counts counts_;
    SolutionProof proof_;
};

}  // namespace

template <class T>
SolutionProof round_solution(const SpmvPlan<T>& a, const Certificate& certificate, const Corrector<T>& corrector,
                             std::span<const T> b, std::span<T> x) {
    return Refinement<T>(a, certificate, corrector, b, x).run();
}

template <class T>
void lower_bounds(const SpmvPlan<T>& a, const Certificate& certificate, const Corrector<T>& corrector, std::span<const T> b,
                  std::span<const T> x, std::span<const T> x_low, std::span<double> bounds) {
    std::vector<T> copy(x.begin(), x.end());
    Refinement<T>(a, certificate, corrector, b, copy).lower(x_low, bounds);
}

template SolutionProof round_solution(const SpmvPlan<float>&, const Certificate&, const Corrector<float>&,
                                      std::span<const float>, std::span<float>);
template SolutionProof round_solution(const SpmvPlan<double>&, const Certificate&, const Corrector<double>&,
                                      std::span<const double>, std::span<double>);
template void lower_bounds(const SpmvPlan<float>&, const Certificate&, const Corrector<float>&, std::span<const float>,
                           std::span<const float>, std::span<const float>, std::span<double>);
template void lower_bounds(const SpmvPlan<double>&, const Certificate&, const Corrector<double>&, std::span<const double>,
                           std::span<const double>, std::span<const double>, std::span<double>);

}  // namespace solver::guarantee
