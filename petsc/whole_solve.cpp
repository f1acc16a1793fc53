#include "whole_solve.hpp"

#include "numbers.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace petscsolver {
namespace {

class Solve final : public solver::Preconditioner<double> {
public:
    Solve(solver::CsrMatrix<double> a, const WholeSolveOptions& options, const solver::Device& device)
        : a_(std::move(a)), plan_(a_.view(), device), options_(options) {}

    void apply(std::span<const double> r, std::span<double> z, solver::Accuracy accuracy) const override {
        const solver::SolveOptions options = options_of_solve(options_, accuracy);
        std::ranges::fill(z, 0.0);
        const solver::SolveReport report = solver::solve(plan_, r, z, {}, options);
        if (!is_done(report)) std::ranges::fill(z, std::numeric_limits<double>::infinity());
    }

private:
    bool is_done(const solver::SolveReport& report) const {
        const bool is_proven =
            options_.guarantee == solver::Guarantee::none || report.proof().status == solver::ProofStatus::proven;
        return is_proven && report.result().status == solver::SolveStatus::converged;
    }

    solver::CsrMatrix<double> a_;
    solver::SpmvPlan<double> plan_;
    WholeSolveOptions options_;
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

std::unique_ptr<solver::Preconditioner<double>> make_solve(solver::CsrMatrix<double> a, const WholeSolveOptions& options,
                                                           const solver::Device& device) {
    return std::make_unique<Solve>(std::move(a), options, device);
}

}  // namespace petscsolver
