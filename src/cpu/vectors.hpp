#pragma once

/// Updates of vectors in the memory of the host; kernels/vectors.hpp has those on a device, which round as they do.

#include "core/krylov/updates.hpp"
#include "cpu/elementwise.hpp"
#include "solver/device.hpp"
#include "solver/numeric/rounding.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace solver::cpu {

/// out = a out
template <class T>
void scale(T a, std::span<T> out, const Device& device) {
    update(out, device, [=](T element, std::int64_t) { return mul_rn(a, element); });
}

/// out = out + a x
template <class T>
void add_scaled(T a, std::span<const T> x, std::span<T> out, const Device& device) {
    update(out, device, [=](T element, std::int64_t i) { return added(element, a, x[static_cast<std::size_t>(i)]); });
}

/// out = x + a out
template <class T>
void scale_and_add(T a, std::span<const T> x, std::span<T> out, const Device& device) {
    update(out, device, [=](T element, std::int64_t i) { return added(x[static_cast<std::size_t>(i)], a, element); });
}

}  // namespace solver::cpu
