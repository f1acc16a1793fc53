#pragma once

/// A X = B, put together from what the command line names.

#include "cleared_vectors.hpp"
#include "matrices/find_matrix.hpp"
#include "options.hpp"
#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

namespace solver::command {

/// A dense matrix, row by row.
template <class T>
struct DenseRows {
    DenseMatrix<T> transposed;

    DenseView<T> view() const { return transposed.view().transposed(); }
};

/// A matrix that was read or made. Of a complex one its real form, and everything after this works on real vectors of twice the
/// length.
template <class T>
struct LoadedMatrix {
    std::variant<CsrMatrix<T>, DenseRows<T>> matrix;  ///< dense where it is square and comes from an array file of real numbers
    bool is_complex = false;
    std::int64_t complex_nonzeros = 0;
};

/// Throws FileError.
template <class T>
LoadedMatrix<T> load_matrix(const matrices::FoundMatrix& found, int threads);

/// The path of the file, or the name of the generator.
std::string name_of(const matrices::FoundMatrix& found);

/// Ones; of complex numbers 1 + 0 i each, with `size` components.
template <class T>
std::vector<T> ones(std::int64_t size, bool is_complex, const Device& device);

/// The right-hand sides that the options ask for, rounded once. Throws FileError, and DimensionMismatch for a file with another
/// number of rows.
template <class T>
DenseMatrix<T> make_rhs(const Options& options, const SpmvPlan<T>& a, bool is_complex, ClearedVectors<T>& cleared);

/// The initial guesses of so many rows, of the file of the options; nothing where there is none. Throws FileError, and
/// DimensionMismatch for a file with another number of rows or of right-hand sides.
template <class T>
std::optional<DenseMatrix<T>> read_initial(const Options& options, std::int64_t rows, std::int64_t right_hand_sides,
                                           bool is_complex);

/// What the solve of `a` begins with: a copy of the initial guesses, or zeros.
template <class T>
DenseMatrix<T> first_x(const SpmvPlan<T>& a, const std::optional<DenseMatrix<T>>& initial, std::int64_t right_hand_sides,
                       ClearedVectors<T>& cleared);

/// The vectors of --near-null, one after another, as PreconditionerOptions wants them; of a complex z the parts of z and i z.
/// None where there is no such file. Throws like make_rhs.
std::vector<double> make_near_null_space(const Options& options, std::int64_t rows, bool is_complex);

/// The blocks of --block-size, as PreconditionerOptions wants them, of a matrix with so many rows; none where all rows are one.
std::vector<std::int32_t> make_blocks(std::int64_t block_size, std::int64_t rows);

/// "A * ones, formed exactly and rounded once" and the like.
std::string describe(const Rhs& rhs);

}  // namespace solver::command
