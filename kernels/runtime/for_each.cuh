#pragma once

/// Elements that do not depend on one another.

#include "runtime/check.cuh"
#include "runtime/gate.cuh"

#include <cstdint>

namespace solver::cuda {

inline constexpr int threads_for_each = 256;

/// element(i) for i < n by a thread each.
template <class Element>
__global__ void __launch_bounds__(threads_for_each) for_each_element(std::int64_t n, Gate gate, Element element) {
    if (!is_open(gate)) return;
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_for_each + threadIdx.x;
    if (i < n) element(i);
}

/// Launches for_each_element; its device must be current. `name` is for messages.
template <class Element>
void launch_for_each(const char* name, std::int64_t n, Stream stream, Gate gate, const Element& element) {
    if (n == 0) return;
    const auto blocks = static_cast<unsigned>((n + threads_for_each - 1) / threads_for_each);
    for_each_element<<<blocks, threads_for_each, 0, stream>>>(n, gate, element);
    check_launch(name);
}

}  // namespace solver::cuda
