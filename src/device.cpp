#include "solver/device.hpp"

#include "solver/error.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <thread>

namespace solver {
namespace {

constexpr int max_threads = 4096;

int available_processors() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

Device Device::cpu(int threads) {
    if (threads < 0 || threads > max_threads)
        throw InvalidArgument(
            fmt::format("device cpu: {} threads asked for; 1 to {} are possible, 0 means all", threads, max_threads));
    return Device(Kind::cpu, threads > 0 ? threads : available_processors(), 0);
}

Device Device::cuda(int index) {
    throw NotSupported(fmt::format("device cuda:{}: this library was built without CUDA; use the cpu", index));
}

Device Device::best() { return cpu(); }

std::string to_string(const Device& device) {
    return device.kind() == Device::Kind::cpu ? "cpu" : fmt::format("cuda:{}", device.index());
}

}  // namespace solver
