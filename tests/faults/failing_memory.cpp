#include "faults/failing_memory.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>

// glibc lets a program have a malloc of its own, and keeps its own under these names.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* memory);
}

namespace solver::faults {
namespace {

std::atomic<std::int64_t> made{0}, refused{0}, kept{0};

/// Whether this request is the one.
bool refuse() {
    if (++made != refused) return false;
    errno = ENOMEM;
    return true;
}

void* counted(void* memory) {
    if (memory != nullptr) ++kept;
    return memory;
}

}  // namespace

void refuse_request(std::int64_t n) {
    made = 0;
    kept = 0;
    refused = n;
}

std::int64_t requests() { return made; }

std::int64_t pieces_kept() { return kept; }

}  // namespace solver::faults

using solver::faults::counted;
using solver::faults::refuse;

extern "C" {

void* malloc(std::size_t size) { return refuse() ? nullptr : counted(__libc_malloc(size)); }

void* calloc(std::size_t count, std::size_t size) { return refuse() ? nullptr : counted(__libc_calloc(count, size)); }

void* realloc(void* memory, std::size_t size) {
    if (refuse()) return nullptr;
    void* const larger = __libc_realloc(memory, size);
    return memory == nullptr ? counted(larger) : larger;
}

void* memalign(std::size_t alignment, std::size_t size) {
    return refuse() ? nullptr : counted(__libc_memalign(alignment, size));
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
    void* const made = memalign(alignment, size);
    if (made == nullptr) return ENOMEM;
    *memory = made;
    return 0;
}

void free(void* memory) {
    if (memory != nullptr) --solver::faults::kept;
    __libc_free(memory);
}
}
