#include "matrices/closest_names.hpp"

#include "matrices/find_matrix.hpp"
#include "matrices/generators.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string_view>
#include <system_error>
#include <utility>

namespace solver::matrices {
namespace {

namespace fs = std::filesystem;

/// What is compared: small letters, no suffix, and the letter n for a size after an underscore.
std::string bare(std::string name) {
    name = stem(std::move(name));
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    if (digits < name.size() && digits > 0 && name[digits - 1] == '_') name.replace(digits, std::string::npos, "n");
    for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return name;
}

std::vector<std::string> known_names(const std::vector<fs::path>& folders, const std::vector<CatalogueEntry>& catalogue) {
    std::vector<std::string> names;
    for (const CatalogueEntry& entry : catalogue) names.push_back(entry.name + ".mtx");
    for (const GeneratorKind& kind : generator_kinds()) names.emplace_back(kind.pattern);
    for (const fs::path& folder : folders) {
        std::error_code error;
        for (fs::directory_iterator file(folder, error); !error && file != fs::directory_iterator(); file.increment(error)) {
            const std::string name = file->path().filename().string();
            if (name.ends_with(".mtx") || name.ends_with(".mtx.gz")) names.push_back(name);
        }
    }
    return names;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = std::exchange(row[j], std::min({changed, row[j] + 1, row[j - 1] + 1}));
        }
    }
    return row.back();
}

std::vector<std::string> closest_names(const std::string& name, const std::vector<fs::path>& folders,
                                       const std::vector<CatalogueEntry>& catalogue) {
    constexpr std::size_t longest = 100;  // what is longer is no typing mistake
    const std::string wanted = bare(fs::path(name).filename().string());
    if (wanted.empty() || wanted.size() > longest) return {};
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const std::string& known : known_names(folders, catalogue)) {
        const std::string candidate = bare(known);
        const std::size_t distance = candidate.starts_with(wanted) ? 1 : edit_distance(wanted, candidate);
        if (distance <= std::max<std::size_t>(2, wanted.size() / 3)) ranked.emplace_back(distance, known);
    }
    std::sort(ranked.begin(), ranked.end());
    ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, ranked.size()); ++i) names.push_back(ranked[i].second);
    return names;
}

}  // namespace solver::matrices
