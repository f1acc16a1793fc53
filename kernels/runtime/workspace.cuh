#pragma once

/// Calls of CUB, which asks for working memory.

#include "runtime/check.cuh"

#include <cstddef>

namespace solver::cuda {

/// call(scratch, bytes) as CUB's device-wide functions want it: first for the size, then for the work.
template <class Call>
void with_scratch(int device, const char* purpose, const Call& call) {
    std::size_t bytes = 0;
    check(call(nullptr, bytes), "CUB", purpose);
    const DeviceArray<std::byte> scratch(device, static_cast<std::int64_t>(bytes), purpose);
    check(call(scratch.data(), bytes), "CUB", purpose);
}

}  // namespace solver::cuda
