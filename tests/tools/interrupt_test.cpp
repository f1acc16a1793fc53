#include "interrupt.hpp"

#include <gtest/gtest.h>

#include <csignal>

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

TEST(InterruptDeathTest, ASecondOneEndsTheProcess) {
    EXPECT_EXIT(
        {
            const InterruptGuard guard;
            std::raise(SIGINT);
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
