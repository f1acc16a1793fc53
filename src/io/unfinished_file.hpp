#pragma once

/// Which files are being written, for the handler of a signal that is about to end the process.

#include <csignal>
#include <filesystem>

namespace solver {

/// A file that is being written, from begin() until end() or the end of this object. The handler learns of sixteen at a time.
class UnfinishedFile {
public:
    UnfinishedFile() = default;
    ~UnfinishedFile() { end(); }
    UnfinishedFile(const UnfinishedFile&) = delete;
    UnfinishedFile& operator=(const UnfinishedFile&) = delete;

    /// `path` as its user calls it; `temporary` is what becomes that file, or empty where it is written to directly.
    void begin(const std::filesystem::path& path, const std::filesystem::path& temporary) noexcept;
    void end() noexcept;

private:
    int place_ = -1;
};

/// No signal handler runs in this thread while one of these lives.
class SignalsHeldBack {
public:
    SignalsHeldBack() noexcept;
    ~SignalsHeldBack();
    SignalsHeldBack(const SignalsHeldBack&) = delete;
    SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;

private:
    sigset_t before_;
};

/// Removes the temporary files of all that is being written, and calls tell(path, false) for each; tell(path, true) for what
/// was written to directly, where a part may have arrived. For a signal handler, in the thread that writes: it neither locks
/// nor allocates, and nobody may write afterwards.
void abandon_unfinished_files(void (*tell)(const char* path, bool directly)) noexcept;

}  // namespace solver
