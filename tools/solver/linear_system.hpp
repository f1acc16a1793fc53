#pragma once

/// A X = B, put together from what the command line names.

#include "matrices/find_matrix.hpp"
#include "options.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <variant>
#include <vector>

namespace solver::command {

/// A dense matrix, row by row.
template <class T>
struct DenseRows {
    DenseMatrix<T> transposed;

    DenseView<T> view() const { return transposed.view().transposed(); }
};

/// The matrix, read or made; dense where it is square and comes from an array file. Throws FileError.
template <class T>
std::variant<CsrMatrix<T>, DenseRows<T>> load_matrix(const matrices::FoundMatrix& found, int threads);

/// The path of the file, or the name of the generator.
std::string name_of(const matrices::FoundMatrix& found);

/// The right-hand sides that the options ask for, rounded once. Throws FileError, and DimensionMismatch for a file with another
/// number of rows.
template <class T>
DenseMatrix<T> make_rhs(const Options& options, const SpmvPlan<T>& a);

/// The initial guesses of so many rows: of the file, or zero. Throws like make_rhs, also where there is not one for each of the
/// right-hand sides.
template <class T>
DenseMatrix<T> make_initial(const Options& options, std::int64_t rows, std::int64_t right_hand_sides);

/// The vectors of --near-null, one after another, as PreconditionerOptions wants them; none where there is no such file.
/// Throws like make_rhs.
std::vector<double> make_near_null_space(const Options& options, std::int64_t rows);

/// "A * ones, formed exactly and rounded once" and the like.
std::string describe(const Rhs& rhs);

}  // namespace solver::command
