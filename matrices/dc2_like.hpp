#pragma once

#include "solver/csr_matrix.hpp"

namespace solver::matrices {

/// A made circuit with the anatomy of IBM_EDA/dc2 (SuiteSparse collection): the conductances of a DC operating point in
/// modified nodal analysis (Ho, Ruehli, Brennan, IEEE Trans. Circuits Syst. 22(6), 1975). 116 835 rows and 766 396 entries,
/// two supply rails (rows and columns 90 and 91, counted from 1) that nearly everything and 47 191 nodes hang on, 26 nets
/// with a fan-out near 250, and short rows for the rest. Pattern symmetry 0.85, numeric symmetry 0.24.
///
/// The entries of row 91 sum to exactly -1.005 (rounded to a multiple of 2^-17): 47 192 entries cancel a diagonal of
/// 58 107, so sums in single precision keep few digits of it or none. Every value is representable in float, so single and
/// double precision solve the same system. Deterministic: integer random numbers and exact or single IEEE operations.
CsrMatrix<double> dc2_like();

}  // namespace solver::matrices
