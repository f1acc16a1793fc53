#pragma once

/// What complete factors would take, known without ordering the whole matrix.

#include "solver/preparation.hpp"
#include "solver/views.hpp"

namespace solver::preparation {

/// An estimate for a square matrix, from parts of it: the rows that a breadth-first search from the middle row meets first are
/// ordered by AMD, so many and eight times as many; operations and entries are taken to go on growing with the power of the
/// number of rows that lies between the two (Lipton, Rose, Tarjan, SIAM J. Numer. Anal. 16, 1979: operations like n^1.5 for
/// planar meshes, like n^2 in space). Costs the time of a few products for large matrices; a matrix that is not much larger
/// than the parts is ordered as a whole. Depends on the pattern alone. Columns are sorted within each row or not.
template <class T>
FillPrediction estimate_fill(const CsrView<T>& a);

}  // namespace solver::preparation
