/// soak SECONDS [SEED] [--device cuda]: calls the library at random for so long, and watches what the process holds. What grows
/// is a fault. On a device, whose memory is watched as a whole, nobody else should work meanwhile.

#include "kernels/vectors.hpp"
#include "soak/calls.hpp"
#include "solver/error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

namespace solver::soak {
namespace {

namespace fs = std::filesystem;

/// What a process holds between two calls.
struct Holding {
    double seconds;
    std::int64_t calls;
    std::int64_t resident;  ///< bytes of memory
    std::int64_t heap;      ///< bytes that malloc gave away
    std::int64_t files;
    std::int64_t threads;
    std::int64_t on_device;  ///< bytes, of all processes; 0 without a device
};

std::int64_t entries(const char* folder) { return std::distance(fs::directory_iterator(folder), {}); }

std::int64_t used_bytes(const Device& device) { return describe(device).memory_bytes - cuda::free_bytes(device.index()); }

Holding look(double seconds, std::int64_t calls, const std::optional<Device>& device) {
    ::malloc_trim(0);
    std::int64_t size = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> size >> resident;
    const struct mallinfo2 heap = ::mallinfo2();
    return {seconds,
            calls,
            resident * ::sysconf(_SC_PAGESIZE),
            static_cast<std::int64_t>(heap.uordblks + heap.hblkhd),
            entries("/proc/self/fd"),
            entries("/proc/self/task"),
            device ? used_bytes(*device) : 0};
}

void print(const Holding& now) {
    constexpr double kilobyte = 1e3;
    fmt::print(
        "{:8.0f} s {:9} calls {:10.0f} kB resident {:10.1f} kB of heap {:4} files {:4} threads {:10.0f} kB on the device\n",
        now.seconds, now.calls, static_cast<double>(now.resident) / kilobyte, static_cast<double>(now.heap) / kilobyte,
        now.files, now.threads, static_cast<double>(now.on_device) / kilobyte);
    std::fflush(stdout);
}

/// The least of a part of all looks, which what a call leaves for a while does not change.
std::int64_t least(const std::vector<Holding>& all, std::size_t from, std::size_t to, std::int64_t Holding::*what) {
    std::int64_t least = all[from].*what;
    for (std::size_t i = from; i < to; ++i) least = std::min(least, all[i].*what);
    return least;
}

/// Whether the last quarter of the looks had more of it than the second one, by more than `allowed`.
bool grows(const std::vector<Holding>& all, std::string_view name, std::int64_t Holding::*what, std::int64_t allowed) {
    const std::size_t quarter = all.size() / 4;
    const std::int64_t before = least(all, quarter, 2 * quarter, what), after = least(all, 3 * quarter, all.size(), what);
    fmt::print("{}: {} in the second quarter, {} in the last one{}\n", name, before, after,
               after - before > allowed ? ": GROWS" : "");
    return after - before > allowed;
}

int soak(double seconds, std::uint64_t seed, const std::optional<Device>& device) {
    constexpr int looks = 40;
    const testing::TemporaryFolder folder;
    Calls calls(seed, folder.path(), device);
    std::vector<Holding> all;
    const auto begin = std::chrono::steady_clock::now();
    while (all.size() < looks) {
        calls.make_one();
        const double now = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (now < seconds * static_cast<double>(all.size() + 1) / looks) continue;
        all.push_back(look(now, calls.made(), device));
        print(all.back());
    }
    fmt::print("{} calls, {} of them refused; seed {}\n", calls.made(), calls.refused(), seed);
    bool has_grown = grows(all, "files", &Holding::files, 0);
    has_grown |= grows(all, "threads", &Holding::threads, 0);
    has_grown |= grows(all, "bytes of heap", &Holding::heap, device ? 1 << 20 : 32 << 10);  // the driver has some, too
    has_grown |= grows(all, "bytes resident", &Holding::resident, 16 << 20);
    has_grown |= grows(all, "bytes on the device", &Holding::on_device, 8 << 20);
    return has_grown ? 1 : 0;
}

int run(const std::vector<std::string_view>& arguments) {
    const bool on_device = arguments.size() > 2 && arguments[arguments.size() - 2] == "--device" && arguments.back() == "cuda";
    const std::size_t plain = arguments.size() - (on_device ? 2 : 0);
    if (plain < 1 || plain > 2 || arguments[plain - 1].starts_with("-")) {
        fmt::print(stderr, "usage: soak SECONDS [SEED] [--device cuda]\n");
        return 1;
    }
    const std::uint64_t seed = plain > 1 ? std::strtoull(arguments[1].data(), nullptr, 10) : 1;
    return soak(std::atof(arguments[0].data()), seed, on_device ? std::optional(Device::cuda(0)) : std::nullopt);
}

}  // namespace
}  // namespace solver::soak

int main(int argc, char** argv) try { return solver::soak::run({argv + 1, argv + argc}); } catch (const solver::Error& error) {
    fmt::print(stderr, "soak: {}\n", error.what());
    return 1;
}
