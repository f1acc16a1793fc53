#pragma once

/// Numbers modulo several coprime 8-bit moduli, and the way back by the Chinese remainder theorem.
///
/// An integer c with |c| < P / 2, P = p_0 p_1 ... p_{N-1}, is known by its residues. With W_l = P / p_l and
/// y_l = c W_l^-1 mod p_l in 0..p_l-1, c = sum_l y_l W_l - q P for one whole number q, 0 <= q <= N.
///
/// Where all prime factors of p are 1 modulo 4, there is a number r with r^2 = -1 modulo p, and a Gaussian integer x + i y is
/// known by the two residues x + r y and x - r y. Those of a product are the products of those of its factors: two
/// multiplications for each p, where four or three real products are made otherwise (Caday, arXiv 2609.05419).

#include <array>
#include <cstdint>
#include <span>

namespace solver::cuda {

inline constexpr int most_moduli = 23;
inline constexpr int most_gaussian_moduli = 22;
inline constexpr int least_moduli = 3;
inline constexpr int most_limbs = 6;           ///< of 32 bits: N P < 2^181 for 23 moduli
inline constexpr int most_affine_moduli = 20;  ///< for alpha c + beta y: three doubles hold the 153 bits of c then
inline constexpr int most_affine_limbs = 5;
inline constexpr int triple = 3;  ///< moduli whose residues are put together first: their product is below 2^24
inline constexpr int most_triples = (most_moduli + triple - 1) / triple;
inline constexpr int most_words = 3;  ///< of four bytes each, for a scaled integer

/// What is multiplied.
enum class Ring { integers, gaussian };

/// The most moduli, and the most for alpha c + beta y.
constexpr int most_moduli_of(Ring ring) { return ring == Ring::gaussian ? most_gaussian_moduli : most_moduli; }
constexpr int most_affine_moduli_of(Ring ring) { return ring == Ring::gaussian ? most_gaussian_moduli : most_affine_moduli; }
/// Products of matrices modulo each p.
constexpr int products_of(Ring ring) { return ring == Ring::gaussian ? 2 : 1; }

/// Integers come in w words: 4 w - 1 bytes in two's complement, and a last one that is 1 where the number is negative. Their
/// residue is a scalar product of these bytes with the residues of 256^0, ..., 256^(4 w - 2) and -256^(4 w - 1).
struct ByteWeights {
    std::array<std::uint32_t, most_words> of_bytes;  ///< four in a word, each in [-128, 127]
};

/// For three moduli p, q, r and their residues x, y, z: x P / p + y P / q + z P / r = (x q r + y p r + z p q) P / (p q r).
struct ModuliTriple {
    std::array<std::uint32_t, triple> within;        ///< q r, p r, p q; 0 where there is no such modulus
    std::array<std::uint32_t, most_limbs> cofactor;  ///< P / (p q r), least limb first
};

/// What leads from residues to the integer.
struct ReconstructionTable {
    int count;    ///< N
    int triples;  ///< ceil(N / 3)
    int limbs;    ///< enough for N P
    std::array<ModuliTriple, most_triples> triple_of;
    std::array<std::uint32_t, most_limbs> product;  ///< P
    double reciprocal_of_top_limbs;                 ///< of P / 2^(32 (limbs - 2))
};

struct ResidueSystem {
    int count;  ///< N
    std::array<std::int32_t, most_moduli> modulus;
    std::array<float, most_moduli> reciprocal;      ///< RN(1 / p_l)
    std::array<std::int32_t, most_moduli> inverse;  ///< W_l^-1 mod p_l; of Gaussian integers (2 W_l)^-1
    std::array<std::int32_t, most_moduli> root;     ///< of -1 modulo p_l, of Gaussian integers; else 0
    double log2_product;                            ///< of P, not above it
    ReconstructionTable table;
};

/// The system of `count` moduli, least_moduli..most_moduli_of(ring).
const ResidueSystem& residue_system(int count, Ring ring);

/// The moduli by which the products of matrices are reduced, products_of(ring) for each p: multiples of p, 129..256.
std::span<const std::int32_t> product_moduli(Ring ring);

/// For the residues of factor a modulo p, of integers in that many words.
ByteWeights byte_weights(std::int32_t factor, std::int32_t p, int words);

}  // namespace solver::cuda
