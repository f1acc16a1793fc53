#include "output_paths.hpp"

#include "io/atomic_file.hpp"
#include "solver/error.hpp"
#include "tools/cli/options.hpp"

#include <fmt/format.h>

#include <vector>

namespace solver::command {
namespace {

namespace fs = std::filesystem;
using cli::UsageError;

struct Named {
    std::string_view option;
    fs::path path;
};

std::vector<Named> given(std::initializer_list<Named> all) {
    std::vector<Named> chosen;
    for (const Named& file : all)
        if (!file.path.empty()) chosen.push_back(file);
    return chosen;
}

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// Also where the file is still to be made.
bool same_file(const fs::path& a, const fs::path& b) {
    std::error_code ignored;
    if (fs::equivalent(a, b, ignored)) return true;
    return a.filename() == b.filename() && fs::equivalent(folder_of(a), folder_of(b), ignored);
}

void check_writable(const Named& output) {
    try {
        require_writable(output.path);
    } catch (const FileError& error) {
        throw UsageError(fmt::format("{} {}", output.option, error.what()));
    }
}

}  // namespace

void check_outputs(const Options& options, const matrices::FoundMatrix& found) {
    const auto* matrix = std::get_if<fs::path>(&found.source);
    const auto* rhs = std::get_if<RhsFile>(&options.rhs);
    const auto inputs = given({{"--matrix", matrix ? *matrix : fs::path()},
                               {"--rhs", rhs ? rhs->path : fs::path()},
                               {"--initial", options.initial},
                               {"--near-null", options.near_null}});
    const auto outputs = given({{"--solution", options.solution},
                                {"--report", options.report},
                                {"--history", options.history},
                                {"--plot", options.plot}});
    for (auto output = outputs.begin(); output != outputs.end(); ++output) {
        for (const Named& input : inputs)
            if (same_file(output->path, input.path))
                throw UsageError(fmt::format("{} {}: this would replace the file of {}", output->option, output->path.string(),
                                             input.option));
        for (auto other = outputs.begin(); other != output; ++other)
            if (same_file(output->path, other->path))
                throw UsageError(
                    fmt::format("{} and {} name the same file, {}", other->option, output->option, output->path.string()));
        check_writable(*output);
    }
}

}  // namespace solver::command
