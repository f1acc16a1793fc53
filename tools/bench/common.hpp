#pragma once

/// What the benchmarks share.

#include "machine.hpp"
#include "matrices/find_matrix.hpp"
#include "options.hpp"
#include "report.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <vector>

namespace solver::bench {

template <std::floating_point T>
inline constexpr const char* precision_name = std::is_same_v<T, float> ? "single" : "double";

/// "512 MiB, beyond the last-level cache": where the data are found.
inline std::string place_of(double bytes) {
    const double mebibytes = bytes / (1 << 20);
    const std::string size = mebibytes < 10 ? fmt::format("{:.2g} MiB", mebibytes) : fmt::format("{:.0f} MiB", mebibytes);
    const auto cache = static_cast<double>(last_level_cache());
    if (cache == 0) return size;
    return size + (bytes > cache ? ", beyond the last-level cache" : ", cached");
}

/// The matrices asked for, or the usual ones; of these, a file that is not there is left out with a remark.
inline std::vector<matrices::FoundMatrix> find_matrices(const Options& options, const Report& report,
                                                        const std::string& usual_file, const std::vector<std::string>& usual) {
    std::vector<matrices::FoundMatrix> found;
    for (const std::string& name : options.matrices.empty() ? usual : options.matrices)
        found.push_back(matrices::find_matrix(name));
    if (!options.matrices.empty()) return found;
    try {
        found.insert(found.begin(), matrices::find_matrix(usual_file));
    } catch (const FileError&) {
        report.note(usual_file + " is left out: no such file can be read; SOLVER_MATRIX_PATH may name its folder");
    }
    return found;
}

/// What to call a matrix in a table.
inline std::string name_of(const matrices::FoundMatrix& matrix) {
    if (const auto* generator = std::get_if<matrices::Generator>(&matrix.source)) return generator->name;
    return std::get<std::filesystem::path>(matrix.source).filename().string();
}

}  // namespace solver::bench
