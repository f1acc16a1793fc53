#include "krylov/task.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace solver {
namespace {

Task<int> paused_twice(std::vector<std::string>& log) {
    log.push_back("one");
    co_await Pause();
    log.push_back("two");
    co_await Pause();
    log.push_back("three");
    co_return 7;
}

Task<int> sum_of_two(std::vector<std::string>& log) {
    const int first = co_await paused_twice(log);
    log.push_back("between");
    const int second = co_await paused_twice(log);
    co_return first + second;
}

TEST(Task, DoesNothingBeforeItIsResumed) {
    std::vector<std::string> log;
    Task<int> task = paused_twice(log);
    TaskStack stack;
    task.start(stack);
    EXPECT_TRUE(log.empty());
    EXPECT_FALSE(stack.is_done());
}

TEST(Task, GoesOnFromPauseToPauseThroughThoseItAwaits) {
    std::vector<std::string> log;
    Task<int> task = sum_of_two(log);
    TaskStack stack;
    task.start(stack);
    int resumed = 0;
    for (; !stack.is_done(); ++resumed) stack.resume();
    EXPECT_EQ(resumed, 5);  // four pauses, and the end
    EXPECT_EQ(task.result(), 14);
    EXPECT_EQ(log, (std::vector<std::string>{"one", "two", "three", "between", "one", "two", "three"}));
}

TEST(Task, TakesTurnsWithOthers) {
    std::vector<std::string> first_log, second_log;
    Task<int> first = paused_twice(first_log);
    Task<int> second = paused_twice(second_log);
    TaskStack first_stack, second_stack;
    first.start(first_stack);
    second.start(second_stack);
    first_stack.resume();
    second_stack.resume();
    EXPECT_EQ(first_log.size(), 1);
    EXPECT_EQ(second_log.size(), 1);
    first_stack.resume();
    first_stack.resume();
    EXPECT_TRUE(first_stack.is_done());
    EXPECT_FALSE(second_stack.is_done());
}

Task<int> failing() {
    co_await Pause();
    throw std::runtime_error("no");
}

Task<int> catching(std::string& what) {
    try {
        co_return co_await failing();
    } catch (const std::runtime_error& error) {
        what = error.what();
    }
    co_return -1;
}

TEST(Task, HandsExceptionsToWhoeverAwaits) {
    std::string what;
    Task<int> task = catching(what);
    TaskStack stack;
    task.start(stack);
    while (!stack.is_done()) stack.resume();
    EXPECT_EQ(task.result(), -1);
    EXPECT_EQ(what, "no");
    Task<int> alone = failing();
    TaskStack other;
    alone.start(other);
    while (!other.is_done()) other.resume();
    EXPECT_THROW(alone.result(), std::runtime_error);
}

Task<int> ready() { co_return 1; }

Task<long> many(long count) {
    long sum = 0;
    for (long i = 0; i < count; ++i) sum += co_await ready();
    co_return sum;
}

/// A million that end at once: the machine's stack would not hold as many frames.
TEST(Task, DoesNotGrowTheStackOfTheMachine) {
    Task<long> task = many(1000000);
    TaskStack stack;
    task.start(stack);
    stack.resume();
    EXPECT_TRUE(stack.is_done());
    EXPECT_EQ(task.result(), 1000000);
}

/// A task that is given up half-way frees what it holds.
TEST(Task, CanBeGivenUp) {
    std::vector<std::string> log;
    TaskStack stack;
    {
        Task<int> task = sum_of_two(log);
        task.start(stack);
        stack.resume();
    }
    EXPECT_EQ(log.size(), 1);
}

}  // namespace
}  // namespace solver
