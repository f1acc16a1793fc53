#pragma once

/// A with a preconditioner, ready to iterate.

#include "bicgstab/run.hpp"
#include "preconditioner/ilut.hpp"
#include "preconditioner/klu.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/preparation.hpp"
#include "solver/solve.hpp"

#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace solver {

/// The iteration runs in V: in T with A, or in a lower precision with A rounded.
template <class T, class V>
class System {
public:
    static constexpr bool is_mixed = !std::is_same_v<T, V>;

    /// `preparation`, of A, is made here where it is needed and not yet there.
    System(const SpmvPlan<T>& a, std::optional<Preparation>& preparation, const SolveOptions& options)
        : a_(a), preparation_(preparation), options_(options) {
        if constexpr (is_mixed) {
            rounded_ = convert<V>(a.matrix());
            rounded_plan_ = std::make_unique<SpmvPlan<V>>(rounded_, a.device(), a.kernel());
        }
    }

    const Preconditioner<V>& preconditioner() const { return *m_; }

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

    std::vector<SolveResult> run(std::span<const Unknown<T>> unknowns, const BicgstabOptions& options,
                                 const Pauses& pauses) const {
        if constexpr (is_mixed)
            return run_bicgstab(a_, *rounded_plan_, *m_, unknowns, options, pauses);
        else
            return run_bicgstab<T>(a_, *m_, unknowns, options, pauses);
    }

private:
    CsrView<V> matrix() const {
        if constexpr (is_mixed)
            return rounded_;
        else
            return a_.matrix();
    }

    const SpmvPlan<T>& a_;
    std::optional<Preparation>& preparation_;
    const SolveOptions& options_;
    CsrMatrix<V> rounded_;
    std::unique_ptr<SpmvPlan<V>> rounded_plan_;
    PreconditionerKind kind_ = PreconditionerKind::none;
    std::unique_ptr<Preconditioner<V>> m_;
};

}  // namespace solver
