#include "cpu/thread_pool.hpp"

#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <atomic>
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
