#pragma once

/// Fork and join on a process-wide set of threads.

#include <cstdint>
#include <memory>
#include <type_traits>

namespace solver::cpu {

/// Calls run(context, part) for every part in 0..parts-1, each once, and returns when all are done; the calling thread runs
/// part 0, and then those that no thread has begun. Threads start when first needed and stay. While another caller has them (or
/// from within a part) it runs all parts one by one: results may depend on the number of parts, never on who runs them. The
/// first exception of a part is rethrown. Every part runs under a FloatingPointGuard. The child of a fork starts threads of its
/// own, whatever the parent's were doing; a fork from within a part leaves a child that must not return from that part.
void run_parts(int parts, void (*run)(void* context, int part), void* context);

/// run_parts for a callable work(part).
template <class Work>
void parallel_for(int parts, Work&& work) {
    using Callable = std::remove_reference_t<Work>;
    run_parts(
        parts, [](void* context, int part) { (*static_cast<Callable*>(context))(part); },
        const_cast<void*>(static_cast<const void*>(std::addressof(work))));
}

/// One turn of a loop that waits for another thread, after `turns` of them: awake at first, then letting others run.
void wait_a_little(int turns);

/// The first element of part `part` when `size` elements are shared out evenly in order; part == parts gives size.
inline std::int64_t share_begin(std::int64_t size, int part, int parts) {
    return size / parts * part + (size % parts) * part / parts;
}

}  // namespace solver::cpu
