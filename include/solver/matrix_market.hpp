#pragma once

/// Matrix Market files (Boisvert, Pozo, Remington, NISTIR 5935, 1996), plain or compressed by gzip.
///
/// Read: coordinate and array; real, integer and pattern (every entry 1); general, symmetric and skew-symmetric (expanded).
/// Complex and hermitian files are refused by name. Values are rounded to nearest once, from their decimal text to T. CRLF,
/// blank lines, comments, tabs and a missing last newline are fine. Entries at one place are summed with one rounding; explicit
/// zeros are kept. nan, inf and values beyond the range of T are refused, except that what is too small becomes 0 or subnormal.
/// A file that breaks the format throws FileError "path:line: what was seen, what was expected".

#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"

#include <filesystem>
#include <span>
#include <variant>

namespace solver {

struct MatrixMarketOptions {
    int threads = 0;  ///< that parse; 0 means one for each processor. The result does not depend on it.
};

/// A file in coordinate format gives a CsrMatrix, one in array format a DenseMatrix.
template <class T>
std::variant<CsrMatrix<T>, DenseMatrix<T>> read_matrix_market(const std::filesystem::path& path,
                                                              const MatrixMarketOptions& options = {});

/// Either format as a CsrMatrix; of an array file the nonzero elements.
template <class T>
CsrMatrix<T> read_csr(const std::filesystem::path& path, const MatrixMarketOptions& options = {});

/// A file with one column (or one row) as a vector; coordinate files may leave elements out, which are 0.
template <class T>
std::vector<T> read_vector(const std::filesystem::path& path, const MatrixMarketOptions& options = {});

/// Writes "coordinate real general" (with the shortest decimals that read back to the same bits), through a temporary file
/// in the same folder that is renamed: an existing file is replaced whole or not at all. A name that ends in .gz is compressed.
template <class T>
void write_matrix_market(const std::filesystem::path& path, const CsrView<T>& matrix);

/// The same in "array real general".
template <class T>
void write_matrix_market(const std::filesystem::path& path, const DenseView<T>& matrix);

/// The same for a vector, as an array of one column.
template <class T>
void write_vector(const std::filesystem::path& path, std::span<const T> vector);

}  // namespace solver
