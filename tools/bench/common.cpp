#include "common.hpp"

#include "machine.hpp"
#include "products.hpp"
#include "solver/cuda/runtime.hpp"
#include "solver/error.hpp"
#include "solver/matrix_market.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>

namespace solver::bench {

namespace fs = std::filesystem;
namespace {

/// One file may have many names.
std::string key_of(const matrices::FoundMatrix& matrix) {
    const auto* path = std::get_if<fs::path>(&matrix.source);
    return path == nullptr ? name_of(matrix) : fs::weakly_canonical(*path).string();
}

void keep_each_once(std::vector<matrices::FoundMatrix>& matrices) {
    std::set<std::string> keys;
    std::erase_if(matrices, [&](const matrices::FoundMatrix& matrix) { return !keys.insert(key_of(matrix)).second; });
}

void refuse_to_replace(const std::vector<matrices::FoundMatrix>& matrices, const Options& options) {
    std::error_code ignored;
    for (const matrices::FoundMatrix& matrix : matrices)
        for (const fs::path& output : outputs(options))
            if (const auto* path = std::get_if<fs::path>(&matrix.source);
                path != nullptr && fs::equivalent(*path, output, ignored))
                throw InvalidArgument(fmt::format("{}: the results would replace the matrix", output.string()));
}

void refuse_complex(const std::vector<matrices::FoundMatrix>& matrices, Subject subject) {
    for (const matrices::FoundMatrix& matrix : matrices)
        if (is_complex(matrix))
            throw InvalidArgument(
                fmt::format("{} is complex; solver-bench {} takes real matrices alone", name_of(matrix), to_string(subject)));
}

}  // namespace

std::vector<matrices::FoundMatrix> matrices_of(const Options& options) {
    std::vector<matrices::FoundMatrix> found;
    for (const std::string& name : options.matrices) {
        std::error_code ignored;
        if (fs::is_directory(name, ignored))
            for (fs::path& path : matrices::files_in(name)) found.push_back({std::move(path), ""});
        else
            found.push_back(matrices::find_matrix(name));
    }
    keep_each_once(found);
    refuse_to_replace(found, options);
    return found;
}

std::string place_of(double bytes, std::int64_t cache) {
    const double mebibytes = bytes / (1 << 20);
    const std::string size = mebibytes < 10 ? fmt::format("{:.2g} MiB", mebibytes) : fmt::format("{:.0f} MiB", mebibytes);
    if (cache == 0) return size;
    return size + (bytes > static_cast<double>(cache) ? ", beyond the last-level cache" : ", cached");
}

std::int64_t cache_of(const Options& options) {
    return options.cuda_device ? cuda::describe(*options.cuda_device).level2_bytes : last_level_cache();
}

std::vector<matrices::FoundMatrix> find_matrices(const Options& options, const Report& report) {
    const std::string usual_file = "G3_circuit";
    std::vector<matrices::FoundMatrix> found;
    if (options.matrices.empty()) {
        try {
            found.push_back(matrices::find_matrix(usual_file, matrices::matrix_folders(), matrices::Fetching::never));
        } catch (const FileError&) {
            report.note(usual_file + " is left out: no such file can be read; SOLVER_MATRIX_PATH may name its folder");
        }
    }
    for (const std::string& name : options.matrices.empty() ? usual_matrices(options.subject) : options.matrices)
        found.push_back(matrices::find_matrix(name));
    keep_each_once(found);
    refuse_to_replace(found, options);
    if (options.subject != Subject::spmv) refuse_complex(found, options.subject);
    return found;
}

bool is_complex(const matrices::FoundMatrix& matrix) {
    if (const auto* generator = std::get_if<matrices::Generator>(&matrix.source)) return generator->is_complex();
    return holds_complex_numbers(std::get<fs::path>(matrix.source));
}

std::variant<CsrMatrix<double>, std::string> square_matrix(const matrices::FoundMatrix& found, int threads) try {
    if (is_complex(found)) return "complex";
    CsrMatrix<double> matrix = load<double>(found, threads);
    if (matrix.rows != matrix.columns) return fmt::format("{} x {}", matrix.rows, matrix.columns);
    return matrix;
} catch (const FileError& error) {
    return error.what();
}

std::string name_of(const matrices::FoundMatrix& matrix) {
    if (const auto* generator = std::get_if<matrices::Generator>(&matrix.source)) return generator->name;
    return std::get<fs::path>(matrix.source).filename().string();
}

std::string short_name(const matrices::FoundMatrix& found) { return matrices::stem(name_of(found)); }

}  // namespace solver::bench
