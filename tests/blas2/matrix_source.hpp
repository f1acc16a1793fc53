#pragma once

/// The matrices that are judged.

#include "built_in.hpp"
#include "matrices/find_matrix.hpp"
#include "options.hpp"

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace solver::blas2 {

/// Where a matrix comes from. Nothing is read before it is needed.
struct MatrixSource {
    std::string name;   ///< as in tables
    std::string suite;  ///< the same with letters, digits and _ alone, and no other matrix has it
    std::variant<std::filesystem::path, matrices::Generator, const BuiltIn*> from;
    bool is_square = true;
};

/// A matrix that is not judged.
struct LeftOut {
    std::string name;
    std::string reason;
    bool is_error = false;  ///< the file is damaged, or no matrix; else it is none for this program
};

struct MatrixSources {
    std::vector<MatrixSource> matrices;
    std::vector<LeftOut> left_out;
};

/// What --path names, of folders small files first; what is built in where there are none. Of files only the heads are read. A
/// file that is named and cannot be judged is an error (FileError); in a folder it is left out. What is named twice comes once.
MatrixSources find_sources(const Options& options);

/// Reads or makes the matrix in one of its precisions. Throws FileError, as where values lie beyond the range of float.
template <class T>
Sample<T> load(const MatrixSource& source, const Options& options);

}  // namespace solver::blas2
