#pragma once

/// Arrays beyond whose end nobody can read unnoticed.

#include "solver/views.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
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

/// A matrix by columns, each of which fills whole pages and is followed by one that may not be touched.
template <class T>
class FencedColumns {
public:
    FencedColumns(std::int64_t pages_a_column, std::int64_t columns) {
        const std::int64_t page = sysconf(_SC_PAGESIZE);
        const std::int64_t rows = pages_a_column * page / static_cast<std::int64_t>(sizeof(T));
        const std::int64_t leading = rows + page / static_cast<std::int64_t>(sizeof(T));
        size_ = static_cast<std::size_t>(leading * columns) * sizeof(T);
        memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory_ == MAP_FAILED) throw std::bad_alloc();
        view_ = {rows, columns, 1, leading, static_cast<T*>(memory_)};
        for (std::int64_t j = 0; j < columns; ++j)
            if (mprotect(view_.data + j * leading + rows, static_cast<std::size_t>(page), PROT_NONE) != 0)
                throw std::bad_alloc();
    }
    FencedColumns(const FencedColumns&) = delete;
    FencedColumns& operator=(const FencedColumns&) = delete;
    ~FencedColumns() { munmap(memory_, size_); }

    MutableDenseView<T> view() const { return view_; }
    T& operator()(std::int64_t i, std::int64_t j) const { return view_.data[i + j * view_.column_stride]; }

private:
    void* memory_;
    std::size_t size_;
    MutableDenseView<T> view_;
};

}  // namespace solver::testing
