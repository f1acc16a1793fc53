#include "core/thread_pool.hpp"

#include "solver/reduce.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace solver::cpu {
namespace {

TEST(ThreadPool, RunsEveryPartOnceForAnyNumberOfParts) {
    for (int parts : {0, 1, 2, 7, 64, 3, 1}) {
        std::vector<int> calls(parts, 0);
        parallel_for(parts, [&](int part) { ++calls[part]; });
        EXPECT_EQ(calls, std::vector<int>(parts, 1));
    }
}

TEST(ThreadPool, SurvivesManyShortRuns) {
    std::atomic<int> calls = 0;
    for (int i = 0; i < 20000; ++i) parallel_for(2, [&](int) { calls.fetch_add(1, std::memory_order_relaxed); });
    EXPECT_EQ(calls, 40000);
}

TEST(ThreadPool, RunsEveryPartOnceWhereThreadsComeLate) {
    for (int i = 0; i < 300; ++i) {
        std::this_thread::sleep_for(
            std::chrono::microseconds(200));  // the threads fall asleep, and may wake while parts are run
        const int parts = 2 + i % 7;
        std::vector<int> calls(parts, 0);
        parallel_for(parts, [&](int part) { ++calls[part]; });
        ASSERT_EQ(calls, std::vector<int>(parts, 1));
    }
}

TEST(ThreadPool, RunsNestedCallsOnTheCallingThread) {
    std::atomic<int> calls = 0;
    parallel_for(3, [&](int) { parallel_for(3, [&](int) { ++calls; }); });
    EXPECT_EQ(calls, 9);
}

TEST(ThreadPool, ServesSeveralCallersAtOnce) {
    std::atomic<int> calls = 0;
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i)
        callers.emplace_back([&] {
            for (int k = 0; k < 1000; ++k) parallel_for(3, [&](int) { ++calls; });
        });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(calls, 12000);
}

TEST(ThreadPool, RethrowsAndStaysUsable) {
    for (int failing : {0, 1, 2})
        EXPECT_THROW(parallel_for(3,
                                  [&](int part) {
                                      if (part == failing) throw std::runtime_error("part");
                                  }),
                     std::runtime_error);
    std::atomic<int> calls = 0;
    parallel_for(3, [&](int) { ++calls; });
    EXPECT_EQ(calls, 3);
}

TEST(ThreadPool, HonoursSubnormalsAndRoundsToNearestWhateverTheCallerSet) {
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | 0x8040 | 0x6000);  // flush to zero, denormals are zero, round toward zero
    const unsigned set = _mm_getcsr();
    std::vector<unsigned> seen(4);
    parallel_for(4, [&](int part) { seen[part] = _mm_getcsr() & 0xE040; });
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(seen, std::vector<unsigned>(4, 0));
    EXPECT_EQ(after & 0xE040, set & 0xE040);
}

/// Both parts wait for each other, so that one thread alone would wait for ever.
void meet() {
    std::atomic<int> arrived = 0;
    parallel_for(2, [&](int) {
        ++arrived;
        while (arrived < 2) std::this_thread::yield();
    });
}

// Promise: solver.h, "Threads of the library's pool leave the signals"
TEST(ThreadPool, LeavesTheSignalsOfTheProcessToTheProgram) {
    std::atomic<int> arrived = 0;
    std::vector<sigset_t> held(2);
    parallel_for(2, [&](int part) {
        pthread_sigmask(SIG_BLOCK, nullptr, &held[part]);
        ++arrived;
        while (arrived < 2) std::this_thread::yield();
    });
    EXPECT_EQ(sigismember(&held[0], SIGTERM), 0);
    EXPECT_EQ(sigismember(&held[1], SIGTERM), 1);
    EXPECT_EQ(sigismember(&held[1], SIGSEGV), 0);
}

/// How a child ends that calls work: 0 if it returned true, by the alarm signal where it took too long.
template <class Work>
int status_of_child(Work work) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(work() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

class Fork : public ::testing::Test {
protected:
    void SetUp() override {
#if defined(__SANITIZE_THREAD__)
        GTEST_SKIP() << "the thread sanitizer allows no threads after a fork";
#endif
    }
};

TEST_F(Fork, LeavesTheChildWithThreadsOfItsOwn) {
    meet();
    EXPECT_EQ(status_of_child([] {
                  meet();
                  return status_of_child([] {
                             meet();
                             return true;
                         }) == 0;
              }),
              0);
    meet();
}

TEST_F(Fork, LeavesTheChildAbleToSumInParallel) {
    std::vector<double> x(1 << 20);
    std::iota(x.begin(), x.end(), 0.5);
    const double expected = 0.5 * static_cast<double>(x.size()) * static_cast<double>(x.size());
    ASSERT_EQ(sum(x, Accuracy::exact, Device::cpu(4)), expected);
    EXPECT_EQ(status_of_child([&] { return sum(x, Accuracy::exact, Device::cpu(4)) == expected; }), 0);
    EXPECT_EQ(sum(x, Accuracy::exact, Device::cpu(4)), expected);
}

TEST_F(Fork, MayComeWhileAnotherThreadHasThePool) {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the address sanitizer's allocator may stay locked in a child whose parent's other thread had it";
#endif
    parallel_for(3, [](int) {});  // a fork in the middle of the creation of a thread is beyond what the C library promises
    std::atomic<bool> stop = false;
    std::thread other([&] {
        while (!stop) parallel_for(3, [](int) {});
    });
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ(status_of_child([] {
                      meet();
                      return true;
                  }),
                  0);
    stop = true;
    other.join();
}

/// Ends after what the library keeps to the end of the process.
struct Late {
    bool waits = false;
    ~Late() {
        if (waits) std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
} late;

TEST_F(Fork, LeavesTheChildFreeToEndWhileAThreadOfItComputes) {
    EXPECT_EQ(status_of_child([]() -> bool {
                  late.waits = true;
                  std::atomic<bool> begun = false;
                  std::thread other([&] {
                      parallel_for(2, [&](int) {
                          begun = true;
                          std::this_thread::sleep_for(std::chrono::milliseconds(100));
                      });
                  });
                  while (!begun) std::this_thread::yield();
                  std::exit(0);
              }),
              0);
}

TEST(ShareBegin, CutsIntoNearlyEqualPartsWithoutGaps) {
    for (std::int64_t size : {0, 1, 6, 7, 8, 1000003}) {
        EXPECT_EQ(share_begin(size, 0, 7), 0);
        EXPECT_EQ(share_begin(size, 7, 7), size);
        for (int part = 0; part < 7; ++part) {
            const auto length = share_begin(size, part + 1, 7) - share_begin(size, part, 7);
            EXPECT_GE(length, size / 7);
            EXPECT_LE(length, size / 7 + 1);
        }
    }
}

}  // namespace
}  // namespace solver::cpu
