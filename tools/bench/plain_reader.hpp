#pragma once

#include "solver/csr_matrix.hpp"

#include <filesystem>

namespace solver::bench {

/// What a Matrix Market file says, by a reader with nothing in common with the library's: line by line, values by
/// std::from_chars, which rounds correctly. Slow.
template <class T>
struct PlainFile {
    CsrMatrix<T> stored;    ///< the entries as they stand there
    CsrMatrix<T> expanded;  ///< the matrix: with the other triangle of a symmetric one
};

/// Reads an uncompressed coordinate file that the library has accepted.
template <class T>
PlainFile<T> read_plainly(const std::filesystem::path& path);

}  // namespace solver::bench
