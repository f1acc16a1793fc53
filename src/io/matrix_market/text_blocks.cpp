#include "io/matrix_market/text_blocks.hpp"

#include "solver/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace solver::matrix_market {
namespace {

gzFile open_for_reading(const std::filesystem::path& path) {
    if (std::error_code error; std::filesystem::is_directory(path, error))
        throw FileError(path.string(), 0, "is a folder; expected a Matrix Market file");
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) throw FileError(path.string(), 0, fmt::format("cannot be opened: {}", std::strerror(errno)));
    const gzFile file = gzdopen(descriptor, "rb");  // reads what is not gzip as it is
    if (file == nullptr) {
        ::close(descriptor);
        throw FileError(path.string(), 0, "cannot be read: not enough memory");
    }
    gzbuffer(file, 1 << 16);  // requests of at least twice this size bypass zlib's own buffer
    return file;
}

}  // namespace

void TextBlocks::Close::operator()(gzFile_s* file) const { gzclose_r(file); }

TextBlocks::TextBlocks(const std::filesystem::path& path) : path_(path.string()), file_(open_for_reading(path)) {}

TextBlocks::~TextBlocks() = default;

bool TextBlocks::at_end() {
    const std::lock_guard lock(mutex_);
    return ended_;
}

void TextBlocks::stop() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
}

void TextBlocks::fail(std::int64_t line, const std::string& message) {
    ended_ = true;
    throw FileError(path_, line, message);
}

std::size_t TextBlocks::read(char* text, std::size_t size) {
    std::size_t filled = 0;
    while (filled < size) {
        const int got = gzread(file_.get(), text + filled, static_cast<unsigned>(size - filled));
        if (got > 0) filled += got;
        int code = Z_OK;
        const std::string_view reason = gzerror(file_.get(), &code);  // "name: reason"
        if (code == Z_ERRNO) fail(0, fmt::format("reading failed: {}", std::strerror(errno)));
        if (code == Z_BUF_ERROR) fail(0, "the gzip data end too early: the file is truncated");
        if (code != Z_OK) fail(0, fmt::format("the gzip data are broken:{}", reason.substr(reason.find_last_of(':') + 1)));
        if (got == 0) break;
    }
    return filled;
}

bool TextBlocks::next(TextBlock& block) {
    const std::lock_guard lock(mutex_);
    block.number = next_number_;
    if (ended_) return false;
    block.memory.resize(block_size + 1);
    char* const begin = block.memory.data();
    std::copy(carried_.begin(), carried_.end(), begin);
    char* end = begin + carried_.size() + read(begin + carried_.size(), block_size - carried_.size());
    carried_.clear();
    if (end < begin + block_size) {
        ended_ = true;
        if (end != begin && end[-1] != '\n') *end++ = '\n';
        if (end == begin) return false;
    } else {
        const void* last = memrchr(begin, '\n', block_size);
        if (last == nullptr)
            fail(next_line_, fmt::format("the line has more than {} characters; expected a Matrix Market file", block_size));
        char* const lines_end = begin + (static_cast<const char*>(last) - begin) + 1;
        carried_.assign(lines_end, end);
        end = lines_end;
    }
    block.begin = begin;
    block.end = end;
    block.first_line = next_line_;
    block.lines = std::count(begin, end, '\n');
    next_line_ += block.lines;
    ++next_number_;
    return true;
}

}  // namespace solver::matrix_market
