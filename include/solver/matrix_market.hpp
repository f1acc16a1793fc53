#pragma once

/// Matrix Market files (Boisvert, Pozo, Remington, NISTIR 5935, 1996), plain or compressed by gzip.
///
/// Read: coordinate and array; real, complex, integer and pattern (every entry 1); general, symmetric, skew-symmetric and
/// hermitian (expanded). T is float, double or std::complex of these: a real file can be read as complex, a complex one as real
/// is refused. Values are rounded to nearest once, from their decimal text to T, integers
/// of any length too; exponents may be marked by e or by Fortran's d. CRLF, blank lines, comments and tabs anywhere, capitals
/// in the banner and a missing last newline are fine. Entries at one place are summed with one rounding; explicit zeros are
/// kept; columns come out sorted within each row. nan, inf and values (or sums) beyond the range of T are refused; what is too
/// small becomes 0 or subnormal. A symmetric or skew-symmetric file stores one triangle, the lower as the format has it or the
/// upper; one with entries on both sides is refused, since expanding a matrix that was stored whole would double it. So is a
/// diagonal entry of a skew-symmetric matrix, and one of a hermitian matrix that is not real. At most 2^31 - 1 rows and
/// columns. A file that breaks the format throws FileError "path:line: what was seen, what was expected", always the first such
/// line. Whether a file is compressed is seen from its content, not from its name.

#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"

#include <filesystem>
#include <span>
#include <variant>

namespace solver {

struct MatrixMarketOptions {
    int threads = 0;  ///< that parse; 0 means one for each processor. The result does not depend on it.
};

/// Whether the file is complex. Reads no further than its header; throws FileError where that breaks the format, and of a pipe,
/// which could not be read again.
bool holds_complex_numbers(const std::filesystem::path& path);

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

/// Writes "coordinate real general", of complex numbers "coordinate complex general" (with the shortest decimals that read back
/// to the same bits), through a temporary file in the same folder that is renamed: an existing file is replaced whole or not at
/// all. A name that ends in .gz is compressed.
template <class T>
void write_matrix_market(const std::filesystem::path& path, const CsrView<T>& matrix);

/// Writes a dense matrix as "array real general" or "array complex general", in shortest decimals, whole or not at all,
/// compressed where the name ends in .gz.
template <class T>
void write_matrix_market(const std::filesystem::path& path, const DenseView<T>& matrix);

/// Writes a vector as an "array real general" or "array complex general" of one column, in shortest decimals, whole or not at
/// all, compressed where the name ends in .gz.
template <class T>
void write_vector(const std::filesystem::path& path, std::span<const T> vector);

}  // namespace solver
