#include "text_file.hpp"

#include "solver/error.hpp"
#include "solver/matrix_market.hpp"

#include <zlib.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>

namespace solver::bench {
namespace {

namespace fs = std::filesystem;

bool is_compressed(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return file.get() == 0x1f && file.get() == 0x8b;
}

void uncompress(const fs::path& from, const fs::path& to) {
    const std::unique_ptr<gzFile_s, int (*)(gzFile)> input(gzopen(from.c_str(), "rb"), gzclose);
    if (!input) throw FileError(from.string(), 0, "cannot be opened");
    std::ofstream output(to, std::ios::binary);
    std::array<char, 1 << 16> block;
    int bytes = 0;
    while ((bytes = gzread(input.get(), block.data(), block.size())) > 0) output.write(block.data(), bytes);
    if (bytes < 0) throw FileError(from.string(), 0, "cannot be uncompressed; the file is damaged or cut short");
    output.close();
    if (!output) throw FileError(to.string(), 0, "cannot be written; is the disk full? TMPDIR may name another place");
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "solver-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
        throw FileError(pattern, 0, "no temporary folder can be made here; TMPDIR may name another place");
    path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

fs::path uncompressed_file(const matrices::FoundMatrix& matrix, const TemporaryFolder& folder) {
    const fs::path target = folder.path() / "matrix.mtx";
    if (const auto* generator = std::get_if<matrices::Generator>(&matrix.source)) {
        write_matrix_market(target, generator->make().view());
        return target;
    }
    const auto& path = std::get<fs::path>(matrix.source);
    if (!is_compressed(path)) return path;
    uncompress(path, target);
    return target;
}

}  // namespace solver::bench
