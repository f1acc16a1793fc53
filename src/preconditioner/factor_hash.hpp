#pragma once

/// A number that stands for all the bits of factors.

#include "core/hash.hpp"

#include <cstdint>

namespace solver {

/// The hash of two factors, one after the other.
template <class T>
std::uint64_t hash_of(const CsrView<T>& first, const CsrView<T>& second) {
    Hash hash;
    hash.add(first);
    hash.add(second);
    return hash.value();
}

}  // namespace solver
