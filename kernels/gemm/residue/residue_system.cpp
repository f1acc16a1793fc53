#include "gemm/residue/residue_system.hpp"

#include <algorithm>
#include <cmath>

namespace solver::cuda {
namespace {

/// The largest numbers up to 256 that are pairwise coprime.
constexpr std::array<std::int32_t, most_moduli> moduli{256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217,
                                                       211, 199, 197, 193, 191, 181, 179, 173, 167, 163, 157};

/// And those whose prime factors are 1 modulo 4; 221 = 13 17, 205 = 5 41.
constexpr std::array<std::int32_t, most_gaussian_moduli> gaussian_moduli{241, 233, 229, 221, 205, 197, 193, 181, 173, 157, 149,
                                                                         137, 113, 109, 101, 97,  89,  73,  61,  53,  37,  29};

using Moduli = std::span<const std::int32_t>;

/// The first `count` of a ring.
Moduli first_moduli(int count, Ring ring) {
    return (ring == Ring::gaussian ? Moduli(gaussian_moduli) : Moduli(moduli)).first(static_cast<std::size_t>(count));
}

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

std::int32_t root_of_minus_one(std::int32_t p) {
    for (std::int32_t x = 1; x < p; ++x)
        if ((x * x + 1) % p == 0) return x;
    return 0;
}

/// The residue of `value` in [-128, 127].
std::uint8_t centred(std::int32_t value, std::int32_t p) {
    const std::int32_t residue = (value % p + p) % p;
    return static_cast<std::uint8_t>(2 * residue >= p ? residue - p : residue);
}

/// The product of the moduli but for those from..from+left_out-1.
Limbs product_without(Moduli of, std::size_t from, std::size_t left_out) {
    Limbs product{1};
    for (std::size_t l = 0; l < of.size(); ++l)
        if (l < from || l >= from + left_out) product = times(product, of[l]);
    return product;
}

ModuliTriple make_triple(Moduli of, std::size_t first) {
    ModuliTriple triple_of{};
    triple_of.cofactor = product_without(of, first, triple);
    for (std::size_t i = 0; i < triple && first + i < of.size(); ++i) {
        triple_of.within[i] = 1;
        for (std::size_t other = 0; other < triple && first + other < of.size(); ++other)
            if (other != i) triple_of.within[i] *= static_cast<std::uint32_t>(of[first + other]);
    }
    return triple_of;
}

ReconstructionTable make_table(Moduli of, double log2_product) {
    ReconstructionTable table{};
    const auto count = static_cast<int>(of.size());
    table.count = count;
    table.triples = (count + triple - 1) / triple;
    table.limbs = std::max(2, static_cast<int>((log2_product + std::log2(count)) / 32) + 1);
    table.product = product_without(of, of.size(), 0);
    for (std::size_t t = 0; t < static_cast<std::size_t>(table.triples); ++t) table.triple_of[t] = make_triple(of, triple * t);
    const auto top = static_cast<std::size_t>(table.limbs - 1);
    table.reciprocal_of_top_limbs = 1 / (std::ldexp(table.product[top], 32) + table.product[top - 1] +
                                         (top >= 2 ? std::ldexp(table.product[top - 2], -32) : 0));
    return table;
}

ResidueSystem make_residue_system(int count, Ring ring) {
    const Moduli of = first_moduli(count, ring);
    ResidueSystem system{};
    system.count = count;
    double log2_product = 0;
    for (std::size_t l = 0; l < of.size(); ++l) {
        const std::int32_t p = of[l];
        const std::int32_t others = remainder(product_without(of, l, 1), p);
        system.modulus[l] = p;
        system.reciprocal[l] = 1.0F / static_cast<float>(p);
        system.inverse[l] = inverse(products_of(ring) * others % p, p);
        system.root[l] = ring == Ring::gaussian ? root_of_minus_one(p) : 0;
        log2_product += std::log2(p);
    }
    system.log2_product = log2_product - 1e-9;
    system.table = make_table(of, log2_product);
    return system;
}

using Systems = std::array<ResidueSystem, most_moduli + 1>;

Systems make_all(Ring ring) {
    Systems systems{};
    for (int n = least_moduli; n <= most_moduli_of(ring); ++n)
        systems[static_cast<std::size_t>(n)] = make_residue_system(n, ring);
    return systems;
}

/// The largest multiple of p up to 256.
constexpr std::int32_t byte_multiple(std::int32_t p) { return 256 / p * p; }

}  // namespace

const ResidueSystem& residue_system(int count, Ring ring) {
    static const Systems of_integers = make_all(Ring::integers), of_gaussians = make_all(Ring::gaussian);
    return (ring == Ring::gaussian ? of_gaussians : of_integers)[static_cast<std::size_t>(count)];
}

std::span<const std::int32_t> product_moduli(Ring ring) {
    static const auto twice = [] {
        std::array<std::int32_t, 2 * most_gaussian_moduli> all{};
        for (std::size_t l = 0; l < all.size(); ++l) all[l] = byte_multiple(gaussian_moduli[l / 2]);
        return all;
    }();
    return ring == Ring::gaussian ? Moduli(twice) : Moduli(moduli);
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
