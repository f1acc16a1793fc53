#pragma once

/// What a mistyped name may have meant.

#include "matrices/catalogue.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace solver::matrices {

/// How many letters must be put in, taken out or changed to make one text of the other (Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// At most three names of generators, of matrix files in these folders, and of the catalogue, that a mistyped name may have
/// meant, best first.
std::vector<std::string> closest_names(const std::string& name, const std::vector<std::filesystem::path>& folders,
                                       const std::vector<CatalogueEntry>& catalogue);

}  // namespace solver::matrices
