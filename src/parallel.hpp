#pragma once

/// Threads for work that is not arithmetic: reading, sorting, assembling.

#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace solver {

/// Calls task(0) .. task(threads - 1), each on its own thread, the first on the caller's. When all have ended, the exception of
/// the lowest number, if any, is thrown.
template <class Task>
void run_on_threads(int threads, const Task& task) {
    std::vector<std::exception_ptr> errors(threads);
    const auto guarded = [&](int thread) noexcept {
        try {
            task(thread);
        } catch (...) {
            errors[thread] = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        for (int thread = 1; thread < threads; ++thread) others.emplace_back(guarded, thread);
        guarded(0);
    }
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

/// Splits 0..count into one range a thread and calls task(begin, end) for each.
template <class Task>
void run_on_ranges(std::int64_t count, int threads, const Task& task) {
    run_on_threads(threads, [&](int thread) { task(count * thread / threads, count * (thread + 1) / threads); });
}

}  // namespace solver
