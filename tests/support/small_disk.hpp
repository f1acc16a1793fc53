#pragma once

/// A file system that a test can fill up.

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace solver::testing {

/// A tmpfs that this process and its children see, and nobody else: in a mount namespace, and where only that is allowed, in a
/// user namespace.
class SmallDisk {
public:
    static constexpr std::int64_t page = 4096;

    /// At `folder`, which exists, of so many pages and files. The root folder counts as a file.
    SmallDisk(std::filesystem::path folder, std::int64_t pages, std::int64_t files) : folder_(std::move(folder)) {
        const std::string options =
            "size=" + std::to_string(pages * page) + ",nr_inodes=" + std::to_string(files) + ",mode=0700";
        if (!has_namespace()) return;
        is_mounted_ = ::mount("none", folder_.c_str(), "tmpfs", 0, options.c_str()) == 0;
    }
    ~SmallDisk() {
        if (is_mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    /// False where rights do not allow one.
    bool is_mounted() const { return is_mounted_; }
    const std::filesystem::path& folder() const { return folder_; }

    std::int64_t free_pages() const {
        struct statvfs facts {};
        ::statvfs(folder_.c_str(), &facts);
        return static_cast<std::int64_t>(facts.f_bfree * facts.f_frsize) / page;
    }

    /// Fills the disk up to `pages` that stay free, by a file of that name. Whether that is possible.
    bool leave(std::int64_t pages) const {
        const std::filesystem::path filler = folder_ / "filler";
        std::filesystem::remove(filler);
        const int file = ::open(filler.c_str(), O_WRONLY | O_CREAT, 0600);
        const std::int64_t taken = (free_pages() - pages) * page;
        const bool is_filled = file >= 0 && (taken == 0 || ::fallocate(file, 0, 0, taken) == 0);
        ::close(file);
        return is_filled && free_pages() == pages;
    }

private:
    static bool has_namespace() {
        static const bool has = enter_namespace();
        return has;
    }
    static bool enter_namespace() {
        const std::string user = std::to_string(::geteuid()), group = std::to_string(::getegid());
        if (::unshare(CLONE_NEWNS) != 0) {
            if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
            std::ofstream("/proc/self/setgroups") << "deny";
            std::ofstream("/proc/self/uid_map") << user << ' ' << user << " 1";
            std::ofstream("/proc/self/gid_map") << group << ' ' << group << " 1";
        }
        return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    }

    std::filesystem::path folder_;
    bool is_mounted_ = false;
};

}  // namespace solver::testing
