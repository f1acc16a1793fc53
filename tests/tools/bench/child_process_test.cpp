#include "child_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <string>

namespace {

using namespace solver::bench;

using How = solver::bench::Ending::How;

TEST(RunApart, ReturnsWhatTheWorkReturns) {
    for (const int size : {0, 1, 4096, 4097, 1 << 20}) {  // pipes are read in blocks of 4096 bytes
        const std::string text(static_cast<std::size_t>(size), 'x');
        const auto finished = run_apart([&] { return text; }, 60);
        EXPECT_EQ(finished.how, How::done);
        EXPECT_EQ(finished.result, text);
    }
}

TEST(RunApart, SurvivesCrashesExceptionsAndHangs) {
    const auto crashed = run_apart(
        []() -> std::string {
            std::raise(SIGKILL);
            return "never";
        },
        60);
    EXPECT_EQ(crashed.how, How::died);
    EXPECT_EQ(crashed.signal, SIGKILL);
    EXPECT_EQ(run_apart([]() -> std::string { throw 1; }, 60).how, How::died);
    const auto hung = run_apart(
        []() -> std::string {
            while (true) ::pause();
        },
        0.05);
    EXPECT_EQ(hung.how, How::timed_out);
}

}  // namespace
