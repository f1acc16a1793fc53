#include "matrices/catalogue.hpp"

#include "solver/error.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>

namespace solver::matrices {
namespace {

namespace fs = std::filesystem;

constexpr std::array titles{"name",         "group", "rows", "columns",  "nonzeros",
                            "stored_zeros", "field", "kind", "good_for", "sha256"};

/// One line of the catalogue, cut at its tabs.
class Row {
public:
    Row(const fs::path& path, std::int64_t line, std::string_view text) : path_(path), line_(line) {
        for (std::size_t tab = 0; tab != std::string_view::npos; text.remove_prefix(tab + 1)) {
            tab = text.find('\t');
            fields_.push_back(text.substr(0, tab));
            if (tab == std::string_view::npos) break;
        }
        if (fields_.size() != titles.size())
            fail(fmt::format("{} fields, expected {} with one tab between them", fields_.size(), titles.size()));
    }

    bool holds_the_titles() const { return std::equal(fields_.begin(), fields_.end(), titles.begin()); }

    CatalogueEntry entry() const {
        return {.name = text(0),
                .group = text(1),
                .rows = number(2),
                .columns = number(3),
                .nonzeros = number(4),
                .stored_zeros = number(5),
                .field = text(6),
                .kind = text(7),
                .good_for = text(8),
                .sha256 = fields_[9] == "-" ? std::string() : text(9)};
    }

private:
    std::string text(std::size_t i) const { return std::string(fields_[i]); }

    std::int64_t number(std::size_t i) const {
        std::int64_t value = -1;
        const std::string_view field = fields_[i];
        const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
        if (error != std::errc() || end != field.data() + field.size() || value < 0)
            fail(fmt::format("'{}' stands where {} is expected, a number", field, titles[i]));
        return value;
    }

    [[noreturn]] void fail(const std::string& what) const { throw FileError(path_.string(), line_, what); }

    const fs::path& path_;
    std::int64_t line_;
    std::vector<std::string_view> fields_;
};

}  // namespace

fs::path catalogue_file() {
    const char* chosen = std::getenv("SOLVER_CATALOGUE");
    if (chosen != nullptr && *chosen != '\0') return chosen;
    for (const char* folder : {SOLVER_MATRICES_SOURCE_FOLDER, SOLVER_MATRICES_INSTALLED_FOLDER}) {
        const fs::path path = fs::path(folder) / "catalogue.tsv";
        std::error_code ignored;
        if (fs::exists(path, ignored)) return path;
    }
    return {};
}

std::vector<CatalogueEntry> read_catalogue(const fs::path& path) {
    std::ifstream file(path);
    if (!file) throw FileError(path.string(), 0, "the catalogue of matrices cannot be opened");
    std::vector<CatalogueEntry> catalogue;
    std::string text;
    for (std::int64_t line = 1; std::getline(file, text); ++line) {
        if (text.empty() || text.starts_with('#')) continue;
        const Row row(path, line, text);
        if (!row.holds_the_titles()) catalogue.push_back(row.entry());
    }
    return catalogue;
}

std::optional<CatalogueEntry> find_in_catalogue(std::string_view name, const std::vector<CatalogueEntry>& catalogue) {
    if (name.ends_with(".mtx")) name.remove_suffix(4);
    for (const CatalogueEntry& entry : catalogue)
        if (name == entry.name || name == entry.group + '/' + entry.name) return entry;
    return std::nullopt;
}

std::vector<CatalogueEntry> usual_catalogue() {
    const fs::path path = catalogue_file();
    return path.empty() ? std::vector<CatalogueEntry>() : read_catalogue(path);
}

}  // namespace solver::matrices
