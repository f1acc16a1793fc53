#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace solver::matrices {

/// At most three names of generators, and of matrix files in these folders, that a mistyped name may have meant, best first.
std::vector<std::string> closest_names(const std::string& name, const std::vector<std::filesystem::path>& folders);

}  // namespace solver::matrices
