#include "solve.hpp"

#include "linear_system.hpp"
#include "products.hpp"
#include "reference.hpp"
#include "run.hpp"
#include "solver/error.hpp"
#include "stopwatch.hpp"

#include <fmt/format.h>

#include <utility>

namespace solver::command {
namespace {

/// The accuracy asked for, then the others where they are to be compared.
std::vector<Accuracy> accuracies(const Options& options) {
    std::vector<Accuracy> chosen{options.accuracy};
    if (options.compare)
        for (const Accuracy accuracy : all_accuracies)
            if (accuracy != options.accuracy) chosen.push_back(accuracy);
    return chosen;
}

template <class T>
Diagnosis structure_of(const CsrMatrix<T>& matrix) {
    try {
        return diagnose(matrix.view());
    } catch (const InvalidArgument&) {  // Inf or NaN: the solve will say so
        return {
            .rows = matrix.rows, .structural_rank = matrix.rows, .empty_rows = {}, .empty_columns = {}, .zero_diagonals = {}};
    }
}

template <class T>
Outcome solve_in(const Options& options, const matrices::FoundMatrix& found, LiveLine& live) {
    Stopwatch watch;
    live.show(fmt::format("  reading {}", name_of(found)));
    const CsrMatrix<T> matrix = load_square<T>(found, options.threads);
    Outcome outcome;
    outcome.read_seconds = watch.lap();
    outcome.matrix = name_of(found);
    outcome.generated = std::holds_alternative<matrices::Generator>(found.source);
    outcome.rows = matrix.rows;
    outcome.columns = matrix.columns;
    outcome.nonzeros = matrix.nonzeros();
    outcome.structure = structure_of(matrix);

    watch.lap();
    const SpmvPlan<T> a(matrix, options.device, options.spmv);
    const DenseMatrix<T> rhs = make_rhs(options, a);
    const DenseMatrix<T> initial = make_initial(options, rhs);
    outcome.setup_seconds = watch.lap();
    outcome.spmv = a.kernel();
    outcome.right_hand_sides = rhs.columns;
    for (const Accuracy accuracy : accuracies(options)) {
        outcome.runs.push_back(run_solve(options, accuracy, a, rhs, initial, live));
        if (outcome.runs.back().interrupted) break;
    }
    if constexpr (std::is_same_v<T, double>)
        if (options.reference && !outcome.runs.back().interrupted)
            outcome.references = reference_runs(options, a, rhs, outcome.run(), live);
    if (options.wants_page() && !outcome.runs.back().interrupted) outcome.products = product_errors(options, a, live);
    return outcome;
}

}  // namespace

Outcome solve(const Options& options, const matrices::FoundMatrix& found, LiveLine& live) {
    return options.precision == Precision::single_precision ? solve_in<float>(options, found, live)
                                                            : solve_in<double>(options, found, live);
}

}  // namespace solver::command
