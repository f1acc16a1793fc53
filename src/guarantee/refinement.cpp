#include "guarantee/refinement.hpp"

#include "core/huge_pages.hpp"
#include "core/multigrid/scale.hpp"
#include "cpu/elementwise.hpp"
#include "guarantee/norms.hpp"
#include "guarantee/structural_zeros.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
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
          is_zero_(structural_zeros(a, b)) {
        drop_structural_zeros(x_);
    }

    SolutionProof run() {
        std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
        double smallest = std::numeric_limits<double>::infinity();
        int without_gain = 0;
        while (proof_.refinements < most_refinements && without_gain < 2) {
            const double norm = step();
            if (counts_.undecided == 0) break;
            const bool gained = counts_.undecided < fewest || norm < smallest / 2;
            without_gain = gained ? 0 : without_gain + 1;
            fewest = std::min(fewest, counts_.undecided);
            smallest = std::min(smallest, norm);
        }
        cpu::update(x_, Device::cpu(), [&](T, std::int64_t i) { return rounded_[i]; });
        return summary();
    }

private:
    std::int64_t size() const { return static_cast<std::int64_t>(b_.size()); }
    std::vector<T> new_vector() const { return zeros<T>(size(), Device::cpu().threads()); }

    void drop_structural_zeros(std::span<T> v) const {
        if (is_zero_.empty()) return;
        cpu::update(v, Device::cpu(), [&](T value, std::int64_t i) { return is_zero_[i] != 0 ? T(0) : value; });
    }

    /// r = scale (b - A (x + l)), about 1 in size; how far it is off, beside half an ulp each, is returned.
    double find_residual() {
        a_.residual(b_, x_, low_, r_, Accuracy::exact);
        const auto size_of_r = [&](std::int64_t i) { return static_cast<double>(magnitude(r_[i])); };
        const double found = largest(size(), size_of_r);
        scale_ = scale_to_one<T>(found);
        const auto factor = static_cast<T>(scale_);
        if (found < smallest_residual<T>) {
            const SpmvTask<T> task{.alpha = -factor, .x = x_, .x_low = low_, .beta = factor, .y_in = b_, .y = r_};
            a_.multiply(std::span(&task, 1), Accuracy::exact);
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

    /// One correction and what it decides. Returns what bounds the error by the certificate.
    double step() {
        const double unit = find_residual();
        double norm = norm_above(certificate_, [&](std::int64_t i) {
            return static_cast<double>(magnitude(r_[i])) * static_cast<double>(unit_roundoff<T>) + unit;
        });
        for (const std::span<T> d : {std::span(d_), std::span(d_low_)})
            cpu::update(d, Device::cpu(), [](T, std::int64_t) { return T(0); });
        proof_.iterations += corrector_(r_, d_, d_low_);
        ++proof_.refinements;
        drop_structural_zeros(d_);
        drop_structural_zeros(d_low_);
        subtract_correction();
        norm += norm_above(certificate_, [&](std::int64_t i) { return size_before_rounding(r_[i]); });
        const double error = norm / scale_ * inflation + smallest_subnormal<double>;
        decide_all(is_finite(error) ? error : std::numeric_limits<double>::infinity());
        return error;
    }

    /// x + l + d / scale. The scale is a power of two: the quotient is exact unless it underflows.
    ThreeTerms<T> sum_at(std::int64_t i) const { return sum_of(x_[i], low_[i], static_cast<double>(d_[i]) / scale_); }

    /// The largest power of two that is not above max |x + l + d / scale|, times zero_width.
    double zero_below() const {
        const double most = largest(size(), [&](std::int64_t i) { return static_cast<double>(magnitude(sum_at(i).head)); });
        if (!(most >= std::numeric_limits<double>::min()) || !is_finite(most)) return 0;
        constexpr std::uint64_t exponent_bits = std::uint64_t{0x7ff} << 52;
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(most) & exponent_bits) * zero_width;
    }

    /// Adds d / scale to x + l, and rounds the sums by |error of component i| <= reach_i error.
    void decide_all(double error) {
        const double zero = zero_below();
        counts_ = {};
        std::mutex mutex;
        cpu::for_each_range(size(), Device::cpu(), [&](std::int64_t begin, std::int64_t end) {
            Counts counts;
            for (std::int64_t i = begin; i < end; ++i) counts.add(decide_component(i, error, zero), i);
            const std::lock_guard lock(mutex);
            counts_.add(counts);
        });
    }

    Decision decide_component(std::int64_t i, double error, double zero) {
        if (!is_zero_.empty() && is_zero_[i] != 0) {
            rounded_[i] = 0;
            return Decision::zero;
        }
        const ThreeTerms<T> sum = sum_at(i);
        const double left_out = static_cast<double>(magnitude(d_low_[i])) / scale_;
        const double radius = (certificate_.reach[i] * error + left_out + smallest_subnormal<double>)*inflation;
        const Rounded<T> rounded = decide(sum, radius, zero);
        rounded_[i] = is_finite(sum.head) ? rounded.value : x_[i];
        if (is_finite(sum.head)) {
            x_[i] = sum.head;
            low_[i] = static_cast<T>(sum.tail + sum.rest);
        }
        return rounded.decision;
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
    std::span<T> x_;  ///< with low_: where the solution has got to
    std::vector<T> low_, r_, d_, d_low_, rounded_;
    std::vector<std::uint8_t> is_zero_;
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

template SolutionProof round_solution(const SpmvPlan<float>&, const Certificate&, const Corrector<float>&,
                                      std::span<const float>, std::span<float>);
template SolutionProof round_solution(const SpmvPlan<double>&, const Certificate&, const Corrector<double>&,
                                      std::span<const double>, std::span<double>);

}  // namespace solver::guarantee
