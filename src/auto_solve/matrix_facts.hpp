#pragma once

/// What the automatic choice wants to know of a matrix, found in one pass over its entries and one over its pattern.

#include "core/row_facts.hpp"
#include "solver/spmv.hpp"

#include <cstdint>

namespace solver {

/// empty_rows is 0 unless A is its own transpose, whose columns are empty where its rows are.
struct MatrixFacts : RowFacts {
    std::int64_t rows = 0;
    bool is_symmetric = false;          ///< to the bit, pattern and values
    bool is_nearly_symmetric = false;   ///< but for rounding (is_mirrored)
    bool is_complex_symmetric = false;  ///< the real form of a complex matrix that is its own transpose, to the bit

    /// As where the diagonal alone is missing: what takes this matrix does not set them aside.
    void count_empty_rows_as_zeros() {
        if (empty_rows == 0) return;
        empty_rows = 0;
        zeros_on_diagonal = true;
        positive_diagonal = false;
    }

    bool may_be_positive_definite() const { return is_symmetric && positive_diagonal; }

    /// With rows for which the Schur complement of the others may stand.
    bool may_be_saddle_point() const { return is_symmetric && !positive_diagonal; }

    /// Constants, nearly: four of five rows add up to nothing, as inside of differential operators and graphs.
    bool maps_constants_to_zero() const { return 5 * zero_sums >= 4 * rows; }

    /// Whether the entries of A may add up to zero in all: so they do where those of every column do.
    bool may_add_up_to_zero() const { return (positive_sums > 0) == (negative_sums > 0); }

    /// Whether an A that is its own transpose is indefinite though its diagonal is positive, since most of its rows turn
    /// constants round: as where Helmholtz's equation has waves, which coarse levels correct the wrong way and incomplete
    /// factors rarely serve (Ernst and Gander, Why it is difficult to solve Helmholtz problems with classical iterative
    /// methods, 2012). Where D A D of a definite A has negative sums it has positive ones as well.
    bool turns_constants_round() const {
        const bool is_own_transpose = is_symmetric || is_nearly_symmetric || is_complex_symmetric;
        return is_own_transpose && positive_diagonal && 2 * negative_sums > rows && negative_sums > 4 * positive_sums;
    }

    /// Whether multigrid by aggregation of strong neighbours has a chance: discretised elliptic operators, graphs, weak
    /// couplings; nine of ten rows balanced, the diagonal of one sign, no waves.
    bool suits_multigrid() const {
        return is_finite && positive_diagonal && 10 * balanced_rows >= 9 * rows && !turns_constants_round();
    }
};

/// Of a sparse or a dense matrix, by the device that has it. Depends on counts and comparisons alone.
template <class T>
MatrixFacts facts_of(const SpmvPlan<T>& a);

/// Without what two rows tell.
template <class T>
RowFacts row_facts_of(const SpmvPlan<T>& a);

}  // namespace solver
