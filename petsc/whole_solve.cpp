#include "whole_solve.hpp"

#include "auto_solve/repeated_solve.hpp"
#include "numbers.hpp"
#include "settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace petscsolver {
namespace {

/// The preconditioners that could be made, in their order.
std::string tried(const solver::SolveReport& report) {
    std::string kinds;
    std::optional<solver::PreconditionerKind> last;
    for (const solver::Attempt& attempt : report.attempts) {
        if (!attempt.refusal.empty() || attempt.preconditioner == last) continue;
        kinds += fmt::format("{}{}", last ? ", then " : "", to_string(attempt.preconditioner));
        last = attempt.preconditioner;
    }
    return kinds;
}

class Solve final : public WholeSolve {
public:
    Solve(solver::CsrMatrix<double> a, const WholeSolveOptions& options, const solver::Device& device)
        : a_(std::move(a)),
          plan_(a_.view(), device),
          options_(options),
          solve_(plan_, options_of_solve(options, settings().accuracy)) {}

    /// In the accuracy of the settings, which all of the plugin has.
    void apply(std::span<const double> r, std::span<double> z, solver::Accuracy) const override {
        std::ranges::fill(z, 0.0);
        outcome_ = outcome_of(solve_.solve(r, z), options_);
        if (!outcome_.is_solved) std::ranges::fill(z, std::numeric_limits<double>::infinity());
    }

    const Outcome& outcome() const override { return outcome_; }

private:
    solver::CsrMatrix<double> a_;
    solver::SpmvPlan<double> plan_;
    WholeSolveOptions options_;
    mutable solver::RepeatedSolve solve_;
    mutable Outcome outcome_;
};

}  // namespace

solver::SolveOptions options_of_solve(const WholeSolveOptions& given, solver::Accuracy accuracy) {
    solver::SolveOptions options;
    options.least_squares = false;  // what is not solved is of no use to PETSc, and ranks do not find them
    options.iteration.accuracy = accuracy;
    options.iteration.tolerance = given.tolerance;
    options.iteration.complex_scalars = numbers_are_complex;
    options.guarantee = given.guarantee;
    return options;
}

Outcome outcome_of(const solver::SolveReport& report, const WholeSolveOptions& options) {
    const solver::SolveResult& result = report.result();
    const bool is_proven = options.guarantee == solver::Guarantee::none || report.proof().status == solver::ProofStatus::proven;
    Outcome outcome{is_proven && result.status == solver::SolveStatus::converged, {}};
    outcome.words = fmt::format("{}, ||r - A z|| = {:.1e} ||r|| after {} iterations", to_string(result.status),
                                result.relative_residual, result.iterations);
    if (const std::string kinds = tried(report); !kinds.empty()) outcome.words += " with " + kinds;
    if (!report.obstacle.empty()) outcome.words += "; " + report.obstacle;
    if (!is_proven) outcome.words += "; nothing is proven: " + report.proof().reason;
    return outcome;
}

std::unique_ptr<WholeSolve> make_solve(solver::CsrMatrix<double> a, const WholeSolveOptions& options,
                                       const solver::Device& device) {
    return std::make_unique<Solve>(std::move(a), options, device);
}

}  // namespace petscsolver
