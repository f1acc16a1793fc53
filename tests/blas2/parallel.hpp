#pragma once

/// Work that is shared out among threads.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace solver::blas2 {

/// Calls work(begin, end) for all of 0, ..., size - 1 in chunks, on so many threads; whoever is done takes the next chunk.
/// Throws what `work` throws.
template <class Work>
void in_parallel(int threads, std::int64_t size, const Work& work) {
    constexpr std::int64_t chunk = 64;
    std::atomic<std::int64_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto take = [&] {
        try {
            for (std::int64_t begin; (begin = next.fetch_add(chunk)) < size;) work(begin, std::min(begin + chunk, size));
        } catch (...) {
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
            next = size;
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::int64_t thread = 1; thread < std::min<std::int64_t>(threads, (size + chunk - 1) / chunk); ++thread)
            others.emplace_back(take);
        take();
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace solver::blas2
