#include "core/machine.hpp"

#include "solver/device.hpp"
#include "support/less_memory.hpp"
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
    /// One that is mounted, and holds the group `root` there.
    void mount(const std::string& type, const std::string& at, const std::string& options, const std::string& root = "/") {
        mounts_ +=
            "36 31 0:32 " + root + ' ' + at + " rw,relatime shared:9 master:1 - " + type + ' ' + type + ' ' + options + '\n';
        write("proc/self/mountinfo", "22 27 0:21 / /proc rw,relatime - proc proc rw\n" + mounts_);
    }
    void mount_version_2() { mount("cgroup2", "/sys/fs/cgroup", "rw,nsdelegate"); }
    void mount_version_1(const std::string& root = "/") {
        mount("cgroup", "/sys/fs/cgroup/cpu,cpuacct", "rw,cpu,cpuacct", root);
        mount("cgroup", "/sys/fs/cgroup/memory", "rw,memory", root);
    }

    ControlGroupLimits limits() const { return control_group_limits(folder_.path()); }

private:
    testing::TemporaryFolder folder_;
    std::string mounts_;
};

TEST_F(ControlGroups, LimitNothingWhereThereAreNone) {
    EXPECT_EQ(limits().processors, std::nullopt);
    EXPECT_EQ(limits().memory, std::nullopt);
}

// Promise: device.hpp, "0 threads means one for each processor"
TEST_F(ControlGroups, OfVersion2) {
    mount_version_2();
    write("proc/self/cgroup", "0::/jobs/one");
    write("sys/fs/cgroup/jobs/one/cpu.max", "150000 100000");
    write("sys/fs/cgroup/jobs/one/memory.max", "1073741824");
    EXPECT_EQ(limits().processors, 1.5);
    EXPECT_EQ(limits().memory, std::int64_t{1} << 30);
}

TEST_F(ControlGroups, OfVersion2WithoutLimits) {
    mount_version_2();
    write("proc/self/cgroup", "0::/jobs/one");
    write("sys/fs/cgroup/jobs/one/cpu.max", "max 100000");
    write("sys/fs/cgroup/jobs/one/memory.max", "max");
    EXPECT_EQ(limits().processors, std::nullopt);
    EXPECT_EQ(limits().memory, std::nullopt);
}

TEST_F(ControlGroups, AreLimitedByTheOnesAroundThem) {
    mount_version_2();
    write("proc/self/cgroup", "0::/jobs/one");
    write("sys/fs/cgroup/jobs/one/cpu.max", "800000 100000");
    write("sys/fs/cgroup/jobs/cpu.max", "200000 100000");
    write("sys/fs/cgroup/jobs/one/memory.max", "max");
    write("sys/fs/cgroup/jobs/memory.max", "5000000");
    EXPECT_EQ(limits().processors, 2.0);
    EXPECT_EQ(limits().memory, 5000000);
}

TEST_F(ControlGroups, OfVersion1) {
    mount_version_1();
    write("proc/self/cgroup", "11:cpu,cpuacct:/docker/a:b\n9:memory:/docker/c\n3:pids:/docker/c\n1:name=systemd:/docker/c");
    write("sys/fs/cgroup/cpu,cpuacct/docker/a:b/cpu.cfs_quota_us", "50000");
    write("sys/fs/cgroup/cpu,cpuacct/docker/a:b/cpu.cfs_period_us", "100000");
    write("sys/fs/cgroup/memory/docker/c/memory.limit_in_bytes", "2000000");
    EXPECT_EQ(limits().processors, 0.5);
    EXPECT_EQ(limits().memory, 2000000);
}

TEST_F(ControlGroups, OfVersion1WithoutLimits) {
    mount_version_1();
    write("proc/self/cgroup", "11:cpu,cpuacct:/\n9:memory:/");
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1");
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    EXPECT_EQ(limits().processors, std::nullopt);
    EXPECT_EQ(limits().memory, std::nullopt);
}

/// In a container without a namespace of its own the name is the host's, and what is mounted is the container's.
TEST_F(ControlGroups, OfAContainerThatIsNamedAsTheHostSeesIt) {
    mount_version_1("/docker/0123");
    write("proc/self/cgroup", "9:memory:/docker/0123\n8:cpuacct,cpu:/docker/0123\n0::/system.slice/docker");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000");
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000");
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
    EXPECT_EQ(limits().memory, 3000000);
    EXPECT_EQ(limits().processors, 3.0);
}

TEST_F(ControlGroups, WithinSuchAContainer) {
    mount_version_1("/docker/0123");
    write("proc/self/cgroup", "9:memory:/docker/0123/jobs/one\n8:cpuacct,cpu:/docker/0123/jobs");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000");
    write("sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes", "2000000");
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000");
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
    write("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us", "100000");
    write("sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us", "100000");
    EXPECT_EQ(limits().memory, 2000000);
    EXPECT_EQ(limits().processors, 1.0);
}

/// A group with the beginning of its name is another one, and so is what lies beside the one that is mounted.
TEST_F(ControlGroups, AreNotLimitedByOthers) {
    mount_version_1("/docker/01");
    write("proc/self/cgroup", "9:memory:/docker/0123/one");
    write("sys/fs/cgroup/memory/23/one/memory.limit_in_bytes", "1000000");
    write("sys/fs/cgroup/memory/one/memory.limit_in_bytes", "1000000");
    write("sys/fs/cgroup/0123/one/memory.limit_in_bytes", "1000000");
    write("sys/fs/cgroup/cpu,cpuacct/memory.limit_in_bytes", "1000000");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000");
    EXPECT_EQ(limits().memory, 3000000);
}

/// Where both versions are mounted, a controller belongs to one of them.
TEST_F(ControlGroups, OfBothVersions) {
    mount("cgroup", "/sys/fs/cgroup/memory", "rw,memory");
    mount("cgroup2", "/sys/fs/cgroup/unified", "rw");
    write("proc/self/cgroup", "4:memory:/one\n1:name=systemd:/one\n0::/two");
    write("sys/fs/cgroup/memory/one/memory.limit_in_bytes", "7000000");
    write("sys/fs/cgroup/unified/two/cpu.max", "250000 100000");
    EXPECT_EQ(limits().memory, 7000000);
    EXPECT_EQ(limits().processors, 2.5);
}

TEST_F(ControlGroups, MountedWhereverTheSystemLikes) {
    mount("cgroup2", "/groups", "rw");
    write("proc/self/cgroup", "0::/one");
    write("groups/one/memory.max", "6000000");
    EXPECT_EQ(limits().memory, 6000000);
}

/// Beyond memory.high a process goes on, but hardly.
TEST_F(ControlGroups, SlowDownBeforeTheyRefuse) {
    mount_version_2();
    write("proc/self/cgroup", "0::/one");
    write("sys/fs/cgroup/one/memory.max", "6000000");
    write("sys/fs/cgroup/one/memory.high", "5000000");
    EXPECT_EQ(limits().memory, 5000000);
}

TEST_F(ControlGroups, LimitNothingWhereTheyCannotBeUnderstood) {
    mount_version_2();
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

TEST(Machine, GivesNoMoreThanResourceLimitsAllow) {
    for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
        const std::int64_t less = available_memory() - 4096;
        {
            const testing::LessMemory limit(less, resource);
            ASSERT_TRUE(limit.is_set());
            EXPECT_EQ(available_memory(), less);
        }
        EXPECT_EQ(available_memory(), less + 4096);
    }
}

// Promise: device.hpp, "0 threads means one for each processor"
// Promise: solver.h, "0, as at the beginning: one for each"
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
