#pragma once

/// What makes a hard matrix fit for factors: scaling by powers of two, large entries on the diagonal, an order with little
/// fill. Everything here is integer arithmetic on the bits of the matrix: the same on every machine.

#include "solver/csr_matrix.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace solver {

/// Logarithms to base 2 are counted in units of 2^-20.
inline constexpr int log2_fraction_bits = 20;

/// A permutation that brings large entries to the diagonal: row row_of_column[j] goes to place j.
///
/// Among all permutations that put stored nonzeros on the whole diagonal it maximises the product of their magnitudes.
/// The duals prove it: with w_ij = log2|a_ij| in units of 2^-20, rounded down, every nonzero has
///     row_duals[i] + column_duals[j] >= w_ij, with equality on the new diagonal.
/// Otherwise `optimal` is false: as many nonzeros as possible stand on the diagonal, rows and columns left over are paired in
/// rising order, and the inequality holds without the equality.
struct Transversal {
    std::vector<std::int32_t> row_of_column;
    std::vector<std::int64_t> row_duals;
    std::vector<std::int64_t> column_duals;
    std::int64_t structural_rank = 0;  ///< the most nonzeros that a permutation can put on the diagonal
    bool optimal = true;               ///< false where the structural rank is below n, or where the search took too many steps
};

/// The maximum product transversal by shortest augmenting paths (Duff, Koster, SIAM J. Matrix Anal. Appl. 20(4), 1999, and
/// 22(4), 2001; MC64's job 5). Stored zeros count as absent, repeated entries as their sum. Ties are decided by position,
/// diagonal first. The search looks at five times as many entries as A has, but at least at 3 10^7, which only large random
/// patterns were seen to need: rows not matched by then go to any free place (Hopcroft, Karp 1973). Throws DimensionMismatch
/// where A is not square, InvalidArgument where an entry is not finite.
template <class T>
Transversal maximum_product_transversal(const CsrView<T>& a);

enum class Ordering {
    natural,  ///< columns stay where they are
    amd,  ///< approximate minimum degree on the pattern of A + A^T, after rows went to the diagonal (Amestoy, Davis, Duff 1996)
};

/// What complete factors without further exchanges would take (AMD's count for the pattern of A + A^T).
struct FillPrediction {
    double factor_entries = 0;  ///< of L and U together, the diagonal once
    double flops = 0;           ///< additions, multiplications and divisions of the factorisation
};

/// A becomes P_r D_r A D_c P_c: element (k, l) is a_ij 2^(row_exponents[i] + column_exponents[j]), i = row_order[k],
/// j = column_order[l].
///
/// The exponents are the negated duals of the transversal, rounded: no entry lies beyond 2, up to the 2^-20 of the logarithm,
/// and where the transversal is optimal the diagonal lies within [1/2, 2]. They are shifted against each other so that the
/// median column keeps its size, and clamped so that 2^e is a normal number of T; where that binds (chains of entries each far
/// larger than the one before, or far smaller), the diagonal may be smaller, but entries still stay within 2.
struct Preparation {
    std::vector<std::int32_t> row_exponents;     ///< of each row of A
    std::vector<std::int32_t> column_exponents;  ///< of each column of A
    std::vector<std::int32_t> row_order;         ///< which row of A comes k-th
    std::vector<std::int32_t> column_order;      ///< which column of A comes l-th
    std::int64_t structural_rank = 0;            ///< below n: A is singular whatever its values are
    std::optional<FillPrediction> fill;          ///< known with Ordering::amd
};

/// Computes the preparation of A. Rows and columns of the real form of a complex matrix (complex.hpp) stay in pairs: the
/// product of the larger parts of the numbers on the diagonal is maximised, and the order is one of pairs. In AMD's pattern
/// stored zeros count as entries. By the device's threads, but for the matching and AMD. Throws as maximum_product_transversal
/// does, and NotSupported where AMD is asked for more than 2^31 - 1 entries (of rows so long that it would leave all of them
/// where they are it is not asked).
template <class T>
Preparation prepare(const CsrView<T>& a, Ordering ordering, const Device& device = Device::cpu(1));

/// P_r D_r A D_c P_c, columns sorted within each row. Scaling is exact, except that an entry which would be below the smallest
/// normal number is rounded once (its row and column hold entries near 1). By the device's threads. Throws DimensionMismatch
/// where the sizes differ.
template <class T>
CsrMatrix<T> prepared_matrix(const CsrView<T>& a, const Preparation& preparation, const Device& device = Device::cpu(1));

/// How many, and the first of them, counted from 0; -1 where there are none.
struct Occurrences {
    std::int64_t count = 0;
    std::int64_t first = -1;
};

/// What can be wrong with a square matrix before its values matter. Stored zeros count as absent.
struct Diagnosis {
    std::int64_t rows = 0;
    std::int64_t structural_rank = 0;  ///< below rows: singular whatever the values are
    Occurrences unmatched_rows;        ///< that no permutation gives a nonzero on the diagonal, while all others have one
    Occurrences empty_rows;
    Occurrences empty_columns;
    Occurrences zero_diagonals;  ///< rows whose diagonal entry is missing or zero
};

/// Looks for empty rows and columns and zeros on the diagonal, and finds the structural rank. Throws as
/// maximum_product_transversal does. Where nothing is missing on the diagonal, by the device's threads.
template <class T>
Diagnosis diagnose(const CsrView<T>& a, const Device& device = Device::cpu(1));

/// Of the complex matrix whose real form was diagnosed, two rows of which are one (complex.hpp): each count is half. A zero on
/// the diagonal is a real part that is zero.
Diagnosis in_complex_numbers(const Diagnosis& real_form);

}  // namespace solver
