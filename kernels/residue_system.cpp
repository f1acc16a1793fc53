#include "residue_system.hpp"

#include <algorithm>
#include <cmath>

namespace solver::cuda {
namespace {

/// The largest numbers up to 256 that are pairwise coprime.
constexpr std::array<std::int32_t, most_moduli> moduli{256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217,
                                                       211, 199, 197, 193, 191, 181, 179, 173, 167, 163, 157};

using Limbs = std::array<std::uint32_t, most_limbs>;

Limbs times(const Limbs& a, std::int32_t factor) {
    Limbs result{};
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < most_limbs; ++j) {
        carry += std::uint64_t{a[j]} * static_cast<std::uint32_t>(factor);
        result[j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
    }
    return result;
}

std::int32_t remainder(const Limbs& a, std::int32_t p) {
    std::uint64_t rest = 0;
    for (std::size_t j = most_limbs; j-- > 0;) rest = ((rest << 32) + a[j]) % static_cast<std::uint32_t>(p);
    return static_cast<std::int32_t>(rest);
}

std::int32_t inverse(std::int32_t a, std::int32_t p) {
    for (std::int32_t x = 1; x < p; ++x)
        if (a * x % p == 1) return x;
    return 1;
}

/// The residue of `value` in [-128, 127].
std::uint8_t centred(std::int32_t value, std::int32_t p) {
    const std::int32_t residue = (value % p + p) % p;
    return static_cast<std::uint8_t>(2 * residue >= p ? residue - p : residue);
}

ResidueSystem make_residue_system(int count) {
    ResidueSystem system{};
    system.count = count;
    system.product = {1};
    double log2_product = 0;
    const auto n = static_cast<std::size_t>(count);
    for (std::size_t l = 0; l < n; ++l) {
        system.product = times(system.product, moduli[l]);
        log2_product += std::log2(moduli[l]);
    }
    system.log2_product = log2_product - 1e-9;
    system.limbs = std::max(2, static_cast<int>((log2_product + std::log2(count)) / 32) + 1);
    for (std::size_t l = 0; l < n; ++l) {
        const std::int32_t p = moduli[l];
        Limbs cofactor{1};
        for (std::size_t other = 0; other < n; ++other)
            if (other != l) cofactor = times(cofactor, moduli[other]);
        system.modulus[l] = p;
        system.reciprocal[l] = 1.0F / static_cast<float>(p);
        system.cofactor[l] = cofactor;
        system.inverse[l] = inverse(remainder(cofactor, p), p);
    }
    const auto top = static_cast<std::size_t>(system.limbs - 1);
    system.product_in_top_limbs = std::ldexp(system.product[top], 32) + system.product[top - 1] +
                                  (top >= 2 ? std::ldexp(system.product[top - 2], -32) : 0);
    return system;
}

}  // namespace

const ResidueSystem& residue_system(int count) {
    static const auto all = [] {
        std::array<ResidueSystem, most_moduli + 1> systems{};
        for (int n = least_moduli; n <= most_moduli; ++n) systems[static_cast<std::size_t>(n)] = make_residue_system(n);
        return systems;
    }();
    return all[static_cast<std::size_t>(count)];
}

ByteWeights byte_weights(std::int32_t factor, std::int32_t p, int words) {
    const int sign_byte = 4 * words - 1;
    ByteWeights weights{};
    std::int32_t power = factor % p;
    for (int byte = 0; byte <= sign_byte; ++byte) {
        const std::uint32_t weight = centred(byte == sign_byte ? -power : power, p);
        weights.of_bytes[static_cast<std::size_t>(byte / 4)] |= weight << (8 * (byte % 4));
        power = power * 256 % p;
    }
    return weights;
}

}  // namespace solver::cuda
