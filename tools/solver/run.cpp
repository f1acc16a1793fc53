#include "run.hpp"

#include "errors.hpp"
#include "fingerprint.hpp"
#include "interrupt.hpp"
#include "linear_system.hpp"
#include "solver/complex.hpp"
#include "solver/guarantee.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"
#include "stopwatch.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>

namespace solver::command {
namespace {

template <class T>
DenseMatrix<double> as_double(const DenseMatrix<T>& x, const DenseMatrix<T>& x_low) {
    DenseMatrix<double> sum{x.rows, x.columns, {x.values.begin(), x.values.end()}};
    for (std::size_t i = 0; i < x_low.values.size(); ++i) sum.values[i] += static_cast<double>(x_low.values[i]);
    return sum;
}

/// Of the one right-hand side A * ones; nothing where that is no vector of numbers.
template <class T>
std::optional<ForwardError> forward_error_of(const SpmvPlan<T>& a, const std::vector<T>& b, const std::vector<T>& x,
                                             const std::vector<T>& x_low, const std::vector<double>& solution,
                                             bool is_complex) {
    std::vector<T> rounding(b.size()), residual(b.size());
    a.residual(b, ones<T>(a.rows(), is_complex, a.device()), {}, rounding, Accuracy::exact);
    a.residual(b, x, x_low, residual, Accuracy::exact);
    std::vector<T> image(b.size());  // A (x - x*) = (b - A x*) - (b - A x)
    std::transform(rounding.begin(), rounding.end(), residual.begin(), image.begin(), std::minus<>());
    const auto norm = [](const std::vector<T>& v) { return static_cast<double>(norm2(v, Accuracy::exact)); };

    const double error = largest_distance(solution, ones<double>(a.rows(), is_complex, a.device()));
    const double rounded = norm(rounding), size = norm(b);
    if (!is_finite(rounded) || !is_finite(size)) return std::nullopt;
    if (rounded == 0) return ForwardError{error, 0, 0};
    const double moved = norm(image);
    const double share = std::max(rounded / size, smallest_subnormal<double>);  // what underflows is not nothing
    return ForwardError{error, share, moved > 0 ? error * (rounded / moved) : 0};
}

template <class T>
double backward_error_of(const SpmvPlan<T>& a, const DenseMatrix<T>& b, const DenseMatrix<T>& x, const DenseMatrix<T>& x_low,
                         std::int64_t column) {
    const auto part = [&](const DenseMatrix<T>& m) { return m.values.empty() ? std::span<const T>() : m.column(column); };
    return backward_error<T>(a, part(b), part(x), part(x_low));
}

/// Bounds by the modulus of complex numbers in the place of those by their parts.
void tell_of_moduli(Run& run) {
    const auto n = static_cast<std::size_t>(run.solution.rows);
    for (std::size_t j = 0; j < run.report.proofs.size(); ++j) {
        SolutionProof& proof = run.report.proofs[j];
        if (proof.bounds.empty()) continue;
        proof.error_bound = complex_error_bound(proof.bounds, std::span(run.solution.values).subspan(j * n, n));
    }
}

/// A second part of x is what lets single precision reach small residuals, where the sums are accurate enough to see them.
bool holds_pair(const Options& options, Accuracy accuracy) {
    return options.precision == Precision::single_precision && accuracy != Accuracy::fast &&
           options.guarantee != Guarantee::rounded;
}

}  // namespace

template <class T>
Run run_solve(const Options& options, Accuracy accuracy, const SpmvPlan<T>& a, const DenseMatrix<T>& rhs, DenseMatrix<T> x,
              bool is_complex, LiveLine& live) {
    live.show("  preparing");
    const InterruptGuard interrupt;
    SolveOptions method{.preconditioner = options.preconditioner,
                        .method = options.method,
                        .profile = options.profile,
                        .factors = options.factors,
                        .guarantee = options.guarantee,
                        .mixed = options.precision == Precision::mixed};
    const std::function<void(const std::string&)> progress = [&](const std::string& next) { live.show("  preparing " + next); };
    method.factors.progress = &progress;
    method.iteration.accuracy = accuracy;
    method.iteration.tolerance = options.tolerance;
    method.iteration.absolute_tolerance = options.absolute_tolerance;
    method.iteration.max_iterations = options.max_iterations;
    method.iteration.restart = options.restart;
    method.iteration.complex_scalars = is_complex;
    method.iteration.keep_history = !options.history.empty() || !options.plot.empty();
    method.iteration.callback = [&](const Iteration& iteration) {
        live.show(iteration, options.tolerance);
        return !interrupt.requested();
    };
    method.iteration.callback_interval = iterations_between_questions(a.device());

    Run run;
    run.accuracy = accuracy;
    DenseMatrix<T> x_low;
    if (holds_pair(options, accuracy)) x_low = {x.rows, x.columns, std::vector<T>(x.values.size())};
    Stopwatch watch;
    run.report = solver::solve<T>(a, rhs, x, x_low.values.empty() ? nullptr : &x_low, method);
    const double seconds = watch.lap();
    live.clear();

    for (const Attempt& attempt : run.report.attempts) run.solve_seconds += attempt.solve_seconds;
    run.setup_seconds = seconds - run.solve_seconds - run.report.guarantee_seconds;
    run.interrupted = interrupt.requested() && run.worst().status == SolveStatus::iteration_limit;
    run.solution = as_double(x, x_low);
    run.sha256 = sha256(run.solution.values);
    if (is_complex) tell_of_moduli(run);
    for (std::int64_t j = 0; j < x.columns; ++j)
        run.backward_error = std::max(run.backward_error, backward_error_of(a, rhs, x, x_low, j));
    if (std::holds_alternative<RhsOfOnes>(options.rhs))
        run.forward_error = forward_error_of(a, rhs.values, x.values, x_low.values, run.solution.values, is_complex);
    return run;
}

const SolveResult& Run::worst() const {
    const auto is_better = [](const SolveResult& one, const SolveResult& other) {
        const bool converged = one.status == SolveStatus::converged;
        if (converged != (other.status == SolveStatus::converged)) return converged;
        return is_worse(other.relative_residual, one.relative_residual);
    };
    return *std::max_element(report.results.begin(), report.results.end(), is_better);
}

const SolutionProof* Run::worst_proof() const {
    const auto is_worse_proof = [](const SolutionProof& one, const SolutionProof& other) {
        const bool proven = one.status == ProofStatus::proven;
        if (proven != (other.status == ProofStatus::proven)) return !proven;
        return one.undecided > other.undecided || one.error_bound > other.error_bound;
    };
    const auto& proofs = report.proofs;
    return proofs.empty() ? nullptr : &*std::min_element(proofs.begin(), proofs.end(), is_worse_proof);
}

bool Run::is_proven() const {
    const SolutionProof* const worst = worst_proof();
    return worst == nullptr || worst->status == ProofStatus::proven;
}

bool Run::is_refuted() const {
    const SolutionProof* const proof = worst_proof();
    return proof != nullptr && proof->status == ProofStatus::singular && worst().status == SolveStatus::iteration_limit &&
           worst().iterations == 0;
}

std::string_view method_name(const Run& run) {
    if (run.normal_residual) return "LSMR";
    auto last = run.report.attempts.rbegin();  // whose x this is
    const auto is_dropped = [&](const Attempt& attempt) {
        return attempt.least_squares && (attempt.results.empty() || attempt.results.front().relative_residual !=
                                                                        run.report.results.front().relative_residual);
    };
    while (is_dropped(*last) && last + 1 != run.report.attempts.rend()) ++last;
    if (last->least_squares) return "LSMR";
    switch (last->method) {
        case KrylovMethod::bicgstab:
            return "BiCGStab";
        case KrylovMethod::cg:
            return "conjugate gradients";
        case KrylovMethod::gmres:
            return "GMRES";
        case KrylovMethod::minres:
            return "MINRES";
        case KrylovMethod::idr:
            return "IDR(4)";
        case KrylovMethod::bicgstab2:
            return "BiCGStab(2)";
        case KrylovMethod::cocg:
            return "COCG";
    }
    return "";
}

std::string status_text(const Run& run) {
    if (run.interrupted) return "interrupted";
    return run.is_refuted() ? "not solved" : std::string(to_string(run.worst().status));
}

template Run run_solve(const Options&, Accuracy, const SpmvPlan<double>&, const DenseMatrix<double>&, DenseMatrix<double>, bool,
                       LiveLine&);
template Run run_solve(const Options&, Accuracy, const SpmvPlan<float>&, const DenseMatrix<float>&, DenseMatrix<float>, bool,
                       LiveLine&);

}  // namespace solver::command
