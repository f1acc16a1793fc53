#pragma once

/// Large vectors without one page fault for every 4 KiB.

#include <sys/mman.h>

#include <cstdint>
#include <vector>

namespace solver {

/// vector.resize(size) of an empty vector, in huge pages where the system has them: measured, filling 100 MB of new memory
/// takes a quarter of the time.
template <class T>
void resize_in_huge_pages(std::vector<T>& vector, std::int64_t size) {
    constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
    vector.reserve(size);
    const auto begin = (reinterpret_cast<std::uintptr_t>(vector.data()) + page - 1) / page * page;
    const auto end = reinterpret_cast<std::uintptr_t>(vector.data() + size) / page * page;
    if (begin < end)
        ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // advice: a refusal costs only time
    vector.resize(size);
}

}  // namespace solver
