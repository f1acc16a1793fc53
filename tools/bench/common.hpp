#pragma once

/// What the benchmarks share.

#include "matrices/find_matrix.hpp"
#include "options.hpp"
#include "report.hpp"

#include <concepts>
#include <string>
#include <variant>
#include <vector>

namespace solver::bench {

template <std::floating_point T>
inline constexpr const char* precision_name = std::is_same_v<T, float> ? "single" : "double";

/// "512 MiB, beyond the last-level cache": where the data are found, for a cache of so many bytes (0: unknown).
std::string place_of(double bytes, std::int64_t cache);

/// The last-level cache of what the options say is measured.
std::int64_t cache_of(const Options& options);

/// The matrices asked for, each once, or the usual ones: G3_circuit, left out with a remark where no file of it is found, and
/// those of usual_matrices. Throws InvalidArgument where an output would replace one, and for a complex one, which spmv alone
/// takes.
std::vector<matrices::FoundMatrix> find_matrices(const Options& options, const Report& report);

/// The matrices of folders, files and names, each once; of a folder small files first. Throws FileError where a folder holds
/// none, InvalidArgument where an output would replace a matrix.
std::vector<matrices::FoundMatrix> matrices_of(const Options& options);

/// Whether its numbers are complex; of a file the header is read, which throws FileError where that is damaged.
bool is_complex(const matrices::FoundMatrix& matrix);

/// A square real matrix; or why this is none: "complex", "2 x 3", what is wrong with the file.
std::variant<CsrMatrix<double>, std::string> square_matrix(const matrices::FoundMatrix& found, int threads);

/// What to call a matrix in a table.
std::string name_of(const matrices::FoundMatrix& matrix);

/// What to call a matrix, without suffix.
std::string short_name(const matrices::FoundMatrix& found);

}  // namespace solver::bench
