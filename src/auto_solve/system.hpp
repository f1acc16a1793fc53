#pragma once

/// A with a preconditioner, ready to iterate.

#include "auto_solve/empty_rows.hpp"
#include "auto_solve/least_squares_of_system.hpp"
#include "krylov/run.hpp"
#include "preconditioner/ilut.hpp"
#include "preconditioner/klu.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/preparation.hpp"
#include "solver/solve.hpp"

#include <algorithm>
#include <cstdint>
#include <future>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace solver {

/// The iteration runs in V: in T with A, or in a lower precision with A rounded.
template <class T, class V>
class System {
public:
    static constexpr bool is_mixed = !std::is_same_v<T, V>;

    /// `preparation`, of A, is made here where it is needed and not yet there. Where empty rows stand aside, which are empty
    /// columns, too, preconditioners are made of A with ones on the diagonal there. What `keeps` has of them all that were
    /// made.
    System(const SpmvPlan<T>& a, std::optional<Preparation>& preparation, const SolveOptions& options,
           bool empty_rows_stand_aside, bool keeps = false)
        : a_(a), preparation_(preparation), options_(options), keeps_(keeps) {
        if (empty_rows_stand_aside) filled_ = with_ones_in_empty_rows(a.matrix());
        if constexpr (is_mixed) {
            if (a.dense() != nullptr) {
                rounded_dense_ = rounded(*a.dense());
                rounded_plan_ = std::make_unique<SpmvPlan<V>>(rounded_dense_.view().transposed(), a.device());
            } else {
                rounded_ = convert<V>(a.matrix());
                rounded_plan_ = std::make_unique<SpmvPlan<V>>(rounded_, a.device(), like(a));
            }
        }
    }

    bool has_preconditioner() const { return m_ != nullptr; }
    bool is_preconditioner_of_a() const { return !filled_; }
    const Preconditioner<V>& preconditioner() const { return *m_; }

    const Preparation& preparation() {
        if (!preparation_) {
            tell("matching and order");
            preparation_ = prepare(source(), Ordering::amd, a_.device());
        }
        return *preparation_;
    }

    void precondition(PreconditionerKind kind) {
        if (m_ && kind == kind_) return;
        m_ = nullptr;
        kind_ = kind;
        if (!keeps_) made_.clear();
        std::unique_ptr<Preconditioner<V>>& made = made_[kind];
        if (!made) made = make(kind);
        m_ = made.get();
    }

    /// Of the preconditioner. Where a device iterates it is found meanwhile, else when it is asked for.
    std::future<std::uint64_t> factor_hash() const {
        const bool is_beside = a_.device().kind() == Device::Kind::cuda;
        return std::async(is_beside ? std::launch::async : std::launch::deferred, [this] { return m_->factor_hash(); });
    }

    std::vector<SolveResult> run(std::span<const Unknown<T>> unknowns, const KrylovOptions& options, const Pauses& pauses,
                                 KrylovMethod method) {
        if (!krylov_) krylov_.emplace(a_, plan());
        return krylov_->run(method, *m_, unknowns, options, pauses);
    }

    /// Least squares of all of these, each from a guess, with factors that cost at most so many steps; and then of what is left
    /// of b, by a tolerance that shows A to be singular: see LeastSquares.
    LeastSquares<T> least_squares(std::span<const Unknown<T>> unknowns, DenseMatrix<T> guesses, double most_steps,
                                  const KrylovOptions& options) requires(!is_mixed) {
        tell("least squares");
        return LeastSquares<T>(a_, unknowns, std::move(guesses), most_steps, options, options_.factors.memory_limit);
    }

private:
    std::unique_ptr<Preconditioner<V>> make(PreconditionerKind kind) {
        const Accuracy accuracy = options_.iteration.accuracy;
        PreconditionerOptions factors = options_.factors;
        factors.complex_numbers = options_.iteration.complex_scalars;
        const bool diagonal_suffices = kind == PreconditionerKind::none || kind == PreconditionerKind::jacobi;
        if (!diagonal_suffices) tell(std::string(to_string(kind)));
        const bool is_whole = !options_.preconditioner || options_.factors.block_of_row.empty();
        if (kind == PreconditionerKind::klu &&
            is_whole)  // of A itself: where A is hard, the inverse of A rounded may be far off
            return make_klu<V>(source(), preparation(), options_.factors, a_.device());
        if (kind == PreconditionerKind::ilut && is_whole)
            return make_ilut<V>(plan_of_source().matrix(), preparation(), options_.factors, a_.device());
        if (plan().dense() != nullptr && diagonal_suffices && !filled_)
            return make_preconditioner<V>(kind, diagonal_of(*plan().dense()), accuracy, a_.device(), factors);
        return make_preconditioner<V>(kind, plan_of_source(), accuracy, factors);
    }

    void tell(const std::string& next) const {
        if (options_.factors.progress) (*options_.factors.progress)(next);
    }

    /// Packed where A is and the rounded matrix can be as well.
    static SpmvOptions like(const SpmvPlan<T>& a) {
        if (a.describe().storage == SpmvStorage::csr)
            return {.kernel = a.kernel(), .storage = SpmvStorage::csr, .is_checked = true};
        return {.kernel = a.kernel(), .expected_products = std::numeric_limits<std::int64_t>::max(), .is_checked = true};
    }

    const SpmvPlan<V>& plan() const {
        if constexpr (is_mixed)
            return *rounded_plan_;
        else
            return a_;
    }

    /// What preconditioners are made of.
    CsrView<T> source() const { return filled_ ? filled_->view() : a_.matrix(); }

    const SpmvPlan<V>& plan_of_source() {
        if (!filled_) return plan();
        if (!filled_plan_) {
            const SpmvOptions options{.storage = SpmvStorage::csr};
            if constexpr (is_mixed) {
                rounded_filled_ = convert<V>(filled_->view());
                filled_plan_ = std::make_unique<SpmvPlan<V>>(rounded_filled_, a_.device(), options);
            } else {
                filled_plan_ = std::make_unique<SpmvPlan<V>>(*filled_, a_.device(), options);
            }
        }
        return *filled_plan_;
    }

    /// A rounded and transposed: its rows are contiguous.
    static DenseMatrix<V> rounded(const DenseView<T>& a) {
        DenseMatrix<V> result{a.columns, a.rows, {}};
        result.values.reserve(static_cast<std::size_t>(a.rows * a.columns));
        for (std::int64_t i = 0; i < a.rows; ++i)
            for (std::int64_t j = 0; j < a.columns; ++j)
                result.values.push_back(static_cast<V>(a.data[i * a.row_stride + j * a.column_stride]));
        return result;
    }

    /// What no preconditioner but Jacobi's and none looks at is left out; entries of complex numbers stand beside the diagonal.
    static CsrMatrix<V> diagonal_of(const DenseView<V>& a) {
        CsrMatrix<V> diagonal{a.rows, a.columns, {0}, {}, {}};
        for (std::int64_t i = 0; i < a.rows; ++i) {
            for (std::int64_t j = i - i % 2; j < std::min(i - i % 2 + 2, a.columns); ++j) {
                diagonal.column_indices.push_back(static_cast<std::int32_t>(j));
                diagonal.values.push_back(a.data[i * a.row_stride + j * a.column_stride]);
            }
            diagonal.row_offsets.push_back(diagonal.nonzeros());
        }
        return diagonal;
    }

    const SpmvPlan<T>& a_;
    std::optional<Preparation>& preparation_;
    const SolveOptions& options_;
    std::optional<CsrMatrix<T>> filled_;  ///< A with ones
    CsrMatrix<V> rounded_, rounded_filled_;
    DenseMatrix<V> rounded_dense_;  ///< transposed
    std::unique_ptr<SpmvPlan<V>> rounded_plan_, filled_plan_;
    bool keeps_;
    std::map<PreconditionerKind, std::unique_ptr<Preconditioner<V>>> made_;  ///< at most one, unless they are kept
    PreconditionerKind kind_ = PreconditionerKind::none;
    const Preconditioner<V>* m_ = nullptr;
    std::optional<KrylovSystem<T, V>> krylov_;  ///< for all attempts
};

}  // namespace solver
