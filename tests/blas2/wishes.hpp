#pragma once

/// Which vectors x a matrix is multiplied by.

#include <cstdint>
#include <string>

namespace solver::blas2 {

enum class VectorKind { ones, random, ill_conditioned };

struct VectorWish {
    VectorKind kind = VectorKind::random;
    std::uint64_t seed = 1;  ///< random alone

    bool operator==(const VectorWish&) const = default;

    std::string name() const {
        if (kind == VectorKind::ones) return "ones";
        return kind == VectorKind::random ? "random:" + std::to_string(seed) : "ill-conditioned";
    }
};

}  // namespace solver::blas2
