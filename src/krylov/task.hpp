#pragma once

/// Sequential code that can be put aside: what lets several solves wait for one product.

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

namespace solver {

/// The coroutines of one solve that wait for one another, innermost last. They are resumed from here only, never from one
/// another, so the machine's stack does not grow with the number of steps.
class TaskStack {
public:
    /// Goes on until the innermost pauses or the outermost is done.
    void resume() {
        paused_ = false;
        while (!paused_ && !handles_.empty()) handles_.back().resume();
    }

    bool is_done() const { return handles_.empty(); }

    void push(std::coroutine_handle<> handle) { handles_.push_back(handle); }
    void pop() { handles_.pop_back(); }
    void pause() { paused_ = true; }

private:
    std::vector<std::coroutine_handle<>> handles_;
    bool paused_ = false;
};

/// co_await Pause() returns to whoever called TaskStack::resume.
struct Pause {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
        handle.promise().stack->pause();
    }
    void await_resume() const noexcept {}
};

/// A coroutine that returns a T. It starts when it is awaited by another, or from outside by start(); an exception inside
/// reaches whoever awaits it, or result().
template <class T>
class Task {
public:
    struct promise_type {
        TaskStack* stack = nullptr;
        std::optional<T> value;
        std::exception_ptr exception;

        Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        auto final_suspend() noexcept {
            stack->pop();
            return std::suspend_always();
        }
        void return_value(T returned) { value = std::move(returned); }
        void unhandled_exception() { exception = std::current_exception(); }
    };

    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Task& operator=(Task&&) = delete;
    ~Task() {
        if (handle_) handle_.destroy();
    }

    void start(TaskStack& stack) {
        handle_.promise().stack = &stack;
        stack.push(handle_);
    }

    T result() {
        if (handle_.promise().exception) std::rethrow_exception(handle_.promise().exception);
        return std::move(*handle_.promise().value);
    }

    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> parent) {
        start(*parent.promise().stack);
    }
    T await_resume() { return result(); }

private:
    explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

    std::coroutine_handle<promise_type> handle_;
};

}  // namespace solver
