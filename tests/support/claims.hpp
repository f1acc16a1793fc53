#pragma once

/// What the library claims of solutions, held against rational numbers: each function gives the first claim that is false, in a
/// sentence, or an empty text. What is not claimed is never false.

#include "solver/guarantee.hpp"
#include "solver/numeric/bounds.hpp"
#include "solver/solve.hpp"
#include "support/known_system.hpp"
#include "support/oracle.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace solver::testing {

inline std::string text_of(double x) {
    char text[40];
    std::snprintf(text, sizeof text, "%.7g", x);
    return text;
}

/// Whether |x| <= bound, infinite ones included. NaN bounds nothing.
inline bool is_bounded(const Rational& x, double bound) {
    return bound > std::numeric_limits<double>::max() || (bound >= 0 && x.is_within(bound));
}

/// What proof.hpp promises of a component that is decided.
template <class T>
struct RoundedByRules {
    T value = 0;
    bool is_tie = false;
    bool is_zero = false;
};

/// `zero` is the largest number that is 0 by the rule of zeros.
template <class T>
RoundedByRules<T> rounded_by_rules(const ExactNumber& x, const Rational& zero) {
    const Rational exact = x.rational();
    if (abs(exact) <= zero) return {.is_zero = true};
    const T nearest = static_cast<T>(x.rounded(std::numeric_limits<T>::digits));
    const T infinity = std::numeric_limits<T>::infinity();
    const bool upwards = exact > Rational(static_cast<double>(std::isfinite(nearest) ? nearest : T(0)));
    const T next = std::nextafter(nearest, upwards ? infinity : -infinity);
    if (!std::isfinite(nearest) || !std::isfinite(next)) return {nearest};
    const Rational sum = Rational(static_cast<double>(nearest)) + Rational(static_cast<double>(next));
    if (abs(exact - sum.times_power_of_two(-1)) > abs(exact) * Rational(tie_width<T>)) return {nearest};
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return {(std::bit_cast<Bits>(nearest) & 1) == 0 ? nearest : next + T(0), true};
}

/// The largest number that the rule of zeros makes 0 in this solution.
inline Rational zero_by_rule(std::span<const ExactNumber> solution) {
    Rational largest;
    for (const ExactNumber& x : solution) largest = std::max(largest, abs(x.rational()));
    if (largest.is_zero()) return largest;
    return Rational(zero_width).times_power_of_two(largest.exponent());
}

/// Whether component i is one that the proof says to be open, or may be.
inline bool may_be_open(const SolutionProof& proof, std::size_t i) {
    const auto& named = proof.first_undecided;
    if (std::find(named.begin(), named.end(), static_cast<std::int64_t>(i)) != named.end()) return true;
    const auto count = static_cast<std::int64_t>(named.size());
    return count < proof.undecided && (count == 0 || static_cast<std::int64_t>(i) > named.back());
}

template <class T>
std::string false_rounding(std::span<const ExactNumber> solution, const SolutionProof& proof, std::span<const T> x) {
    const Rational zero = zero_by_rule(solution);
    std::int64_t ties = 0, zeros = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const RoundedByRules<T> expected = rounded_by_rules<T>(solution[i], zero);
        ties += expected.is_tie ? 1 : 0;
        zeros += expected.is_zero ? 1 : 0;
        if (!may_be_open(proof, i) && !same_bits(x[i], expected.value))
            return "component " + std::to_string(i) + " is not the solution rounded";
    }
    if (proof.dropped > proof.zeros || proof.zeros > zeros || proof.ties > ties) return "ties or zeros that are none";
    if (proof.undecided == 0 && proof.ties != ties) return "ties that are not counted";
    return "";
}

/// |x_i - x*_i|
inline std::vector<Rational> errors(std::span<const ExactNumber> solution, std::span<const Rational> x) {
    std::vector<Rational> errors;
    for (std::size_t i = 0; i < x.size(); ++i) errors.push_back(abs(x[i] - solution[i].rational()));
    return errors;
}

/// Whether |z_i - z*_i| <= bound |z_i| for all numbers of so many parts.
inline bool bounds_relatively(double bound, std::span<const Rational> errors, std::span<const Rational> x, std::size_t parts) {
    if (bound > std::numeric_limits<double>::max()) return true;
    if (!(bound >= 0)) return false;
    for (std::size_t i = 0; i < x.size(); i += parts) {
        Rational error, size;
        for (std::size_t part = i; part < i + parts; ++part) {
            error += errors[part] * errors[part];
            size += x[part] * x[part];
        }
        if (error > size * Rational(bound) * Rational(bound)) return false;
    }
    return true;
}

inline std::string false_bounds(std::span<const ExactNumber> solution, const SolutionProof& proof, std::span<const Rational> x,
                                std::size_t parts) {
    if (proof.bounds.size() != x.size()) return "there are not as many bounds as components";
    const std::vector<Rational> off = errors(solution, x);
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!is_bounded(off[i], proof.bounds[i])) return "component " + std::to_string(i) + " is farther off than its bound";
    return bounds_relatively(proof.error_bound, off, x, parts) ? "" : "the relative error is larger than its bound";
}

/// Of the componentwise backward error of finite numbers x.
template <class S>
std::string false_backward_error(const KnownSystem<S>& system, std::size_t column, std::span<const Rational> x,
                                 double claimed) {
    const std::vector<Rational> r = system.residual(x, column), terms = system.terms(x, column);
    if (claimed > std::numeric_limits<double>::max()) return "";
    if (!(claimed >= 0)) return "the backward error is no number that could be";
    for (std::size_t i = 0; i < r.size(); ++i)
        if (abs(r[i]) > terms[i] * Rational(claimed)) return "the backward error is larger than what is called proven";
    return "";
}

/// Of A alone.
template <class S>
std::string false_status(const KnownSystem<S>& system, ProofStatus status) {
    if (status == ProofStatus::singular && !(system.is_finite() && system.is_singular())) return "A is not singular";
    if (status == ProofStatus::proven && !system.is_finite()) return "something is proven of Inf or NaN";
    if (status == ProofStatus::proven && system.is_singular()) return "something is proven, but A is singular";
    return "";
}

template <class S>
std::string false_claim_of_bounds(const KnownSystem<S>& system, std::size_t column, const SolutionProof& proof,
                                  std::span<const Rational> x) {
    const bool is_proven = proof.status == ProofStatus::proven;
    const auto is_infinite = [](double bound) { return !std::isfinite(bound); };
    if (is_proven && std::any_of(proof.bounds.begin(), proof.bounds.end(), is_infinite))
        return "an infinite bound is called proven";
    if (!is_proven && proof.bounds.empty()) return "";
    if (system.is_singular()) return "there are bounds, but A is singular";
    return false_bounds(system.solution(column), proof, x, components<S>);
}

template <class S, class T>
std::string false_claim_of_rounding(const KnownSystem<S>& system, std::size_t column, const SolutionProof& proof,
                                    std::span<const T> x) {
    if (proof.rounded + proof.undecided != static_cast<std::int64_t>(x.size())) {
        if (proof.status != ProofStatus::singular) return "not every component is counted";
    }
    if (proof.status == ProofStatus::proven && proof.undecided > 0) return "what is open is called proven";
    if (proof.rounded == 0) return "";
    if (system.is_singular()) return "components are rounded, but A is singular";
    return false_rounding(system.solution(column), proof, x);
}

/// Of one solution x + x_low, in real and imaginary parts in turn. x_low may be empty.
template <class S, class T = RealOf<S>>
std::string false_claim(const KnownSystem<S>& system, std::size_t column, Guarantee wanted, const SolutionProof& proof,
                        std::span<const T> x, std::span<const T> x_low) {
    if (std::string broken = false_status(system, proof.status); !broken.empty()) return broken;
    if (!system.is_finite(column))
        return proof.rounded > 0 || proof.status == ProofStatus::proven ? "something is proven of Inf or NaN" : "";
    if (!all_are_finite(x) || !all_are_finite(x_low)) return proof.status == ProofStatus::proven ? "Inf or NaN is proven" : "";
    const std::vector<Rational> whole = exact_sum(x, x_low);
    if (std::string broken = false_backward_error(system, column, whole, proof.backward_error); !broken.empty()) return broken;
    if (wanted == Guarantee::bound) return false_claim_of_bounds(system, column, proof, whole);
    return false_claim_of_rounding(system, column, proof, x);
}

/// |A^-1|_ij, where `inverse` has the identity as right-hand sides.
template <class T>
Rational element_of_inverse(const KnownSystem<T>& inverse, std::size_t i, std::size_t j) {
    return abs(inverse.solution(j)[i].rational());
}

/// Whether |A^-1 r|_i <= reach_i N(r) for every r.
template <class T>
bool reaches(const KnownSystem<T>& inverse, const Certificate& certificate, std::size_t i) {
    const double reach = certificate.reach[i];
    Rational sum;
    for (std::size_t j = 0; j < inverse.order(); ++j) {
        const Rational element = element_of_inverse(inverse, i, j);
        const double weight = certificate.weights[j];
        if (!(weight >= 0)) return false;
        if (element.is_zero() || !std::isfinite(weight)) continue;
        if (weight == 0) return false;
        const Rational needed = element / Rational(weight);
        if (!certificate.adds_up)
            sum += needed;
        else
            sum = std::max(sum, needed);
    }
    return is_bounded(sum, reach);
}

/// `inverse` has the identity as right-hand sides.
template <class T>
std::string false_claim(const KnownSystem<T>& inverse, const Certificate& certificate) {
    if (std::string broken = false_status(inverse, certificate.status); !broken.empty()) return broken;
    if (!certificate.is_proof())
        return certificate.reach.empty() && certificate.weights.empty() ? "" : "a certificate that proves nothing has bounds";
    if (certificate.reach.size() != inverse.order() || certificate.weights.size() != inverse.order())
        return "the certificate has another size than A";
    for (std::size_t i = 0; i < inverse.order(); ++i)
        if (!reaches(inverse, certificate, i)) return "row " + std::to_string(i) + " of the inverse is beyond its reach";
    return "";
}

/// ||v||, without overflow and underflow for vectors of doubles and products of two.
inline long double length(std::span<const Rational> v) {
    long double sum = 0;
    for (const Rational& x : v) {
        const long double size = x.wide_approximate();
        sum += size * size;
    }
    return std::sqrt(sum);
}

/// ||b - A x||, and what its computation may err.
struct KnownResidual {
    long double residual = 0;
    long double right_hand_side = 0;
    long double terms = 0;  ///< || |A| |x| + |b| ||
    long double error = 0;

    double relative() const { return static_cast<double>(residual == 0 ? 0 : residual / right_hand_side); }
};

/// By twice the precision at least, as true residuals are computed in every mode.
template <class S>
KnownResidual known_residual(const KnownSystem<S>& system, std::size_t column, std::span<const Rational> x, bool is_exact) {
    using T = RealOf<S>;
    constexpr std::int64_t longest = 1024;
    const std::vector<Rational> r = system.residual(x, column), terms = system.stored_terms(x, column);
    KnownResidual known{.residual = length(r)};
    long double of_b = 0, of_terms = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
        const long double b = system.b(i, column).wide_approximate(), sum = terms[i].wide_approximate();
        of_b += b * b;
        of_terms += sum * sum;
    }
    known.right_hand_side = std::sqrt(of_b);
    known.terms = std::sqrt(of_terms);
    const long double lost = 8.0L * static_cast<long double>(r.size() * r.size()) * smallest_subnormal<T>;
    known.error = 4 * unit_roundoff<T> * known.residual + lost * std::max(1.0L, known.right_hand_side);
    if (!is_exact) known.error += gamma<T>(longest) * gamma<T>(longest) * known.terms;
    return known;
}

/// Of a status and a residual, by the contract of every method (krylov.hpp). `is_proven` where rounding alone settles it.
template <class S, class T = RealOf<S>>
std::string false_claim(const KnownSystem<S>& system, std::size_t column, const SolveResult& result,
                        const KrylovOptions& options, std::span<const T> x, std::span<const T> x_low, bool is_proven) {
    const bool converged = result.status == SolveStatus::converged;
    if (result.iterations > options.max_iterations) return "more iterations than were allowed";
    if (!system.is_finite(column)) return converged ? "a system of Inf or NaN has converged" : "";
    if (!all_are_finite(x) || !all_are_finite(x_low)) return converged ? "a solution of Inf or NaN has converged" : "";
    constexpr double slack = 1e-5;
    const KnownResidual known = known_residual<S>(system, column, exact_sum(x, x_low), options.accuracy == Accuracy::exact);
    const long double goal =
        std::max(options.tolerance * known.right_hand_side, static_cast<long double>(options.absolute_tolerance));
    if (converged && !is_proven && known.residual > goal * (1 + slack) + known.error)
        return "called converged with a residual of " + text_of(known.relative());
    if (result.status == SolveStatus::non_finite || !std::isfinite(result.relative_residual)) return "";
    const long double told = static_cast<long double>(result.relative_residual) * known.right_hand_side;
    if (std::abs(told - known.residual) > slack * known.residual + known.error)
        return "the residual is " + text_of(known.relative()) + ", not " + text_of(result.relative_residual);
    return "";
}

}  // namespace solver::testing
