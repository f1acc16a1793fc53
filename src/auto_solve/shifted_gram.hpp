#pragma once

/// The normal equations, of which preconditioners of LSMR are made, and what these cost.

#include "auto_solve/matrix_facts.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/device.hpp"
#include "solver/preconditioner.hpp"
#include "solver/preparation.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace solver {

/// In units of one matrix entry in a product, as CostModel's, which has them for square systems.
class GramCosts {
public:
    template <class T>
    GramCosts(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed);

    double step() const { return step_; }  ///< of LSMR
    /// Of A A' or A'A.
    double gram(bool of_rows) const { return of_rows ? gram_of_rows_ : gram_of_columns_; }
    double most() const;                     ///< that is spent on factors
    std::int64_t trial(bool of_rows) const;  ///< steps that may do without

    /// Of a G of so many entries, with the steps that they are made for.
    static double factors(std::int64_t entries, bool is_nearly_full, const FillPrediction& fill);

    /// Of a G with these facts, with the steps that it is made for and those that look whether A'A has lost rank, as if it were
    /// made for each of the three anew: careful, as its steps are not known.
    double multigrid(const MatrixFacts& g) const;

private:
    double step_ = 0;
    double gram_of_rows_ = 0, gram_of_columns_ = 0;
};

/// G + D, where G is A'A or A A' of A divided by a unit, and D a small diagonal matrix.
template <class T>
class ShiftedGram {
public:
    /// D by G's diagonal, or one number for all rows. Nothing where G is too dear or too large.
    enum class Shift { by_diagonal, common };
    static std::optional<ShiftedGram> of(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, bool of_rows, Shift shift,
                                         double unit, const GramCosts& costs, std::int64_t memory_limit);

    double cost_of_factors();

    /// Null where they cannot be made.
    std::unique_ptr<Preconditioner<T>> factor();

    /// Of G + D, in double, where multigrid suits it and costs less than factors are estimated to.
    std::optional<MatrixFacts> facts_for_multigrid(const GramCosts& costs) const;

    /// Made where A lies. Null where it cannot be made.
    std::unique_ptr<Preconditioner<T>> multigrid(const Device& device) const;

    /// Whether G + D, D by G's diagonal, has an eigenvalue of the order of D, D^-1/2 on either side, as G without full rank
    /// has, by inverse iteration with its factors.
    bool may_have_lost_rank(const Preconditioner<T>& inverse) const;

    double common_shift() const { return common_shift_; }  ///< 0 where D is by G's diagonal

private:
    const Preparation& preparation();

    ShiftedGram(CsrMatrix<double> gram, Shift shift, std::int64_t memory_limit, Device host);

    CsrMatrix<double> shifted_;               ///< G + D
    std::vector<double> diagonal_;            ///< of G
    std::optional<Preparation> preparation_;  ///< of G + D, once factors are thought of
    std::int64_t memory_limit_;
    Device host_;
    double common_shift_ = 0;
};

}  // namespace solver
