#include "auto_solve/guaranteed.hpp"

#include "auto_solve/find_certificate.hpp"
#include "auto_solve/obstacle.hpp"
#include "auto_solve/pair_as_double.hpp"
#include "auto_solve/scaled_residual.hpp"
#include "auto_solve/vector_copy.hpp"
#include "core/elapsed.hpp"
#include "core/huge_pages.hpp"
#include "cpu/elementwise.hpp"
#include "guarantee/backward_error.hpp"
#include "guarantee/norms.hpp"
#include "guarantee/refinement.hpp"
#include "solver/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace solver {
namespace {

/// At least max_i bound_i / |x_i|, infinite where x_i is 0 and its bound is not, and the digits in the mean.
template <class T>
void summarise_bounds(std::span<const T> x, std::span<const T> x_low, SolutionProof& proof) {
    const auto whole = [&](std::int64_t i) {
        return magnitude(guarantee::sum_in_range(x[i], x_low.empty() ? T(0) : x_low[i]));
    };
    const auto relative = [&](std::int64_t i) {
        if (proof.bounds[i] == 0) return 0.0;
        return proof.bounds[i] / whole(i) * guarantee::inflation + smallest_subnormal<double>;
    };
    const auto n = static_cast<std::int64_t>(x.size());
    proof.error_bound = guarantee::largest(n, relative);
    std::vector<double> digits = zeros<double>(n, Device::cpu().threads());
    std::atomic<std::int64_t> counted{0};
    cpu::for_each_range(n, Device::cpu(), [&](std::int64_t begin, std::int64_t end) {
        std::int64_t mine = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            if (!(whole(i) > 0)) continue;
            constexpr double most_digits = 20;
            digits[i] = std::clamp(-std::log10(std::max(relative(i), smallest_subnormal<double>)), 0.0, most_digits);
            ++mine;
        }
        counted += mine;
    });
    proof.certified_digits = counted > 0 ? sum(digits, Accuracy::exact) / static_cast<double>(counted) : 0;
}

/// Where nothing is proven of A, or b or x has no numbers.
void leave_all_open(std::int64_t rows, SolutionProof& proof) {
    proof.undecided = rows;
    proof.first_undecided.resize(std::min(static_cast<std::size_t>(rows), guarantee::most_named_components));
    std::iota(proof.first_undecided.begin(), proof.first_undecided.end(), std::int64_t{0});
}

/// One solution, in the host's memory.
template <class T>
class GuaranteedColumn {
public:
    GuaranteedColumn(const SpmvPlan<T>& a, SystemSolver<T>& solver, const FoundCertificate& found, const SolveOptions& options,
                     bool is_stopped)
        : a_(a),
          solver_(solver),
          certificate_(found.certificate),
          correct_(found.correct),
          options_(options),
          is_stopped_(is_stopped) {}

    SolutionProof operator()(const Unknown<T>& unknown, SolveResult& result) const {
        round_to_double(a_, unknown, options_.iteration, result);
        SolutionProof proof;
        const bool wants_rounding = options_.guarantee == Guarantee::rounded;
        if (wants_rounding && correct_ && !is_all_finite(unknown.x))  // a better solver begins anew
            set_zero(unknown.x);
        const bool has_numbers = is_all_finite(unknown.b) && is_all_finite(unknown.x);
        if (certificate_.is_proof() && has_numbers) {
            proof = wants_rounding ? rounded(unknown, result) : bound(unknown);
        } else {
            proof.status = certificate_.is_proof() ? ProofStatus::unproven : certificate_.status;
            proof.reason = certificate_.is_proof() ? "b or x has Inf or NaN" : certificate_.reason;
            if (wants_rounding) leave_all_open(a_.rows(), proof);
            if (has_numbers && proof.status == ProofStatus::unproven) proof.estimated_error = estimated_error(unknown, result);
        }
        std::vector<T> r = new_vector();
        a_.residual(unknown.b, unknown.x, unknown.x_low, r, Accuracy::exact);
        proof.backward_error = guarantee::backward_error_of<T>(a_.matrix(), r, unknown.b, unknown.x, unknown.x_low);
        if (proof.backward_error == 0) proof.dropped = 0;  // x is the solution, and its zeros are zeros
        return proof;
    }

private:
    std::vector<T> new_vector() const { return zeros<T>(a_.rows(), Device::cpu().threads()); }

    static void set_zero(std::span<T> v) {
        cpu::update(v, Device::cpu(), [](T, std::int64_t) { return T(0); });
    }

    static bool is_all_finite(std::span<const T> v) {
        return guarantee::largest(std::ssize(v), [&](std::int64_t i) { return is_finite(v[i]) ? 0.0 : 1.0; }) == 0;
    }

    SolutionProof bound(const Unknown<T>& unknown) const {
        SolutionProof proof;
        resize_in_huge_pages(proof.bounds, a_.rows(), Device::cpu().threads());
        error_bound<T>(a_, certificate_, unknown.b, unknown.x, unknown.x_low, proof.bounds);
        if (correct_)
            guarantee::lower_bounds<T>(a_, certificate_, by_proof(), unknown.b, unknown.x, unknown.x_low, proof.bounds);
        summarise_bounds<T>(unknown.x, unknown.x_low, proof);
        const double most =
            guarantee::largest(static_cast<std::int64_t>(proof.bounds.size()), [&](std::int64_t i) { return proof.bounds[i]; });
        proof.status = is_finite(most) ? ProofStatus::proven : ProofStatus::unproven;
        proof.reason = is_finite(most) ? certificate_.reason : "the bound leaves the range of numbers";
        return proof;
    }

    /// A correction may take twice what the solve took: what needs more gains nothing.
    std::int64_t most_iterations(const SolveResult& result) const { return 2 * result.iterations + 20; }

    /// max |d| / max |x| for the correction d that one further solve gives, to two digits; negative where it fails.
    double estimated_error(const Unknown<T>& unknown, const SolveResult& result) const {
        constexpr double none = -1, coarse = 1e-2;
        if (is_stopped_ || !solver_.can_solve_again()) return none;
        std::vector<T> r = new_vector(), d = new_vector();
        a_.residual(unknown.b, unknown.x, unknown.x_low, r, Accuracy::exact);
        const SolveResult correction = solver_.solve_again({r, d}, coarse, most_iterations(result));
        if (correction.status != SolveStatus::converged) return none;
        const auto most = [&](std::span<const T> v) {
            return guarantee::largest(std::ssize(v), [&](std::int64_t i) { return static_cast<double>(magnitude(v[i])); });
        };
        const double error = most(d), size = most(unknown.x);
        return error > 0 ? error / size : 0;
    }

    /// Rounded, unless that loses what was a solution to the tolerance and proves nothing.
    SolutionProof rounded(const Unknown<T>& unknown, SolveResult& result) const {
        const std::vector<T> x(unknown.x.begin(), unknown.x.end()), low(unknown.x_low.begin(), unknown.x_low.end());
        SolutionProof proof = round(unknown, result);
        if (proof.refinements == 0) return proof;
        const bool is_proven = proof.status == ProofStatus::proven;
        const bool was_solved = result.status == SolveStatus::converged;
        if (const SolveResult found = seen(unknown, proof, result); is_proven || !was_solved || found.status == result.status) {
            result = found;
            return proof;
        }
        std::copy(x.begin(), x.end(), unknown.x.begin());
        std::copy(low.begin(), low.end(), unknown.x_low.begin());
        proof.rounded = proof.ties = proof.zeros = proof.dropped = 0;
        proof.reason = "the rounding, of which not all was proven, was no solution to the tolerance, and was taken back";
        leave_all_open(a_.rows(), proof);
        return proof;
    }

    /// What is to be told of a rounded x. Where all is proven nothing better can be had, whatever the residual of its rounded
    /// numbers is, unless components other than 0 became 0.
    SolveResult seen(const Unknown<T>& unknown, const SolutionProof& proof, SolveResult result) const {
        const ScaledResidual<T> residual(a_, unknown);
        result.relative_residual = residual.relative();
        const bool is_final = proof.status == ProofStatus::proven && proof.dropped == 0;
        if (is_final || residual.meets_tolerance(options_.iteration))
            result.status = SolveStatus::converged;
        else if (result.status == SolveStatus::converged)
            result.status = SolveStatus::stagnated;
        return result;
    }

    /// By the factors or the inverse that proved the certificate.
    guarantee::Corrector<T> by_proof() const {
        return [this](std::span<const T> r, std::span<T> d, std::span<T> d_low) -> std::int64_t {
            std::vector<double> high(d.size()), low(d.size());
            correct_(std::vector<double>(r.begin(), r.end()), high, low);
            for (std::size_t i = 0; i < d.size(); ++i) {
                d[i] = static_cast<T>(high[i]);
                d_low[i] = static_cast<T>((high[i] - static_cast<double>(d[i])) + low[i]);
            }
            return 0;
        };
    }

    SolutionProof round(const Unknown<T>& unknown, SolveResult& result) const {
        constexpr double coarsest = 1e-8;
        const double tolerance = std::min(options_.iteration.tolerance, coarsest);
        const guarantee::Corrector<T> corrector = [&](std::span<const T> r, std::span<T> d,
                                                      std::span<T> d_low) -> std::int64_t {
            if (correct_) return by_proof()(r, d, d_low);
            if (!solver_.can_solve_again()) return 0;  // no correction, and so no gain: refinement ends
            return solver_.solve_again({r, d}, tolerance, most_iterations(result)).iterations;
        };
        SolutionProof proof = guarantee::round_solution<T>(a_, certificate_, corrector, unknown.b, unknown.x);
        set_zero(unknown.x_low);
        proof.reason = proof.status == ProofStatus::proven
                           ? certificate_.reason
                           : fmt::format("{} component{} could not be decided after {} refinement{}", proof.undecided,
                                         proof.undecided == 1 ? "" : "s", proof.refinements, proof.refinements == 1 ? "" : "s");
        return proof;
    }

    const SpmvPlan<T>& a_;
    SystemSolver<T>& solver_;
    const Certificate& certificate_;
    const std::function<void(std::span<const double>, std::span<double>, std::span<double>)>& correct_;
    const SolveOptions& options_;
    bool is_stopped_;  // by the callback: nothing further is solved for
};

/// What stands in the way of a rounded solution that does not solve; empty where nothing does.
std::string obstacle_of(const SolutionProof& proof, const SolveResult& result) {
    if (proof.dropped == 0 || result.status == SolveStatus::converged) return "";
    return fmt::format(
        "components below 2^-512 times the largest became 0 by the rule of zeros ({} of them), and without them x misses the "
        "tolerance; solve without rounding to keep them",
        proof.dropped);
}

/// Of options with which nothing is solved: the initial guess is looked at alone.
SolveOptions without_iterations(SolveOptions options) {
    options.preconditioner = PreconditionerKind::none;
    options.mixed = false;
    options.iteration.max_iterations = 0;
    return options;
}

template <class T>
void add_proof(const SpmvPlan<T>& a, const GuaranteedColumn<T>& guaranteed, const Unknown<T>& unknown, SolveResult& result,
               std::vector<SolutionProof>& proofs) {
    if (!unknown.on_device) {
        proofs.push_back(guaranteed(unknown, result));
        return;
    }
    const std::vector<T> b = fetched<T>(unknown.b, a.device(), true);
    std::vector<T> x = fetched<T>(unknown.x, a.device(), true), low = fetched<T>(unknown.x_low, a.device(), true);
    proofs.push_back(guaranteed({b, x, low}, result));
    const auto copy = [&](std::span<T> to, const std::vector<T>& from) {
        cuda::detail::copy_to_device(a.device().index(), to.data(), from.data(), static_cast<std::int64_t>(to.size_bytes()),
                                     nullptr);
    };
    copy(unknown.x, x);
    copy(unknown.x_low, low);
}

}  // namespace

template <class T>
SolveReport solve_with_guarantee(const SpmvPlan<T>& a, std::span<const Unknown<T>> unknowns, const SolveOptions& options) {
    const Elapsed at_sight;
    FoundCertificate found{certificate_at_sight(a), {}};
    const bool is_settled = found.certificate.status == ProofStatus::singular;
    const double seconds_at_sight = at_sight.seconds();
    SolveOptions of_solve = is_settled ? without_iterations(options) : options;
    std::vector<bool> ended(unknowns.size());  // by the callback
    if (options.iteration.callback)
        of_solve.iteration.callback = [&](const Iteration& iteration) {
            const bool goes_on = options.iteration.callback(iteration);
            if (!goes_on) ended[static_cast<std::size_t>(iteration.column)] = true;
            return goes_on;
        };
    SystemSolver<T> solver(a, of_solve);
    SolveReport report = solver.solve({unknowns.begin(), unknowns.end()});
    if (!is_settled && options.guarantee == Guarantee::bound) solver.settle_small_rows(unknowns, report);
    const Elapsed since_solve;
    for (std::size_t j = 0; j < unknowns.size(); ++j)  // what has converged has not been ended
        if (report.results[j].status == SolveStatus::converged) ended[j] = false;
    FoundCertificate none;
    none.certificate.reason = "the callback ended the solve";
    const bool all_ended = std::find(ended.begin(), ended.end(), false) == ended.end();
    if (is_settled)
        report.obstacle = found.certificate.reason;
    else if (!all_ended && found.certificate.reason.empty())
        found = find_certificate(a, solver, options);
    if (found.certificate.is_proof()) report.obstacle = obstacle_of_nonsingular(std::move(report.obstacle));
    report.certificate_iterations = found.certificate.iterations;
    for (std::size_t j = 0; j < unknowns.size(); ++j) {
        const bool is_ended = ended[j] && !is_settled;
        const GuaranteedColumn<T> guaranteed(a, solver, is_ended ? none : found, options, is_ended);
        add_proof(a, guaranteed, unknowns[j], report.results[j], report.proofs);
        if (report.obstacle.empty()) report.obstacle = obstacle_of(report.proofs[j], report.results[j]);
    }
    const auto is_solved = [](const SolveResult& result) { return result.status == SolveStatus::converged; };
    const bool may_solve = options.guarantee == Guarantee::rounded && !is_settled;
    if (may_solve && std::ranges::all_of(report.results, is_solved)) report.obstacle.clear();
    report.guarantee_seconds = seconds_at_sight + since_solve.seconds();
    return report;
}

template SolveReport solve_with_guarantee(const SpmvPlan<float>&, std::span<const Unknown<float>>, const SolveOptions&);
template SolveReport solve_with_guarantee(const SpmvPlan<double>&, std::span<const Unknown<double>>, const SolveOptions&);

}  // namespace solver
