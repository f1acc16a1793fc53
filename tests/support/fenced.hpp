#pragma once

/// Arrays beyond whose end nobody can read unnoticed.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <span>

namespace solver::testing {

/// A copy that ends where a page begins that may not be touched: one element too far is a crash.
template <class T>
class Fenced {
public:
    explicit Fenced(std::span<const T> values) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t pages = (values.size_bytes() + page - 1) / page + 1;
        size_ = pages * page;
        memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory_ == MAP_FAILED) throw std::bad_alloc();
        char* fence = static_cast<char*>(memory_) + size_ - page;
        if (mprotect(fence, page, PROT_NONE) != 0) throw std::bad_alloc();
        T* first = reinterpret_cast<T*>(fence) - values.size();
        std::copy(values.begin(), values.end(), first);
        view_ = {first, values.size()};
    }
    Fenced(const Fenced&) = delete;
    Fenced& operator=(const Fenced&) = delete;
    ~Fenced() { munmap(memory_, size_); }

    std::span<T> view() const { return view_; }

private:
    void* memory_;
    std::size_t size_;
    std::span<T> view_;
};

}  // namespace solver::testing
