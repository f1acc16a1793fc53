#pragma once

/// What this process may use of the machine: its control groups (Linux cgroups, versions 1 and 2, which is how containers and
/// batch systems share a machine out) can allow less than there is.

#include <cstdint>
#include <filesystem>
#include <optional>

namespace solver {

/// The tightest limits of the control groups that the process is in, and of those around them. Nothing where there is none.
struct ControlGroupLimits {
    std::optional<double> processors;    ///< processor seconds a second
    std::optional<std::int64_t> memory;  ///< bytes
};

/// As proc/self/cgroup, proc/self/mountinfo and the folders that this one names have them, all below `root`. What cannot be
/// read or understood limits nothing.
ControlGroupLimits control_group_limits(const std::filesystem::path& root = "/");

/// The processors that the process may run on, by its affinity and by its quota, rounded up; 1 or more. The quota is read once.
int available_processors();

/// The machine's memory in bytes, or what the process may use of it, by its control groups, which are read once, and by its
/// resource limits (ulimit -v, ulimit -d).
std::int64_t available_memory();

}  // namespace solver
