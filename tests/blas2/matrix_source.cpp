#include "matrix_source.hpp"

#include "io/matrix_market/header.hpp"
#include "solver/error.hpp"
#include "solver/matrix_market.hpp"

#include <fmt/format.h>

#include <cctype>
#include <optional>
#include <set>
#include <utility>

namespace solver::blas2 {
namespace {

namespace fs = std::filesystem;
using matrices::stem;

/// Small ones beside the adversarial ones.
constexpr const char* usual_generators[] = {"poisson2d_random_20", "convection_diffusion_20", "power_law_1000"};

constexpr const char* for_it_is_complex = "the matrix is complex; real ones are judged";

/// A file, or nothing where the matrix is complex. Throws FileError where the head is that of no matrix.
std::optional<MatrixSource> from_file(const fs::path& path) {
    matrix_market::TextBlocks blocks(path);
    matrix_market::TextBlock block;
    const matrix_market::Header header = matrix_market::read_header(blocks, block);
    if (header.field == matrix_market::Field::complex) return std::nullopt;
    return MatrixSource{
        .name = stem(path.filename().string()), .suite = "", .from = path, .is_square = header.rows == header.columns};
}

MatrixSource from_generator(matrices::Generator generator) {
    const std::string name = stem(generator.name);
    return {.name = name, .suite = "", .from = std::move(generator)};
}

void add_folder(MatrixSources& sources, const fs::path& folder) {
    for (const fs::path& path : matrices::files_in(folder)) {
        const std::string name = stem(path.filename().string());
        try {
            if (auto source = from_file(path))
                sources.matrices.push_back(std::move(*source));
            else
                sources.left_out.push_back({name, for_it_is_complex});
        } catch (const FileError& error) {
            sources.left_out.push_back({name, error.what(), true});
        }
    }
}

void add_named(MatrixSources& sources, const std::string& name) {
    matrices::FoundMatrix found = matrices::find_matrix(name);
    if (auto* generator = std::get_if<matrices::Generator>(&found.source)) {
        sources.matrices.push_back(from_generator(std::move(*generator)));
        return;
    }
    const auto& path = std::get<fs::path>(found.source);
    auto source = from_file(path);
    if (!source) throw FileError(path.string(), 0, for_it_is_complex);
    sources.matrices.push_back(std::move(*source));
}

void add_usual(MatrixSources& sources) {
    for (const BuiltIn& matrix : built_in_matrices())
        sources.matrices.push_back(
            {.name = std::string(matrix.name), .suite = "", .from = &matrix, .is_square = matrix.is_square});
    for (const char* name : usual_generators) sources.matrices.push_back(from_generator(*matrices::find_generator(name)));
}

/// Keeps the first of those that are one file or one generator.
void drop_repetitions(std::vector<MatrixSource>& matrices) {
    std::set<std::string> seen;
    std::erase_if(matrices, [&seen](const MatrixSource& matrix) {
        const auto* path = std::get_if<fs::path>(&matrix.from);
        return !seen.insert(path != nullptr ? fs::canonical(*path).string() : matrix.name).second;
    });
}

/// Names that need no quoting in --gtest_filter, each of its own.
void name_suites(std::vector<MatrixSource>& matrices) {
    std::set<std::string> taken;
    for (MatrixSource& matrix : matrices) {
        std::string name = matrix.name;
        for (char& c : name)
            if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
        matrix.suite = name;
        for (int i = 2; !taken.insert(matrix.suite).second; ++i) matrix.suite = fmt::format("{}_{}", name, i);
    }
}

template <class T>
void drop_zeroes(CsrMatrix<T>& a) {
    std::int64_t kept = 0, begin = 0;
    for (std::int64_t row = 0; row < a.rows; ++row) {
        const std::int64_t end = a.row_offsets[row + 1];
        for (std::int64_t k = begin; k < end; ++k) {
            if (a.values[k] == 0) continue;
            a.values[kept] = a.values[k];
            a.column_indices[kept++] = a.column_indices[k];
        }
        begin = end;
        a.row_offsets[row + 1] = kept;
    }
    a.values.resize(static_cast<std::size_t>(kept));
    a.column_indices.resize(static_cast<std::size_t>(kept));
}

template <class T>
Sample<T> read(const MatrixSource& source, int threads) {
    if (const auto* path = std::get_if<fs::path>(&source.from)) return {read_csr<T>(*path, {.threads = threads})};
    if (const auto* generator = std::get_if<matrices::Generator>(&source.from)) return {convert<T>(generator->make().view())};
    const BuiltIn& matrix = *std::get<const BuiltIn*>(source.from);
    if constexpr (std::is_same_v<T, float>)
        return matrix.in_single();
    else
        return matrix.in_double();
}

}  // namespace

MatrixSources find_sources(const Options& options) {
    MatrixSources sources;
    for (const std::string& path : options.paths) {
        std::error_code ignored;
        if (fs::is_directory(path, ignored))
            add_folder(sources, path);
        else
            add_named(sources, path);
    }
    if (options.paths.empty()) add_usual(sources);
    for (const MatrixSource& matrix : sources.matrices)
        if (const auto* path = std::get_if<fs::path>(&matrix.from); path != nullptr && !options.json.empty()) {
            std::error_code ignored;
            if (fs::equivalent(*path, options.json, ignored))
                throw InvalidArgument(fmt::format("--json {}: the verdicts would replace the matrix", options.json.string()));
        }
    drop_repetitions(sources.matrices);
    name_suites(sources.matrices);
    return sources;
}

template <class T>
Sample<T> load(const MatrixSource& source, const Options& options) {
    Sample<T> sample = read<T>(source, options.threads);
    if (!options.keep_zeroes) drop_zeroes(sample.a);
    return sample;
}

template Sample<float> load(const MatrixSource&, const Options&);
template Sample<double> load(const MatrixSource&, const Options&);

}  // namespace solver::blas2
