#pragma once

/// Working memory of an analysis that needs many arrays for a moment: allocating and freeing each would take longer than the
/// work. And calls of CUB, which asks for some.

#include "runtime/check.cuh"
#include "solver/cuda/memory.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace solver::cuda {

/// Arrays that live as long as it does.
class Workspace {
public:
    /// What is known to be needed; more is allocated where that was too little.
    Workspace(int device, std::int64_t bytes, const char* purpose) : device_(device), purpose_(purpose) { add_block(bytes); }

    /// What is there is not defined.
    template <class Element>
    Element* take(std::int64_t count) {
        constexpr std::int64_t alignment = 256;
        const std::int64_t bytes = (count * static_cast<std::int64_t>(sizeof(Element)) + alignment - 1) / alignment * alignment;
        if (used_ + bytes > blocks_.back().size()) add_block(bytes);
        std::byte* const place = blocks_.back().data() + used_;
        used_ += bytes;
        return reinterpret_cast<Element*>(place);
    }

private:
    void add_block(std::int64_t bytes) {
        constexpr std::int64_t least = std::int64_t{1} << 20;
        blocks_.emplace_back(device_, std::max(bytes, least), purpose_);
        used_ = 0;
    }

    int device_;
    const char* purpose_;
    std::vector<DeviceArray<std::byte>> blocks_;
    std::int64_t used_ = 0;
};

/// call(scratch, bytes) as CUB's device-wide functions want it: first for the size, then for the work.
template <class Call>
void with_scratch(Workspace& workspace, const char* purpose, const Call& call) {
    std::size_t bytes = 0;
    check(call(nullptr, bytes), "CUB", purpose);
    void* const scratch = workspace.take<std::byte>(static_cast<std::int64_t>(bytes));
    check(call(scratch, bytes), "CUB", purpose);
}

/// Copies to the host and waits.
template <class Element>
std::vector<Element> copy_to_host(int device, const Element* from, std::int64_t count, Stream stream) {
    std::vector<Element> host(static_cast<std::size_t>(count));
    detail::copy_to_host(device, host.data(), from, count * static_cast<std::int64_t>(sizeof(Element)), stream);
    return host;
}

}  // namespace solver::cuda
