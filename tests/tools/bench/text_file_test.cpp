#include "text_file.hpp"

#include "solver/error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

namespace fs = std::filesystem;
using solver::bench::uncompressed_file;

class UncompressedFile : public ::testing::Test {
protected:
    fs::path compressed(const std::string& text) const {
        fs::path path = folder_.path() / "matrix.mtx.gz";
        const gzFile file = gzopen(path.c_str(), "wb");
        gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
        EXPECT_EQ(gzclose(file), Z_OK);
        return path;
    }

    static std::string text_of(const fs::path& path) {
        std::ifstream file(path, std::ios::binary);
        EXPECT_TRUE(file) << path;
        return {std::istreambuf_iterator<char>(file), {}};
    }

    solver::testing::TemporaryFolder folder_;
};

/// Blocks of 2^16 bytes, of which the last has none, one, or all but one.
TEST_F(UncompressedFile, HasEveryByteWhereverABlockEnds) {
    for (const std::size_t size :
         {std::size_t{1}, (std::size_t{1} << 16) - 1, std::size_t{1} << 16, (std::size_t{2} << 16) + 1}) {
        std::string text(size, 'x');
        for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('0' + i * i % 71);
        const solver::bench::TemporaryFolder target;
        EXPECT_EQ(text_of(uncompressed_file({compressed(text), ""}, target)), text) << size;
    }
}

TEST_F(UncompressedFile, IsTheFileItselfWhereNothingIsCompressed) {
    const fs::path path = folder_.path() / "plain.mtx";
    std::ofstream(path) << "\x1f, which compressed files begin with, too\n";
    const solver::bench::TemporaryFolder target;
    EXPECT_EQ(uncompressed_file({path, ""}, target), path);
    EXPECT_TRUE(fs::is_empty(target.path()));
}

TEST_F(UncompressedFile, OfADamagedFileIsRefused) {
    std::string bytes = text_of(compressed(std::string(1000, 'x') + "y"));
    bytes[bytes.size() - 6] ^= 1;  // in the check sum
    std::ofstream(folder_.path() / "matrix.mtx.gz", std::ios::binary) << bytes;
    const solver::bench::TemporaryFolder target;
    EXPECT_THROW(uncompressed_file({folder_.path() / "matrix.mtx.gz", ""}, target), solver::FileError);
}

TEST_F(UncompressedFile, GoesAwayWithItsFolder) {
    fs::path path;
    {
        const solver::bench::TemporaryFolder target;
        path = uncompressed_file({compressed("text"), ""}, target);
        EXPECT_EQ(path.parent_path(), target.path());
    }
    EXPECT_FALSE(fs::exists(path.parent_path()));
}

}  // namespace
