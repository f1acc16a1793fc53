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
    /// Factors may cost so many steps.
    template <class T>
    GramCosts(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, double most_steps);

    double step() const { return step_; }  ///< of LSMR
    /// Of A A' or A'A.
    double gram(bool of_rows) const { return of_rows ? gram_of_rows_ : gram_of_columns_; }
    double most() const;                     ///< that is spent on factors
    std::int64_t trial(bool of_rows) const;  ///< steps that may do without
    bool is_cheap(bool of_rows) const;       ///< whether G and its factors, even full ones, cost less than few steps

    /// Of a G of so many entries, with the steps that they are made for.
    static double factors(std::int64_t entries, bool is_nearly_full, const FillPrediction& fill);

    /// Made and factored in pairs, by these operations.
    double in_pairs(bool of_rows, double flops) const;

    /// Of a G with these facts, with the steps that it is made for and those that look whether A'A has lost rank, as if it were
    /// made for each of the three anew: careful, as its steps are not known.
    double multigrid(const MatrixFacts& g) const;

private:
    double most_steps_;
    double rows_ = 0, columns_ = 0;
    bool is_dense_ = false;
    double step_ = 0;
    double gram_of_rows_ = 0, gram_of_columns_ = 0;
};

/// Of a matrix with columns of norm 1: whether a singular value is of the order of 2^-20 or below, and one of rounding.
enum class Rank { full, unclear, lost };

/// G + D, where G is A'A or A A' of A divided by a unit, and D a small diagonal matrix.
template <class T>
class ShiftedGram {
public:
    /// D by G's diagonal, or one number for all rows. Nothing where G is too dear or too large.
    enum class Shift { by_diagonal, common };
    static std::optional<ShiftedGram> of(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, bool of_rows, Shift shift,
                                         double unit, const GramCosts& costs, std::int64_t memory_limit);

    /// By an estimate alone where that is more than `most`: to order a G of many entries may cost as much as many steps.
    double cost_of_factors(double most);

    /// Null where they cannot be made.
    std::unique_ptr<Preconditioner<T>> factor();

    /// Of G + D, in double, where multigrid suits it and costs less than factors are estimated to.
    std::optional<MatrixFacts> facts_for_multigrid(const GramCosts& costs) const;

    /// Of G nearly alone, made anew and factored in pairs (gram_in_pairs.hpp). Null where they are too dear, cannot be made, or
    /// show that A has lost rank.
    std::unique_ptr<Preconditioner<T>> factor_in_pairs(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, bool of_rows,
                                                       double unit, const GramCosts& costs);

    /// Made where A lies. Null where it cannot be made.
    std::unique_ptr<Preconditioner<T>> multigrid(const Device& device) const;

    /// Of A, of which G is A'A and D by G's diagonal, by inverse iteration with the factors of G + D: whether that has an
    /// eigenvalue of the order of D, D^-1/2 on either side, and then whether A maps the vector to what rounding leaves.
    Rank rank_of(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, double unit, const Preconditioner<T>& inverse) const;

    double common_shift() const { return common_shift_; }  ///< 0 where D is by G's diagonal

private:
    const Preparation& preparation();

    /// The least eigenvalue of `inverse`'s matrix, D^-1/2 on either side, D the diagonal of G, nearly, and its vector, D^-1/2
    /// times it, in place of x.
    double least_eigenvalue(const Preconditioner<T>& inverse, std::vector<T>& x) const;

    ShiftedGram(CsrMatrix<double> gram, Shift shift, std::int64_t memory_limit, Device host);

    CsrMatrix<double> shifted_;               ///< G + D
    std::vector<double> diagonal_;            ///< of G
    std::optional<Preparation> preparation_;  ///< of G + D, once factors are thought of
    std::int64_t memory_limit_;
    Device host_;
    double common_shift_ = 0;
};

}  // namespace solver
