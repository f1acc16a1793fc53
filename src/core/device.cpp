#include "solver/device.hpp"

#include "core/machine.hpp"
#include "solver/cuda/runtime.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace solver {
namespace {

constexpr int max_threads = 4096;

std::string processor_name() {
    std::ifstream information("/proc/cpuinfo");
    for (std::string line; std::getline(information, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    utsname system;
    return uname(&system) == 0 ? system.machine : "unknown processor";
}

/// 13000 is 13.0.
std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

std::string visible_devices() {
    const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return visible == nullptr ? "" : fmt::format("; CUDA_VISIBLE_DEVICES is '{}' and may hide some", visible);
}

/// Why there is no CUDA device, and what helps.
std::string obstacle(const cuda::Platform& platform) {
    if (!platform.built_in) return "this library was built without CUDA; build it where nvcc is found, or use the processor";
    if (platform.driver_version == 0) return "no NVIDIA driver was found on this machine; install one, or use the processor";
    if (platform.driver_version / 1000 < platform.runtime_version / 1000)
        return fmt::format(
            "the NVIDIA driver knows CUDA up to {}, this library was built with {}; update the driver, or use the processor",
            version(platform.driver_version), version(platform.runtime_version));
    return fmt::format("the NVIDIA driver offers none: {}{}; nvidia-smi shows what it sees", platform.problem,
                       visible_devices());
}

/// "1 CUDA device, cuda:0" or "4 CUDA devices, cuda:0 to cuda:3"
std::string devices_in_words(int count) {
    return count == 1 ? "1 CUDA device, cuda:0" : fmt::format("{} CUDA devices, cuda:0 to cuda:{}", count, count - 1);
}

void require_cuda(int index) {
    if (index < 0) throw InvalidArgument(fmt::format("device cuda:{}: CUDA devices are counted from 0", index));
    const cuda::Platform platform = cuda::platform();
    if (platform.devices == 0) throw NotSupported(fmt::format("device cuda:{}: {}", index, obstacle(platform)));
    if (index >= platform.devices)
        throw NotSupported(
            fmt::format("device cuda:{}: this machine has {}{}", index, devices_in_words(platform.devices), visible_devices()));
    if (cuda::has_code_for(index)) return;
    const cuda::DeviceDescription found = cuda::describe(index);
    throw NotSupported(
        fmt::format("device cuda:{}: this library has no code for a {}, of compute capability {}.{}; build it with "
                    "-DCMAKE_CUDA_ARCHITECTURES={}, or use the processor",
                    index, found.name, found.compute_capability / 10, found.compute_capability % 10, found.compute_capability));
}

}  // namespace

Device Device::cpu(int threads) {
    if (threads < 0 || threads > max_threads)
        throw InvalidArgument(
            fmt::format("device cpu: {} threads asked for; 1 to {} are possible, 0 means all", threads, max_threads));
    return Device(Kind::cpu, threads > 0 ? threads : available_processors(), 0);
}

Device Device::cuda(int index) {
    require_cuda(index);
    return Device(Kind::cuda, available_processors(), index);
}

Device Device::best() {
    static const bool has_cuda = [] {
        try {
            require_cuda(0);
            return true;
        } catch (const Error&) {
            return false;
        }
    }();
    return has_cuda ? Device(Kind::cuda, available_processors(), 0) : cpu();
}

std::string to_string(const Device& device) {
    return device.kind() == Device::Kind::cpu ? "cpu" : fmt::format("cuda:{}", device.index());
}

DeviceDescription describe(const Device& device) {
    if (device.kind() == Device::Kind::cpu)
        return {processor_name(), std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE)};
    const cuda::DeviceDescription found = cuda::describe(device.index());
    return {found.name, found.memory_bytes};
}

std::string describe_cuda() {
    const cuda::Platform platform = cuda::platform();
    if (!platform.built_in) return "not built in";
    std::string text = fmt::format("built with {}; ", version(platform.runtime_version));
    if (platform.devices == 0) return text + obstacle(platform);
    text += fmt::format("the driver knows {}", version(platform.driver_version));
    for (int index = 0; index < platform.devices; ++index) {
        const cuda::DeviceDescription device = cuda::describe(index);
        text += fmt::format("; cuda:{} {}", index, device.name);
        if (device.float_sums == cuda::FloatSums::in_float) text += " (sums of floats in expansions of floats)";
    }
    return text;
}

}  // namespace solver
