#pragma once

/// What `--matrix NAME` means.

#include "matrices/fetch_matrix.hpp"
#include "matrices/generators.hpp"

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace solver::matrices {

/// A matrix that was found: a file to read, or a generator to run.
struct FoundMatrix {
    std::variant<std::filesystem::path, Generator> source;
    std::string announcement;  ///< one line to show; empty where the file is the very path that was asked for
};

/// Where names are looked up, after the name as a path: each folder of SOLVER_MATRIX_PATH (colons between them), the folder
/// matrices/ of the sources and of the installation, and the cache (cache_folder).
std::vector<std::filesystem::path> matrix_folders();

/// Looks NAME up as a path, in the folders, among the generators (with or without .mtx), then in the catalogue, whose matrices
/// are fetched: a file always wins. Files may be compressed (NAME.gz); .mtx may be left out.
/// Throws FileError for a directory and for what exists but cannot be read, where fetching fails, and where there is nothing
/// at all: then the text lists what was tried, the generators and the closest names. InvalidArgument as find_generator.
FoundMatrix find_matrix(const std::string& name, const std::vector<std::filesystem::path>& folders = matrix_folders(),
                        Fetching fetching = Fetching::announced);

/// The Matrix Market files of a folder, small ones first. Throws FileError where there is none.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder);

/// The name of a file or a generator without .mtx and .gz.
std::string stem(std::string name);

}  // namespace solver::matrices
