#include "core/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace solver {
namespace {

using std::filesystem::path;

/// Nothing where the word is not a number above zero, as "max" and -1, which stand for no limit.
std::optional<double> positive_number(const std::string& word) {
    std::istringstream text(word);
    double value = 0;
    if (!(text >> value) || !text.eof() || value <= 0) return {};
    return value;
}

std::vector<std::string> words_of(const path& file) {
    std::ifstream input(file);
    std::vector<std::string> words;
    for (std::string word; words.size() < 2 && input >> word;) words.push_back(word);
    words.resize(2);
    return words;
}

template <class T>
void tighten(std::optional<T>& limit, std::optional<T> other) {
    if (other && (!limit || *other < *limit)) limit = other;
}

void tighten_processors(ControlGroupLimits& limits, const std::string& quota, const std::string& period) {
    const auto time = positive_number(quota), of = positive_number(period);
    if (time && of) tighten(limits.processors, std::optional(*time / *of));
}

/// Version 1 says that there is no limit by a number near 2^63.
void tighten_memory(ControlGroupLimits& limits, const std::string& bytes) {
    const auto memory = positive_number(bytes);
    if (memory && *memory < 0x1p62) tighten(limits.memory, std::optional(static_cast<std::int64_t>(*memory)));
}

/// What the files of one folder say; a folder of version 1 has those of its controllers only.
void tighten_by(ControlGroupLimits& limits, const path& folder) {
    const std::vector<std::string> quota = words_of(folder / "cpu.max");
    tighten_processors(limits, quota[0], quota[1]);
    tighten_memory(limits, words_of(folder / "memory.max")[0]);
    tighten_processors(limits, words_of(folder / "cpu.cfs_quota_us")[0], words_of(folder / "cpu.cfs_period_us")[0]);
    tighten_memory(limits, words_of(folder / "memory.limit_in_bytes")[0]);
}

/// From the group upwards to where the hierarchy is mounted. In a container the name can be that of the host, whose folders
/// cannot be seen: there the mounted folder itself has the limits.
void tighten_by_hierarchy(ControlGroupLimits& limits, const path& mounted, const path& group) {
    for (path part = group.relative_path(); !part.empty(); part = part.parent_path()) tighten_by(limits, mounted / part);
    tighten_by(limits, mounted);
}

/// A line "number:controllers:/group"; version 2 is the one without controllers.
struct Membership {
    std::string controllers;
    std::string group;
};

std::vector<Membership> memberships(const path& file) {
    std::ifstream input(file);
    std::vector<Membership> all;
    for (std::string line; std::getline(input, line);) {
        const auto first = line.find(':');
        const auto second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second != std::string::npos) all.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
    }
    return all;
}

const ControlGroupLimits& limits_of_this_process() {
    static const ControlGroupLimits limits = control_group_limits();
    return limits;
}

int processors_by_affinity() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

ControlGroupLimits control_group_limits(const path& root) {
    const path mounted = root / "sys/fs/cgroup";
    ControlGroupLimits limits;
    for (const auto& [controllers, group] : memberships(root / "proc/self/cgroup")) {
        if (controllers.empty()) tighten_by_hierarchy(limits, mounted, group);
        std::istringstream names(controllers);
        for (std::string name; std::getline(names, name, ',');)
            if (name == "cpu" || name == "memory") tighten_by_hierarchy(limits, mounted / name, group);
    }
    return limits;
}

int available_processors() {
    const int processors = processors_by_affinity();
    const std::optional<double> quota = limits_of_this_process().processors;
    return quota && *quota < processors ? std::max(1, static_cast<int>(std::ceil(*quota))) : processors;
}

std::int64_t available_memory() {
    static const std::int64_t memory = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
    return std::min(memory, limits_of_this_process().memory.value_or(memory));
}

}  // namespace solver
