#include "core/thread_pool.hpp"

#include "core/floating_point_guard.hpp"
#include "core/machine.hpp"

#include <pthread.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace solver::cpu {
namespace {

void relax() {
#if defined(__SSE2__)
    _mm_pause();
#endif
}

/// Waits until value differs from old: for a few microseconds awake, since the next piece of a solve comes soon, then asleep.
std::uint64_t wait_for_change(const std::atomic<std::uint64_t>& value, std::uint64_t old, int spins) {
    for (int i = 0; i < spins; ++i) {
        const std::uint64_t now = value.load(std::memory_order_acquire);
        if (now != old) return now;
        relax();
    }
    value.wait(old, std::memory_order_acquire);
    return value.load(std::memory_order_acquire);
}

constexpr int turns_awake = 2000;

class ThreadPool {
public:
    explicit ThreadPool(int processors) : processors_(processors) {}

    ~ThreadPool() {
        announce(stop);
        for (std::thread& thread : threads_) thread.join();
    }

    /// False where another caller has the threads, or they cannot be had.
    bool try_run(int parts, void (*run)(void*, int), void* context) {
        if (busy_.test_and_set(std::memory_order_acquire)) return false;
        if (!start_threads(parts - 1)) {
            busy_.clear(std::memory_order_release);
            return false;
        }
        run_ = run;
        context_ = context;
        pending_.store(parts - 1, std::memory_order_relaxed);
        announce(parts);
        run_part(0);
        for (std::uint64_t left = pending_.load(std::memory_order_acquire); left != 0;)
            left = wait_for_change(pending_, left, spins(parts));
        const std::exception_ptr failure = std::exchange(failure_, nullptr);
        busy_.clear(std::memory_order_release);
        if (failure) std::rethrow_exception(failure);
        return true;
    }

    int processors() const { return processors_; }

    // A round is announced in one word, its number of parts in the low bits, so that a late thread cannot mix two rounds.
    static constexpr int round_step = 1 << 16;

private:
    static constexpr int stop = 0;

    void announce(int parts) {
        const std::uint64_t now = round_.load(std::memory_order_relaxed);
        round_.store((now / round_step + 1) * round_step + parts, std::memory_order_release);
        round_.notify_all();
    }

    bool start_threads(int count) {
        try {
            while (static_cast<int>(threads_.size()) < count) {
                const int part = static_cast<int>(threads_.size()) + 1;
                threads_.emplace_back([this, part, seen = round_.load(std::memory_order_relaxed)] { serve(part, seen); });
            }
            return true;
        } catch (const std::system_error&) {  // the system has no more threads to give
            return false;
        }
    }

    void serve(int part, std::uint64_t seen) {
        for (;;) {
            seen = wait_for_change(round_, seen, spins(part + 1));
            const int parts = static_cast<int>(seen % round_step);
            if (parts == stop) return;
            if (part >= parts) continue;
            run_part(part);
            if (pending_.fetch_sub(1, std::memory_order_acq_rel) == 1) pending_.notify_one();
        }
    }

    void run_part(int part) {
        try {
            const FloatingPointGuard guard;
            run_(context_, part);
        } catch (...) {
            const std::lock_guard lock(failure_mutex_);
            if (!failure_) failure_ = std::current_exception();
        }
    }

    /// More threads than processors must not keep one another from running.
    int spins(int parts) const { return parts <= processors_ ? turns_awake : 0; }

    const int processors_;
    std::vector<std::thread> threads_;
    std::atomic_flag busy_;
    std::atomic<std::uint64_t> round_{0};
    std::atomic<std::uint64_t> pending_{0};
    void (*run_)(void*, int) = nullptr;
    void* context_ = nullptr;
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
};

/// The pool of this process; null before the first use and after the last.
std::atomic<ThreadPool*> current_pool = nullptr;

/// The child of a fork has the forking thread alone, and a pool of its own. Its parent's stays as it was at that moment,
/// perhaps at work: nobody can end threads that are not there, so it is left alone.
void begin_anew_in_child() {
    const ThreadPool* const of_parent = current_pool.load();
    if (of_parent != nullptr) current_pool = new (std::nothrow) ThreadPool(of_parent->processors());
}

struct PoolOwner {
    PoolOwner() {
        current_pool = new ThreadPool(available_processors());
        pthread_atfork(nullptr, nullptr, begin_anew_in_child);
    }
    ~PoolOwner() { delete current_pool.exchange(nullptr); }
};

ThreadPool* pool_of_this_process() {
    static const PoolOwner owner;
    return current_pool;
}

}  // namespace

void run_parts(int parts, void (*run)(void*, int), void* context) {
    if (parts > 1 && parts < ThreadPool::round_step) {
        ThreadPool* const pool = pool_of_this_process();
        if (pool != nullptr && pool->try_run(parts, run, context)) return;
    }
    const FloatingPointGuard guard;
    for (int part = 0; part < parts; ++part) run(context, part);
}

void wait_a_little(int turns) {
    if (turns < turns_awake)
        relax();
    else
        std::this_thread::yield();
}

}  // namespace solver::cpu
