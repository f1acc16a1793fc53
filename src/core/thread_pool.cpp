#include "core/thread_pool.hpp"

#include "core/floating_point_guard.hpp"
#include "core/machine.hpp"

#include <pthread.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <deque>
#include <exception>
#include <iterator>
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

/// Threads that begin while one of these lives leave the signals of the process to the threads of the program, which may wait
/// for them (sigwait), or hold them back. What a thread does itself still reaches it, and what a profiler asks of it.
class SignalsLeftToTheProgram {
public:
    SignalsLeftToTheProgram() {
        sigset_t left;
        sigfillset(&left);
        for (const int own : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGSEGV, SIGSYS, SIGTRAP}) sigdelset(&left, own);
        pthread_sigmask(SIG_BLOCK, &left, &before_);
    }
    ~SignalsLeftToTheProgram() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsLeftToTheProgram(const SignalsLeftToTheProgram&) = delete;
    SignalsLeftToTheProgram& operator=(const SignalsLeftToTheProgram&) = delete;

private:
    sigset_t before_;
};

class ThreadPool {
public:
    explicit ThreadPool(int processors) : processors_(processors) {}

    /// Ends the threads for good. Where a caller has them, since the process ends while another thread of it computes, they are
    /// left to end with the process.
    void end() {
        if (busy_.test_and_set(std::memory_order_acquire)) return;
        announce(stop);
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
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
        const std::uint64_t round = announce(parts);
        run_part(0);
        run_parts_not_begun(round, parts);
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

    /// The last round of which a thread's part was begun, by the thread or by the caller.
    struct alignas(64) Begun {
        std::atomic<std::uint64_t> round{0};

        /// Whether the part is left to whoever asks. Rounds grow: a late thread finds that its round is over.
        bool try_begin(std::uint64_t now) {
            std::uint64_t last = round.load(std::memory_order_relaxed);
            return last < now && round.compare_exchange_strong(last, now, std::memory_order_relaxed);
        }
    };

    std::uint64_t announce(int parts) {
        const std::uint64_t last = round_.load(std::memory_order_relaxed);
        const std::uint64_t now = (last / round_step + 1) * round_step + parts;
        round_.store(now, std::memory_order_release);
        round_.notify_all();
        return now;
    }

    /// Of threads that are still asleep, or wait for a processor that others have: the caller would only wait for them.
    void run_parts_not_begun(std::uint64_t round, int parts) {
        for (int part = 1; part < parts; ++part) {
            if (!begun_[part - 1].try_begin(round)) continue;
            run_part(part);
            pending_.fetch_sub(1, std::memory_order_acq_rel);
        }
    }

    bool start_threads(int count) {
        if (std::ssize(threads_) >= count) return true;
        try {
            const SignalsLeftToTheProgram held;
            while (std::ssize(threads_) < count) {
                const int part = static_cast<int>(threads_.size()) + 1;
                if (std::ssize(begun_) < part) begun_.emplace_back();
                threads_.emplace_back([this, part, &begun = begun_[part - 1], seen = round_.load(std::memory_order_relaxed)] {
                    serve(part, begun, seen);
                });
            }
            return true;
        } catch (const std::system_error&) {  // the system has no more threads to give
            return false;
        } catch (const std::bad_alloc&) {
            return false;
        }
    }

    void serve(int part, Begun& begun, std::uint64_t seen) {
        for (;;) {
            seen = wait_for_change(round_, seen, spins(part + 1));
            const int parts = static_cast<int>(seen % round_step);
            if (parts == stop) return;
            if (part >= parts || !begun.try_begin(seen)) continue;
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
    std::deque<Begun> begun_;  ///< of each thread; they stay where they are when more come
    std::atomic_flag busy_;
    std::atomic<std::uint64_t> round_{0};
    std::atomic<std::uint64_t> pending_{0};
    void (*run_)(void*, int) = nullptr;
    void* context_ = nullptr;
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
};

/// The pool of this process; null before the first use. It is never freed: a thread that still computes while the process ends
/// may look at it.
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
    ~PoolOwner() {
        if (ThreadPool* const pool = current_pool) pool->end();
    }
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
