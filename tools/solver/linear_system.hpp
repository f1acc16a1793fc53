#pragma once

/// A x = b, put together from what the command line names.

#include "matrices/find_matrix.hpp"
#include "options.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/spmv.hpp"

#include <vector>

namespace solver::command {

/// The matrix, read or made. Throws FileError, and InvalidArgument where it is not square.
template <class T>
CsrMatrix<T> load_square(const matrices::FoundMatrix& found, int threads);

/// The path of the file, or the name of the generator.
std::string name_of(const matrices::FoundMatrix& found);

/// The right-hand side that the options ask for, rounded once. Throws FileError, and DimensionMismatch for a file of another
/// length.
template <class T>
std::vector<T> make_rhs(const Options& options, const SpmvPlan<T>& a);

/// The initial guess: of the file, or zero. Throws like make_rhs.
template <class T>
std::vector<T> make_initial(const Options& options, const SpmvPlan<T>& a);

/// "A * ones, formed exactly and rounded once" and the like.
std::string describe(const Rhs& rhs);

}  // namespace solver::command
