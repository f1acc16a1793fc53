#include "core/machine.hpp"

#include "solver/device.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace solver {
namespace {

/// A machine of files.
class ControlGroups : public ::testing::Test {
protected:
    void write(const std::string& file, const std::string& text) {
        const auto path = folder_.path() / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text << '\n';
    }
    ControlGroupLimits limits() const { return control_group_limits(folder_.path()); }

private:
    testing::TemporaryFolder folder_;
};

TEST_F(ControlGroups, LimitNothingWhereThereAreNone) {
    EXPECT_EQ(limits().processors, std::nullopt);
    EXPECT_EQ(limits().memory, std::nullopt);
}

TEST_F(ControlGroups, OfVersion2) {
    write("proc/self/cgroup", "0::/jobs/one");
    write("sys/fs/cgroup/jobs/one/cpu.max", "150000 100000");
    write("sys/fs/cgroup/jobs/one/memory.max", "1073741824");
    EXPECT_EQ(limits().processors, 1.5);
    EXPECT_EQ(limits().memory, std::int64_t{1} << 30);
}

TEST_F(ControlGroups, OfVersion2WithoutLimits) {
    write("proc/self/cgroup", "0::/jobs/one");
    write("sys/fs/cgroup/jobs/one/cpu.max", "max 100000");
    write("sys/fs/cgroup/jobs/one/memory.max", "max");
    EXPECT_EQ(limits().processors, std::nullopt);
    EXPECT_EQ(limits().memory, std::nullopt);
}

TEST_F(ControlGroups, AreLimitedByTheOnesAroundThem) {
    write("proc/self/cgroup", "0::/jobs/one");
    write("sys/fs/cgroup/jobs/one/cpu.max", "800000 100000");
    write("sys/fs/cgroup/jobs/cpu.max", "200000 100000");
    write("sys/fs/cgroup/jobs/one/memory.max", "max");
    write("sys/fs/cgroup/jobs/memory.max", "5000000");
    EXPECT_EQ(limits().processors, 2.0);
    EXPECT_EQ(limits().memory, 5000000);
}

TEST_F(ControlGroups, OfVersion1) {
    write("proc/self/cgroup", "11:cpu,cpuacct:/docker/a:b\n9:memory:/docker/c\n3:pids:/docker/c\n1:name=systemd:/docker/c");
    write("sys/fs/cgroup/cpu/docker/a:b/cpu.cfs_quota_us", "50000");
    write("sys/fs/cgroup/cpu/docker/a:b/cpu.cfs_period_us", "100000");
    write("sys/fs/cgroup/memory/docker/c/memory.limit_in_bytes", "2000000");
    EXPECT_EQ(limits().processors, 0.5);
    EXPECT_EQ(limits().memory, 2000000);
}

TEST_F(ControlGroups, OfVersion1WithoutLimits) {
    write("proc/self/cgroup", "11:cpu,cpuacct:/\n9:memory:/");
    write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
    write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    EXPECT_EQ(limits().processors, std::nullopt);
    EXPECT_EQ(limits().memory, std::nullopt);
}

/// In a container without a name space of its own the name is the host's, and what is mounted is the container's.
TEST_F(ControlGroups, OfAContainerThatIsNamedAsTheHostSeesIt) {
    write("proc/self/cgroup", "9:memory:/docker/0123\n8:cpuacct,cpu:/docker/0123\n0::/system.slice/docker");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000");
    write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000");
    write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    EXPECT_EQ(limits().memory, 3000000);
    EXPECT_EQ(limits().processors, 3.0);
}

TEST_F(ControlGroups, LimitNothingWhereTheyCannotBeUnderstood) {
    write("proc/self/cgroup", "nonsense\n0::/a");
    write("sys/fs/cgroup/a/cpu.max", "lots 100000");
    write("sys/fs/cgroup/a/memory.max", "1e");
    write("sys/fs/cgroup/cpu.max", "100000 0");
    write("sys/fs/cgroup/memory.max", "");
    EXPECT_EQ(limits().processors, std::nullopt);
    EXPECT_EQ(limits().memory, std::nullopt);
}

TEST(Machine, GivesNoMoreThanThereIs) {
    EXPECT_GE(available_memory(), std::int64_t{1} << 20);
    EXPECT_LE(available_memory(), std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE));
}

TEST(Machine, CountsTheProcessorsThatTheAffinityAllows) {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    EXPECT_LE(available_processors(), CPU_COUNT(&before));
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; ++i)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(available_processors(), 1);
    EXPECT_EQ(Device::cpu().threads(), 1);
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace solver
