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
