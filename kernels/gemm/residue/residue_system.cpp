#include "gemm/residue/residue_system.hpp"

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

/// The product of the first `count` moduli but for those from..from+left_out-1.
Limbs product_without(std::size_t count, std::size_t from, std::size_t left_out) {
    Limbs product{1};
    for (std::size_t l = 0; l < count; ++l)
        if (l < from || l >= from + left_out) product = times(product, moduli[l]);
    return product;
}

ModuliTriple make_triple(std::size_t count, std::size_t first) {
    ModuliTriple triple_of{};
    triple_of.cofactor = product_without(count, first, triple);
    for (std::size_t i = 0; i < triple && first + i < count; ++i) {
        triple_of.within[i] = 1;
        for (std::size_t other = 0; other < triple && first + other < count; ++other)
            if (other != i) triple_of.within[i] *= static_cast<std::uint32_t>(moduli[first + other]);
    }
    return triple_of;
}

ReconstructionTable make_table(int count, double log2_product) {
    ReconstructionTable table{};
    const auto n = static_cast<std::size_t>(count);
    table.count = count;
    table.triples = (count + triple - 1) / triple;
    table.limbs = std::max(2, static_cast<int>((log2_product + std::log2(count)) / 32) + 1);
    table.product = product_without(n, n, 0);
    for (std::size_t t = 0; t < static_cast<std::size_t>(table.triples); ++t) table.triple_of[t] = make_triple(n, triple * t);
    const auto top = static_cast<std::size_t>(table.limbs - 1);
    table.reciprocal_of_top_limbs = 1 / (std::ldexp(table.product[top], 32) + table.product[top - 1] +
                                         (top >= 2 ? std::ldexp(table.product[top - 2], -32) : 0));
    return table;
}

ResidueSystem make_residue_system(int count) {
    ResidueSystem system{};
    system.count = count;
    double log2_product = 0;
    for (std::size_t l = 0; l < static_cast<std::size_t>(count); ++l) {
        const std::int32_t p = moduli[l];
        system.modulus[l] = p;
        system.reciprocal[l] = 1.0F / static_cast<float>(p);
        system.inverse[l] = inverse(remainder(product_without(static_cast<std::size_t>(count), l, 1), p), p);
        log2_product += std::log2(p);
    }
    system.log2_product = log2_product - 1e-9;
    system.table = make_table(count, log2_product);
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
