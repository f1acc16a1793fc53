#pragma once

/// Matrices of the SuiteSparse Matrix Collection that can be had by name: catalogue.tsv.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace solver::matrices {

struct CatalogueEntry {
    std::string name, group;
    std::int64_t rows = 0, columns = 0;
    std::int64_t nonzeros = 0;
    std::int64_t stored_zeros = 0;  ///< the expanded matrix has nonzeros + stored_zeros entries
    std::string field;              ///< real, complex, integer or pattern
    std::string kind;               ///< what it comes from
    std::string good_for;
    std::string sha256;  ///< of NAME.mtx; empty where it is not known
};

/// $SOLVER_CATALOGUE, else catalogue.tsv beside the sources or in the installation; empty where neither is there.
std::filesystem::path catalogue_file();

/// All entries in the order of the file. Throws FileError that names the line.
std::vector<CatalogueEntry> read_catalogue(const std::filesystem::path& path);

/// The entry of NAME, NAME.mtx, GROUP/NAME or GROUP/NAME.mtx.
std::optional<CatalogueEntry> find_in_catalogue(std::string_view name, const std::vector<CatalogueEntry>& catalogue);

/// read_catalogue(catalogue_file()), or nothing at all where there is no such file.
std::vector<CatalogueEntry> usual_catalogue();

}  // namespace solver::matrices
