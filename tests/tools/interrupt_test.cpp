#include "interrupt.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace solver::command {
namespace {

TEST(Interrupt, IsRememberedInsteadOfEndingTheProcess) {
    const InterruptGuard guard;
    EXPECT_FALSE(guard.requested());
    std::raise(SIGINT);
    EXPECT_TRUE(guard.requested());
}

TEST(Interrupt, StaysIgnoredWhereItWas) {
    const auto before = std::signal(SIGINT, SIG_IGN);
    {
        const InterruptGuard guard;
        std::raise(SIGINT);
        EXPECT_FALSE(guard.requested());
    }
    EXPECT_EQ(std::signal(SIGINT, before), SIG_IGN);
}

TEST(Interrupt, SentToTheProcessAndToItsGroupCountsOnce) {  // as by timeout(1)
    const InterruptGuard guard;
    std::raise(SIGINT);
    std::raise(SIGINT);
    EXPECT_TRUE(guard.requested());
}

TEST(InterruptDeathTest, ASecondOneEndsTheProcess) {
    EXPECT_EXIT(
        {
            const InterruptGuard guard;
            std::raise(SIGINT);
            std::this_thread::sleep_for(std::chrono::milliseconds(600));
            std::raise(SIGINT);
        },
        ::testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptDeathTest, EndsTheProcessAsUsualAfterTheGuard) {
    EXPECT_EXIT(
        {
            { const InterruptGuard guard; }
            std::raise(SIGINT);
        },
        ::testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace solver::command
