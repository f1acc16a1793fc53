#pragma once

/// Matrices from the SuiteSparse Matrix Collection, by the script `fetch`.

#include "matrices/catalogue.hpp"

#include <filesystem>

namespace solver::matrices {

/// Whether a matrix of the catalogue that is not on this machine is downloaded.
enum class Fetching {
    never,      ///< as if there were no network
    quietly,    ///< only what goes wrong is told, on standard error
    announced,  ///< with one line on standard error before
};

/// Whether $SOLVER_OFFLINE is set (to anything but 0).
bool is_offline();

/// Where fetched matrices are kept: $SOLVER_CACHE, else $XDG_CACHE_HOME/solver, else $HOME/.cache/solver; empty without any.
std::filesystem::path cache_folder();

/// Runs `fetch GROUP/NAME`, which downloads the matrix into the cache, checks it, and tells on standard error what went wrong
/// (unless quiet, what was checked too). Whether the matrix is there now.
bool fetch_matrix(const CatalogueEntry& matrix, bool quiet);

}  // namespace solver::matrices
