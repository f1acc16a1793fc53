#pragma once

/// Files that are replaced whole or not at all.

#include "io/unfinished_file.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace solver {

/// What is written goes to a temporary file in the folder of `path`, which commit() renames to `path`; until then an existing
/// file keeps its content, and without commit() the temporary file is removed. A new file has the permissions of the one it
/// replaces. A symbolic link is followed. What is neither a file nor a folder (a pipe, /dev/null) is written to
/// directly, and so is an open file named by its descriptor (/dev/stdout, /dev/stderr, /dev/fd/N), wherever it leads. All
/// functions throw FileError. A handler of signals can ask which files are being written (unfinished_file.hpp).
class AtomicFile {
public:
    explicit AtomicFile(const std::filesystem::path& path);
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    void write(std::string_view bytes);
    void commit();

private:
    void open_temporary();
    [[noreturn]] void fail(const std::string& doing) const;

    std::filesystem::path path_;       // as the caller named it, for messages
    std::filesystem::path target_;     // with symbolic links resolved
    std::filesystem::path temporary_;  // empty where the target is written to directly, and after commit
    int descriptor_ = -1;
    UnfinishedFile unfinished_;
};

/// Throws the FileError that writing to `path` would begin with. It does not open a pipe, which would wait for a reader and
/// then leave it with an end of file.
void require_writable(const std::filesystem::path& path);

/// Writes a whole file.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// Writes a whole file that will be written again with more in it. What such a write does not replace, a pipe or a device, gets
/// none.
void write_draft(const std::filesystem::path& path, std::string_view bytes);

/// One of the two.
using FileWriter = void (*)(const std::filesystem::path& path, std::string_view bytes);

}  // namespace solver
