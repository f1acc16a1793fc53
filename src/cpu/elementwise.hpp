#pragma once

/// Loops over vectors whose elements do not depend on one another.

#include "core/thread_pool.hpp"
#include "solver/device.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace solver::cpu {

/// Calls body(begin, end) for ranges that together are 0..size-1, on as many of the device's threads as are worth waking.
template <class Body>
void for_each_range(std::int64_t size, const Device& device, const Body& body) {
    constexpr std::int64_t worth_a_thread = 8192;
    const int parts = static_cast<int>(std::clamp<std::int64_t>(size / worth_a_thread, 1, device.threads()));
    parallel_for(parts, [&](int part) { body(share_begin(size, part, parts), share_begin(size, part + 1, parts)); });
}

/// out_i = f(out_i, i) for all i.
template <class T, class F>
void update(std::span<T> out, const Device& device, const F& f) {
    T* elements = out.data();
    for_each_range(static_cast<std::int64_t>(out.size()), device, [=](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) elements[i] = f(elements[i], i);
    });
}

}  // namespace solver::cpu
