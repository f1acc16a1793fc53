#pragma once

/// Matrices as uncompressed Matrix Market files.

#include "matrices/find_matrix.hpp"

#include <filesystem>

namespace solver::bench {

/// A folder of its own under the system's temporary one, removed with everything in it.
class TemporaryFolder {
public:
    TemporaryFolder();
    ~TemporaryFolder();
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// The file itself where it is uncompressed; else it is uncompressed, or generated, into the folder. Throws FileError.
std::filesystem::path uncompressed_file(const matrices::FoundMatrix& matrix, const TemporaryFolder& folder);

}  // namespace solver::bench
