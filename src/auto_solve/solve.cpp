#include "solver/solve.hpp"

#include "auto_solve/climb.hpp"
#include "auto_solve/iterates.hpp"
#include "auto_solve/ladder.hpp"
#include "auto_solve/system.hpp"
#include "krylov/run.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver {
namespace {

template <class T>
bool has_zeros_on_diagonal(const CsrView<T>& a) {
    for (std::int64_t i = 0; i < a.rows; ++i) {
        bool found = false;
        for (std::int64_t k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k)
            found = found || (a.column_indices[k] == i && a.values[k] != T(0));
        if (!found) return true;
    }
    return false;
}

template <class T>
bool all_finite(const CsrView<T>& a) {
    return std::all_of(a.values.begin(), a.values.end(), [](T value) { return is_finite(value); });
}

template <class T>
void look_at(const CsrView<T>& a, LadderFacts& facts) {
    facts.nonzeros = a.nonzeros();
    facts.zeros_on_diagonal = has_zeros_on_diagonal(a);
    facts.is_finite = all_finite(a);
}
template <class T>
void look_at(const DenseView<T>& a, LadderFacts& facts) {
    for (std::int64_t j = 0; j < a.columns; ++j)
        for (std::int64_t i = 0; i < a.rows; ++i) {
            const T element = a.data[i * a.row_stride + j * a.column_stride];
            facts.nonzeros += element != T(0) ? 1 : 0;
            facts.zeros_on_diagonal = facts.zeros_on_diagonal || (i == j && element == T(0));
            facts.is_finite = facts.is_finite && is_finite(element);
        }
}

template <class T>
LadderFacts facts_of(const SpmvPlan<T>& a, const SolveOptions& options, std::function<const Preparation&()> preparation) {
    LadderFacts facts;
    facts.rows = a.rows();
    if (a.dense() != nullptr)
        look_at(*a.dense(), facts);
    else
        look_at(a.matrix(), facts);
    facts.tolerance = options.iteration.tolerance;
    facts.fill_factor = options.factors.fill_factor;
    facts.preparation = std::move(preparation);
    return facts;
}

/// Climbs with the iteration in V, for at most so many iterations.
template <class V, class T>
void climb_in(Climb<T>& climb, const SpmvPlan<T>& a, std::optional<Preparation>& preparation, const SolveOptions& options,
              std::int64_t max_iterations) {
    System<T, V> system(a, preparation, options);
    Ladder ladder = options.preconditioner
                        ? Ladder(*options.preconditioner)
                        : Ladder(facts_of(a, options, [&]() -> const Preparation& { return system.preparation(); }));
    climb.up(system, ladder, max_iterations);
}

template <class T>
SolveReport solve_unknowns(const SpmvPlan<T>& a, std::vector<Unknown<T>> unknowns, const SolveOptions& options) {
    Iterates<T> iterates(a, std::move(unknowns), options.iteration.tolerance);
    Climb<T> climb(iterates, options);
    std::optional<Preparation> preparation;
    const std::int64_t limit = options.iteration.max_iterations;
    if (options.mixed) {
        if constexpr (!std::is_same_v<T, double>)
            throw InvalidArgument("solve: mixed precision iterates in single and holds x in double; give A, b and x in double");
        else
            climb_in<float>(climb, a, preparation, options, (limit + 1) / 2);
    }
    climb_in<T>(climb, a, preparation, options, limit);
    return climb.report();
}

}  // namespace

template <class T>
SolveReport solve(const SpmvPlan<T>& a, std::span<const T> b, std::span<T> x, std::span<T> x_low, const SolveOptions& options) {
    return solve_unknowns<T>(a, {checked_unknown(a, b, x, x_low, options.iteration)}, options);
}

template <class T>
SolveReport solve(const SpmvPlan<T>& a, const DenseMatrix<T>& b, DenseMatrix<T>& x, DenseMatrix<T>* x_low,
                  const SolveOptions& options) {
    return solve_unknowns<T>(a, checked_unknowns(a, b, x, x_low, options.iteration), options);
}

template SolveReport solve(const SpmvPlan<float>&, std::span<const float>, std::span<float>, std::span<float>,
                           const SolveOptions&);
template SolveReport solve(const SpmvPlan<double>&, std::span<const double>, std::span<double>, std::span<double>,
                           const SolveOptions&);
template SolveReport solve(const SpmvPlan<float>&, const DenseMatrix<float>&, DenseMatrix<float>&, DenseMatrix<float>*,
                           const SolveOptions&);
template SolveReport solve(const SpmvPlan<double>&, const DenseMatrix<double>&, DenseMatrix<double>&, DenseMatrix<double>*,
                           const SolveOptions&);

}  // namespace solver
