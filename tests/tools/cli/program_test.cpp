#include "tools/cli/program.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

namespace solver::cli {
namespace {

using ::testing::ExitedWithCode;

/// In a process of its own, with a full disk for its standard output.
[[noreturn]] void run_on_a_full_disk(bool at_once) {
    if (std::freopen("/dev/full", "w", stdout) == nullptr) std::exit(9);
    if (at_once) std::setvbuf(stdout, nullptr, _IONBF, 0);
    std::exit(run_program("name", 0, nullptr, [](int, char**) {
        std::fputs("text", stdout);
        return 0;
    }));
}

TEST(ProgramDeathTest, SaysWhyItsOutputDidNotArrive) {
    EXPECT_EXIT(run_on_a_full_disk(false), ExitedWithCode(1),
                "^name: standard output: writing failed: No space left on device\n$");
}

TEST(ProgramDeathTest, SaysNoReasonWhereNobodyKnowsItAnyMore) {
    EXPECT_EXIT(run_on_a_full_disk(true), ExitedWithCode(1), "^name: standard output: writing failed\n$");
}

TEST(Program, EndsAsItsRunDoes) {
    EXPECT_EQ(run_program("name", 0, nullptr, [](int, char**) { return 2; }), 2);
    const auto told = [](int (*run)(int, char**)) {
        ::testing::internal::CaptureStderr();
        EXPECT_EQ(run_program("name", 0, nullptr, run), 1);
        return ::testing::internal::GetCapturedStderr();
    };
    EXPECT_EQ(told([](int, char**) -> int { throw std::bad_alloc(); }), "name: not enough memory\n");
    EXPECT_EQ(told([](int, char**) -> int { throw std::runtime_error("a reason"); }), "name: a reason\n");
}

}  // namespace
}  // namespace solver::cli
