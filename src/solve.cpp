#include "solver/solve.hpp"

#include "bicgstab/run.hpp"
#include "column_norms.hpp"
#include "preconditioner/ilut.hpp"
#include "preconditioner/klu.hpp"
#include "solve/climb.hpp"
#include "solve/ladder.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/error.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/reduce.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver {
namespace {

/// A, or A rounded to V, with its preconditioners; B and X in T.
template <class T, class V>
class System {
public:
    System(const SpmvPlan<T>& a, std::vector<Unknown<T>> unknowns, const SolveOptions& options)
        : a_(a), unknowns_(std::move(unknowns)), options_(options), best_(unknowns_.size()) {
        for (const Unknown<T>& unknown : unknowns_) initial_.emplace_back(unknown.x.begin(), unknown.x.end());
        if constexpr (is_mixed) {
            rounded_ = convert<V>(a.matrix());
            rounded_plan_ = std::make_unique<SpmvPlan<V>>(rounded_, a.device(), a.kernel());
        }
    }

    std::size_t columns() const { return unknowns_.size(); }
    const Preconditioner<V>& preconditioner() const { return *m_; }

    /// Made once, and kept.
    const Preparation& preparation() {
        if (!preparation_) preparation_ = prepare(a_.matrix(), Ordering::amd);
        return *preparation_;
    }

    void precondition(PreconditionerKind kind) {
        if (m_ && kind == kind_) return;
        m_.reset();
        kind_ = kind;
        if (kind == PreconditionerKind::klu)  // of A itself: where A is hard, the inverse of A rounded may be far off
            m_ = make_klu<V>(a_.matrix(), preparation(), options_.factors, a_.device());
        else if (kind == PreconditionerKind::ilut)
            m_ = make_ilut<V>(matrix(), preparation(), options_.factors, a_.device());
        else
            m_ = make_preconditioner<V>(kind, matrix(), options_.iteration.accuracy, a_.device(), options_.factors);
    }

    std::vector<SolveResult> run(std::span<const std::int64_t> columns, const BicgstabOptions& options) {
        std::vector<Unknown<T>> chosen;
        for (const std::int64_t column : columns) chosen.push_back(unknowns_[column]);
        if constexpr (is_mixed)
            return run_bicgstab(a_, *rounded_plan_, *m_, chosen, options);
        else
            return run_bicgstab<T>(a_, *m_, chosen, options);
    }

    /// The rounding of x alone changes b - A x by about u || |A| |x| ||, estimated by the norm of (w_j x_j), w_j the 1-norm of
    /// column j (as for the drift of the residual, bicgstab/drift.hpp). Where that is above the tolerance, an x that came out
    /// of nearly singular factors, the initial guess is the better place to go on from.
    void start_over_if_too_large(std::int64_t column, double residual) {
        Unknown<T>& unknown = unknowns_[column];
        if (!unknown.x_low.empty()) return;
        if (column_norms_.empty()) column_norms_ = one_norms_of_columns(a_.matrix());
        std::vector<T> terms(unknown.x.size());
        for (std::size_t j = 0; j < terms.size(); ++j) terms[j] = mul_rn(column_norms_[j], unknown.x[j]);
        const double rounding = unit_roundoff<T> * static_cast<double>(norm(terms));
        if (!(rounding > options_.iteration.tolerance * static_cast<double>(norm(unknown.b)))) return;
        Best& best = best_[column];
        if (best.x.empty() || residual < best.residual) best = {{unknown.x.begin(), unknown.x.end()}, residual};
        std::copy(initial_[column].begin(), initial_[column].end(), unknown.x.begin());
    }

    /// Given the residual of the present x, returns that of the better one.
    double restore_best(std::int64_t column, double residual) {
        const Best& best = best_[column];
        if (best.x.empty() || !(best.residual < residual)) return residual;
        std::copy(best.x.begin(), best.x.end(), unknowns_[column].x.begin());
        return best.residual;
    }

private:
    /// An x that was given up, and its residual.
    struct Best {
        std::vector<T> x;
        double residual = 0;
    };

    T norm(std::span<const T> x) const { return norm2(x, Accuracy::exact, a_.device()); }

    static constexpr bool is_mixed = !std::is_same_v<T, V>;

    const CsrView<V> matrix() const {
        if constexpr (is_mixed)
            return rounded_;
        else
            return a_.matrix();
    }

    const SpmvPlan<T>& a_;
    std::vector<Unknown<T>> unknowns_;
    const SolveOptions& options_;
    std::vector<std::vector<T>> initial_;
    std::vector<Best> best_;
    std::vector<T> column_norms_;
    CsrMatrix<V> rounded_;
    std::unique_ptr<SpmvPlan<V>> rounded_plan_;
    std::optional<Preparation> preparation_;
    PreconditionerKind kind_ = PreconditionerKind::none;
    std::unique_ptr<Preconditioner<V>> m_;
};

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

template <class T, class V>
SolveReport climb(const SpmvPlan<T>& a, std::vector<Unknown<T>> unknowns, const SolveOptions& options) {
    System<T, V> system(a, std::move(unknowns), options);
    const auto automatic = [&] {
        return LadderFacts{.rows = a.matrix().rows,
                           .nonzeros = a.matrix().nonzeros(),
                           .zeros_on_diagonal = has_zeros_on_diagonal(a.matrix()),
                           .is_finite = all_finite(a.matrix()),
                           .tolerance = options.iteration.tolerance,
                           .fill_factor = options.factors.fill_factor,
                           .preparation = [&]() -> const Preparation& { return system.preparation(); }};
    };
    Ladder ladder = options.preconditioner ? Ladder(*options.preconditioner) : Ladder(automatic());
    return Climb(system, ladder, options).run();
}

template <class T>
SolveReport solve_unknowns(const SpmvPlan<T>& a, std::vector<Unknown<T>> unknowns, const SolveOptions& options) {
    if (!options.mixed) return climb<T, T>(a, std::move(unknowns), options);
    if constexpr (std::is_same_v<T, double>)
        return climb<double, float>(a, std::move(unknowns), options);
    else
        throw InvalidArgument("solve: mixed precision iterates in single and holds x in double; give A, b and x in double");
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
