#include "machine.hpp"

#include "solver/device.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <fstream>

namespace solver::bench {

// The lowest bit is the best target; what is compiled here is compiled in the library, from the same flags.
std::string simd_target() {
    const std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
    return hwy::TargetName(usable & -usable);
}

int processors() { return Device::cpu().threads(); }

// From the kernel; what sysconf(_SC_LEVEL3_CACHE_SIZE) makes of it in a virtual machine can be ten times the truth.
std::int64_t last_level_cache() {
    std::int64_t largest = 0;
    for (int index = 0;; ++index) {
        std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size");
        std::int64_t size = 0;
        char unit = ' ';
        if (!(file >> size >> unit)) return largest;
        largest = std::max(largest, size * (unit == 'M' ? std::int64_t{1} << 20 : 1024));
    }
}

bool is_optimised() {
#if defined(__OPTIMIZE__)
    return true;
#else
    return false;
#endif
}

}  // namespace solver::bench
