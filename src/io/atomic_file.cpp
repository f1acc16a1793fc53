#include "io/atomic_file.hpp"

#include "solver/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <utility>

namespace solver {

namespace {

/// The open file that a path such as /dev/stdout or /dev/fd/3 stands for, which must not be replaced by another; else -1.
int descriptor_named(const std::filesystem::path& path) {
    if (path == "/dev/stdout") return STDOUT_FILENO;
    if (path == "/dev/stderr") return STDERR_FILENO;
    const std::filesystem::path folder = path.parent_path();
    if (folder != "/dev/fd" && folder != "/proc/self/fd") return -1;
    const std::string name = path.filename().string();
    int descriptor = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), descriptor);
    return error == std::errc() && end == name.data() + name.size() ? descriptor : -1;
}

/// Where symbolic links lead, also to a file that is not there yet.
std::filesystem::path followed(std::filesystem::path path) {
    std::error_code error;
    if (auto found = std::filesystem::canonical(path, error); !error) return found;
    constexpr int most_links = 40;  // as in Linux
    for (int i = 0; i < most_links && std::filesystem::is_symlink(path, error); ++i)
        path = path.parent_path() / std::filesystem::read_symlink(path, error);
    return path;
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& path) : path_(path), target_(path) {
    if (const int named = descriptor_named(path); named >= 0) {
        unfinished_.begin(path_, {});
        descriptor_ = ::fcntl(named, F_DUPFD_CLOEXEC, 0);
        if (descriptor_ < 0) fail("cannot be written");
        return;
    }
    target_ = followed(path);
    struct stat status {};
    const bool exists = ::stat(target_.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) throw FileError(path_.string(), 0, "cannot be written: it is a folder");
    if (exists && !S_ISREG(status.st_mode)) {
        unfinished_.begin(path_, {});
        descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
        if (descriptor_ < 0) fail("cannot be written");
        return;
    }
    if (exists && ::access(target_.c_str(), W_OK) != 0) fail("cannot be written");
    open_temporary();
    if (exists) ::fchmod(descriptor_, status.st_mode & 07777);
}

AtomicFile::~AtomicFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::open_temporary() {
    constexpr int attempts = 1000;
    for (int attempt = 0; attempt < attempts && descriptor_ < 0; ++attempt) {
        const std::string name = fmt::format(".solver-{}-{}.tmp", ::getpid(), attempt);
        std::filesystem::path candidate = target_.parent_path() / name;
        const SignalsHeldBack from_here_on;
        descriptor_ = ::open(candidate.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ >= 0) unfinished_.begin(path_, candidate);
        if (descriptor_ >= 0) temporary_ = std::move(candidate);  // which cannot fail
        if (descriptor_ < 0 && errno != EEXIST) break;
    }
    if (descriptor_ < 0) fail("cannot be written: no temporary file in its folder");
}

void AtomicFile::write(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail("writing failed");
        bytes.remove_prefix(written);
    }
}

void AtomicFile::commit() {
    if (!temporary_.empty() && ::fsync(descriptor_) != 0) fail("writing failed");
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail("writing failed");
    if (!temporary_.empty() && ::rename(temporary_.c_str(), target_.c_str()) != 0)
        fail("the finished file cannot be moved to its place");
    temporary_.clear();
    unfinished_.end();
}

void AtomicFile::fail(const std::string& doing) const {
    throw FileError(path_.string(), 0, fmt::format("{}: {}", doing, std::strerror(errno)));
}

void require_writable(const std::filesystem::path& path) {
    struct stat status {};
    const bool is_there = ::stat(path.c_str(), &status) == 0;
    const bool is_refused = is_there ? S_ISFIFO(status.st_mode) && ::access(path.c_str(), W_OK) != 0
                                     : errno != ENOENT;  // a name that is too long, a folder that is none
    if (!is_refused && !(is_there && S_ISFIFO(status.st_mode))) const AtomicFile probe(path);
    if (is_refused) throw FileError(path.string(), 0, fmt::format("cannot be written: {}", std::strerror(errno)));
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
    AtomicFile file(path);
    file.write(bytes);
    file.commit();
}

void write_draft(const std::filesystem::path& path, std::string_view bytes) {
    struct stat status {};
    const bool is_replaced = descriptor_named(path) < 0 && (::stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode));
    if (is_replaced) write_file(path, bytes);
}

}  // namespace solver
