#include "core/machine.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
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
    tighten_memory(limits, words_of(folder / "memory.high")[0]);  // beyond which a process is slowed down
    tighten_processors(limits, words_of(folder / "cpu.cfs_quota_us")[0], words_of(folder / "cpu.cfs_period_us")[0]);
    tighten_memory(limits, words_of(folder / "memory.limit_in_bytes")[0]);
}

/// The groups of some controllers, where they can be seen: "/docker/0123" of all groups, at /sys/fs/cgroup/memory.
struct Hierarchy {
    std::string group;        ///< that stands at `mounted`
    std::string mounted;      ///< an absolute path
    std::string controllers;  ///< "rw,memory"; nothing in version 2, which has all of them
};

/// Of lines "36 35 98:0 /group /mounted rw,noatime shared:1 - type source rw,memory".
std::vector<Hierarchy> hierarchies(const path& file) {
    std::ifstream input(file);
    std::vector<Hierarchy> all;
    for (std::string line; std::getline(input, line);) {
        std::istringstream words(line);
        std::string skipped, type;
        Hierarchy found;
        words >> skipped >> skipped >> skipped >> found.group >> found.mounted;
        while (words >> skipped && skipped != "-") continue;
        words >> type >> skipped >> found.controllers;
        if (type == "cgroup2") found.controllers.clear();
        if (type == "cgroup" || type == "cgroup2") all.push_back(found);
    }
    return all;
}

bool names(const std::string& list, std::string_view controller) {
    std::istringstream words(list);
    for (std::string word; std::getline(words, word, ',');)
        if (word == controller) return true;
    return false;
}

/// A line "number:controllers:/group"; version 2 is the one without controllers.
struct Membership {
    std::string controllers;
    std::string group;

    bool is_in(const Hierarchy& hierarchy) const {
        if (controllers.empty()) return hierarchy.controllers.empty();
        const auto both = [&](auto name) { return names(controllers, name) && names(hierarchy.controllers, name); };
        return both("cpu") || both("memory");
    }
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

/// `group` as seen from the one that is mounted. In a container that is named as the host sees it that can be elsewhere: then
/// the mounted group is the only one known to be around the process.
path seen_from(const std::string& mounted, const std::string& group) {
    const path below = path(group).lexically_relative(mounted);
    return below.empty() || *below.begin() == ".." || below == "." ? path() : below;
}

/// From the group upwards to the one that is mounted.
void tighten_by_hierarchy(ControlGroupLimits& limits, const path& mounted, const path& group) {
    for (path part = group; !part.empty(); part = part.parent_path()) tighten_by(limits, mounted / part);
    tighten_by(limits, mounted);
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

/// What `ulimit` says, or `otherwise` where it allows more.
std::int64_t resource_limit(decltype(RLIMIT_AS) resource, std::int64_t otherwise) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur > static_cast<rlim_t>(otherwise)) return otherwise;
    return static_cast<std::int64_t>(limit.rlim_cur);
}

}  // namespace

ControlGroupLimits control_group_limits(const path& root) {
    ControlGroupLimits limits;
    const std::vector<Hierarchy> all = hierarchies(root / "proc/self/mountinfo");
    for (const Membership& member : memberships(root / "proc/self/cgroup"))
        for (const Hierarchy& hierarchy : all)
            if (member.is_in(hierarchy))
                tighten_by_hierarchy(limits, root / path(hierarchy.mounted).relative_path(),
                                     seen_from(hierarchy.group, member.group));
    return limits;
}

int available_processors() {
    const int processors = processors_by_affinity();
    const std::optional<double> quota = limits_of_this_process().processors;
    return quota && *quota < processors ? std::max(1, static_cast<int>(std::ceil(*quota))) : processors;
}

std::int64_t available_memory() {
    static const std::int64_t machine = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
    const std::int64_t shared = std::min(machine, limits_of_this_process().memory.value_or(machine));
    return std::min({shared, resource_limit(RLIMIT_AS, shared), resource_limit(RLIMIT_DATA, shared)});
}

}  // namespace solver
