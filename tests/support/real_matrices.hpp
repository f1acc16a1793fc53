#pragma once

/// The real matrices that tests use where they are at hand.

#include "solver/matrix_market.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace solver::testing {

/// From the folder in SOLVER_TEST_MATRICES, else ../shared/matrices beside the source tree; nothing where the file is absent.
inline std::optional<CsrMatrix<double>> real_matrix(const std::string& name) {
    const char* const folder = std::getenv("SOLVER_TEST_MATRICES");
    std::filesystem::path path = (folder != nullptr ? std::filesystem::path(folder)
                                                    : std::filesystem::path(SOLVER_TEST_DATA) / "../../../shared/matrices") /
                                 (name + ".mtx");
    if (!std::filesystem::exists(path)) path += ".gz";
    if (!std::filesystem::exists(path)) return std::nullopt;
    return read_csr<double>(path);
}

}  // namespace solver::testing
