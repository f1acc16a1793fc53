#pragma once

/// A text file, plain or gzip, as a sequence of blocks of whole lines that several threads may take.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct gzFile_s;

namespace solver::matrix_market {

/// Lines that follow one another, each with its '\n'.
struct TextBlock {
    std::int64_t number = 0;      ///< counted from 0
    std::int64_t first_line = 1;  ///< of the file, counted from 1
    std::int64_t lines = 0;
    const char* begin = nullptr;
    const char* end = nullptr;
    std::vector<char> memory;  ///< what begin and end point into
};

class TextBlocks {
public:
    /// The text that one block holds at most, and with it the longest line.
    static constexpr std::size_t block_size = std::size_t{1} << 18;

    /// Throws FileError where the path cannot be read.
    explicit TextBlocks(const std::filesystem::path& path);
    ~TextBlocks();

    /// Fills the block with the lines that come next, and gives false where there are none. A last line without '\n' gets one.
    /// Where blocks end depends on the file alone. Throws FileError where reading fails, gzip data are broken or a line is
    /// longer than a block. Block::number is set in every case.
    bool next(TextBlock& block);

    /// Whether the last block has been given.
    bool at_end();

    /// Gives no further blocks.
    void stop();

    const std::string& path() const { return path_; }

private:
    std::size_t read(char* text, std::size_t size);
    [[noreturn]] void fail(std::int64_t line, const std::string& message);

    std::string path_;
    struct Close {
        void operator()(gzFile_s* file) const;
    };
    std::unique_ptr<gzFile_s, Close> file_;
    std::mutex mutex_;
    std::vector<char> carried_;  // the beginning of a line whose end is in the next block
    std::int64_t next_number_ = 0;
    std::int64_t next_line_ = 1;
    bool ended_ = false;
};

}  // namespace solver::matrix_market
