#include "matrices/find_matrix.hpp"

#include "matrices/closest_names.hpp"

#include "solver/error.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

namespace solver::matrices {
namespace {

namespace fs = std::filesystem;

void append_parts(std::vector<fs::path>& folders, std::string_view colon_separated) {
    while (!colon_separated.empty()) {
        const std::size_t colon = std::min(colon_separated.find(':'), colon_separated.size());
        if (colon > 0) folders.emplace_back(colon_separated.substr(0, colon));
        colon_separated.remove_prefix(std::min(colon + 1, colon_separated.size()));
    }
}

/// The names that a file of this matrix may have.
std::vector<std::string> file_names(const std::string& name) {
    std::vector<std::string> names{name};
    if (!name.ends_with(".gz")) names.push_back(name + ".gz");
    if (!fs::path(name).has_extension()) {
        names.push_back(name + ".mtx");
        names.push_back(name + ".mtx.gz");
    }
    return names;
}

/// Whether a file is there to be read; what is there but of no use is an error, for something else would be taken silently.
bool usable(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (status.type() == fs::file_type::not_found) {
        if (fs::is_symlink(fs::symlink_status(path, error)))
            throw FileError(path.string(), 0,
                            "is a symbolic link to a file that does not exist; expected a Matrix Market file");
        return false;
    }
    if (error) {
        // No folder of that name, or a name too long for a file: then nothing is there.
        if (error == std::errc::not_a_directory || error == std::errc::filename_too_long) return false;
        throw FileError(path.string(), 0,
                        fmt::format("cannot be looked at ({}); expected a Matrix Market file", error.message()));
    }
    if (fs::is_directory(status))
        throw FileError(path.string(), 0, "is a directory; expected a Matrix Market file (.mtx or .mtx.gz): name a file in it");
    if (::access(path.c_str(), R_OK) != 0)
        throw FileError(path.string(), 0, "exists but may not be read by this user; check its permissions (chmod +r)");
    return true;
}

std::string list_of(const std::vector<fs::path>& tried) {
    std::string text;
    for (const fs::path& path : tried) text += fmt::format("  {}\n", path.string());
    return text;
}

std::string not_found(const std::string& name, const std::vector<fs::path>& tried, const std::vector<fs::path>& folders,
                      const std::vector<CatalogueEntry>& catalogue) {
    std::string text = "no such matrix. Tried:\n" + list_of(tried);
    text += "and the generators:\n";
    for (const GeneratorKind& kind : generator_kinds()) text += fmt::format("  {:<27} {}\n", kind.pattern, kind.purpose);
    const std::vector<std::string> close = closest_names(name, folders, catalogue);
    if (!close.empty()) text += fmt::format("Closest names: {}\n", fmt::join(close, ", "));
    if (!catalogue.empty())
        text += fmt::format("{} matrices of the SuiteSparse collection are fetched by their name: matrices/fetch --list\n",
                            catalogue.size());
    return text + "SOLVER_MATRIX_PATH may name further folders, with colons between them.";
}

/// The matrix of the catalogue that is not on this machine, downloaded; nothing where that is not to be or failed.
std::optional<FoundMatrix> fetched(const std::string& name, const CatalogueEntry& entry, Fetching fetching) {
    if (fetching == Fetching::never || is_offline()) return std::nullopt;
    if (fetching == Fetching::announced)
        fmt::print(stderr, "matrix {}: not on this machine, fetching {}/{} ({} x {}, {} nonzeros) into {}\n", name, entry.group,
                   entry.name, entry.rows, entry.columns, entry.nonzeros, cache_folder().string());
    if (!fetch_matrix(entry, fetching == Fetching::quietly)) return std::nullopt;
    const fs::path path = cache_folder() / (entry.name + ".mtx");
    return FoundMatrix{path, fmt::format("matrix {}: {}", name, path.string())};
}

std::string not_fetched(const CatalogueEntry& entry, Fetching fetching, const std::vector<fs::path>& tried) {
    std::string text = fmt::format("{}/{} of the SuiteSparse collection is not on this machine", entry.group, entry.name);
    if (fetching == Fetching::never)
        text += fmt::format("; matrices/fetch {} gets it", entry.name);
    else if (is_offline())
        text += ", and SOLVER_OFFLINE forbids fetching it";
    else
        text += ", and fetching it failed, as told above";
    text += ". Tried:\n" + list_of(tried);
    if (const auto generator = find_generator(entry.name + "_like"))
        text += fmt::format("Without a network, {} stands in for it: {}\n", generator->name, generator->purpose);
    return text + "SOLVER_MATRIX_PATH may name further folders, with colons between them.";
}

}  // namespace

std::vector<fs::path> matrix_folders() {
    std::vector<fs::path> folders;
    if (const char* path = std::getenv("SOLVER_MATRIX_PATH")) append_parts(folders, path);
    folders.emplace_back(SOLVER_MATRICES_SOURCE_FOLDER);
    folders.emplace_back(SOLVER_MATRICES_INSTALLED_FOLDER);
    if (const fs::path cache = cache_folder(); !cache.empty()) folders.push_back(cache);
    return folders;
}

FoundMatrix find_matrix(const std::string& name, const std::vector<fs::path>& folders, Fetching fetching) {
    if (name.empty())
        throw InvalidArgument("the name of the matrix is empty; expected a file or a generator, as in dc2_like.mtx");
    std::vector<fs::path> places{""};
    if (fs::path(name).is_relative()) places.insert(places.end(), folders.begin(), folders.end());

    std::vector<fs::path> tried;
    for (const fs::path& place : places) {
        for (const std::string& file_name : file_names(name)) {
            const fs::path path = place / file_name;
            if (usable(path)) return {path, path == name ? "" : fmt::format("matrix {}: {}", name, path.string())};
            tried.push_back(path);
        }
    }
    if (auto generator = find_generator(name)) {
        std::string announcement = fmt::format("matrix {}: no such file, generated ({})", name, generator->purpose);
        return {std::move(*generator), std::move(announcement)};
    }
    const std::vector<CatalogueEntry> catalogue = usual_catalogue();
    const auto entry = find_in_catalogue(name, catalogue);
    if (!entry) throw FileError(name, 0, not_found(name, tried, folders, catalogue));
    if (auto found = fetched(name, *entry, fetching)) return std::move(*found);
    throw FileError(name, 0, not_fetched(*entry, fetching, tried));
}

std::vector<fs::path> files_in(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".mtx") || name.ends_with(".mtx.gz")) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end(), [](const fs::path& x, const fs::path& y) {
        return std::pair(fs::file_size(x), x) < std::pair(fs::file_size(y), y);
    });
    if (files.empty()) throw FileError(folder.string(), 0, "there is no Matrix Market file (.mtx, .mtx.gz) in this folder");
    return files;
}

std::string stem(std::string name) {
    for (const std::string_view suffix : {".gz", ".mtx"})
        if (name.ends_with(suffix)) name.resize(name.size() - suffix.size());
    return name;
}

}  // namespace solver::matrices
