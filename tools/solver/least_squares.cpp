#include "least_squares.hpp"

#include "errors.hpp"
#include "fingerprint.hpp"
#include "interrupt.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/least_squares.hpp"
#include "stopwatch.hpp"
#include "tools/cli/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace solver::command {

void check_least_squares(const Options& options, std::int64_t rows, std::int64_t columns) {
    const auto refuse = [&](std::string_view option) {
        if (options.least_squares)
            throw cli::UsageError(fmt::format(
                "{}: not with --least-squares, which LSMR finds with a preconditioner of its own and without proofs", option));
        throw cli::UsageError(
            fmt::format("{}: for square systems only; the matrix is {} x {}, whose least squares are found by "
                        "LSMR, with a preconditioner of its own and without proofs",
                        option, rows, columns));
    };
    if (options.preconditioner && options.preconditioner != PreconditionerKind::none) refuse("--preconditioner");
    if (options.method) refuse("--method");
    if (options.guarantee != Guarantee::none) refuse(options.guarantee == Guarantee::rounded ? "--rounded" : "--verify");
    if (options.precision == Precision::mixed) refuse("--precision mixed");
    if (options.reference) refuse("--reference");
    if (!options.near_null.empty()) refuse("--near-null");
    const Options defaults;
    if (options.restart != defaults.restart) refuse("--restart");
    if (options.profile != defaults.profile) refuse("--profile");
    if (options.factors.drop_tolerance != defaults.factors.drop_tolerance) refuse("--drop-tolerance");
    if (options.factors.fill_factor != defaults.factors.fill_factor) refuse("--fill-factor");
    if (options.factors.amg.unknowns_per_node != defaults.factors.amg.unknowns_per_node) refuse("--unknowns-per-node");
}

namespace {

SolveResult as_of_a_system(const LeastSquaresResult& found) {
    SolveResult result;
    result.status = found.status;
    result.iterations = found.iterations;
    result.relative_residual = found.relative_residual;
    result.recursive_residual = found.relative_residual;
    result.restarts = found.restarts;
    result.history = found.history;
    return result;
}

/// By LSMR alone, or with factors where these are cheaper.
template <class T>
std::vector<LeastSquaresResult> find(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, const DenseMatrix<T>& b,
                                     DenseMatrix<T>& x, const LeastSquaresOptions& options, bool by_lsmr_alone) {
    if (!by_lsmr_alone) return least_squares<T>(a, transposed, b, x, options);
    std::vector<LeastSquaresResult> results;
    for (std::int64_t j = 0; j < b.columns; ++j)
        results.push_back(lsmr<T>(a, transposed, b.column(j), x.column(j), options.iteration));
    return results;
}

}  // namespace

template <class T>
Run run_least_squares(const Options& options, Accuracy accuracy, const SpmvPlan<T>& a, const DenseMatrix<T>& rhs,
                      DenseMatrix<T> x, LiveLine& live) {
    live.show("  preparing");
    const InterruptGuard interrupt;
    Run run;
    run.accuracy = accuracy;
    run.normal_residual = 0;
    Stopwatch watch;
    const CsrMatrix<T> transposed = a.dense() != nullptr ? CsrMatrix<T>() : transpose(a.matrix(), Device::cpu(options.threads));
    const SpmvPlan<T> of_transposed =
        a.dense() != nullptr ? SpmvPlan<T>(a.dense()->transposed(), options.device)
                             : SpmvPlan<T>(transposed, options.device,
                                           SpmvOptions{.kernel = options.spmv, .expected_products = products_of_a_solve});
    run.setup_seconds = watch.lap();
    KrylovOptions iteration{.accuracy = accuracy,
                            .tolerance = options.tolerance,
                            .absolute_tolerance = options.absolute_tolerance,
                            .max_iterations = options.max_iterations};
    iteration.keep_history = !options.history.empty() || !options.plot.empty();
    iteration.callback = [&](const Iteration& step) {
        live.show(step, options.tolerance);
        return !interrupt.requested();
    };
    iteration.callback_interval = iterations_between_questions(a.device());
    for (const LeastSquaresResult& found :
         find(a, of_transposed, rhs, x, {iteration, options.factors.memory_limit}, options.preconditioner.has_value())) {
        if (found.factor_entries > run.factor_entries) {
            run.of_normal_equations = found.preconditioner;
            run.factor_entries = found.factor_entries;
        }
        run.report.results.push_back(as_of_a_system(found));
        if (is_worse(found.normal_residual, *run.normal_residual)) run.normal_residual = found.normal_residual;
    }
    run.solve_seconds = watch.lap();
    live.clear();
    run.interrupted = interrupt.requested() && run.worst().status == SolveStatus::iteration_limit;
    run.solution = {x.rows, x.columns, {x.values.begin(), x.values.end()}};
    run.sha256 = sha256(run.solution.values);
    return run;
}

template Run run_least_squares(const Options&, Accuracy, const SpmvPlan<double>&, const DenseMatrix<double>&,
                               DenseMatrix<double>, LiveLine&);
template Run run_least_squares(const Options&, Accuracy, const SpmvPlan<float>&, const DenseMatrix<float>&, DenseMatrix<float>,
                               LiveLine&);

}  // namespace solver::command
