#include "kernels/gemm/residue/residue_system.hpp"

#include <gmp.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace solver::cuda {
namespace {

class Integer {
public:
    Integer() { mpz_init(value_); }
    explicit Integer(long value) { mpz_init_set_si(value_, value); }
    Integer(const Integer& other) { mpz_init_set(value_, other.value_); }
    Integer& operator=(const Integer& other) {
        mpz_set(value_, other.value_);
        return *this;
    }
    ~Integer() { mpz_clear(value_); }

    template <std::size_t n>
    static Integer of_limbs(const std::array<std::uint32_t, n>& limbs) {
        Integer x;
        mpz_import(x.value_, n, -1, sizeof(std::uint32_t), 0, 0, limbs.data());
        return x;
    }
    Integer operator*(const Integer& other) const {
        Integer x;
        mpz_mul(x.value_, value_, other.value_);
        return x;
    }
    Integer operator+(const Integer& other) const {
        Integer x;
        mpz_add(x.value_, value_, other.value_);
        return x;
    }
    bool operator==(const Integer& other) const { return mpz_cmp(value_, other.value_) == 0; }
    long modulo(long p) const { return static_cast<long>(mpz_fdiv_ui(value_, static_cast<unsigned long>(p))); }
    Integer modulo(const Integer& p) const {
        Integer x;
        mpz_fdiv_r(x.value_, value_, p.value_);
        return x;
    }
    double log2() const {
        long exponent = 0;
        const double fraction = mpz_get_d_2exp(&exponent, value_);
        return std::log2(fraction) + static_cast<double>(exponent);
    }

private:
    mpz_t value_;
};

class ResidueSystemOf : public ::testing::TestWithParam<Ring> {};
INSTANTIATE_TEST_SUITE_P(Rings, ResidueSystemOf, ::testing::Values(Ring::integers, Ring::gaussian));

TEST_P(ResidueSystemOf, HasCoprimeModuliAndTheirProduct) {
    for (int n = least_moduli; n <= most_moduli_of(GetParam()); ++n) {
        const ResidueSystem& system = residue_system(n, GetParam());
        ASSERT_EQ(system.count, n);
        Integer product(1);
        for (std::size_t l = 0; l < static_cast<std::size_t>(n); ++l) {
            EXPECT_LE(system.modulus[l], 256);
            EXPECT_EQ(system.reciprocal[l], 1.0F / static_cast<float>(system.modulus[l]));
            for (std::size_t other = 0; other < l; ++other) EXPECT_EQ(std::gcd(system.modulus[l], system.modulus[other]), 1);
            product = product * Integer(system.modulus[l]);
        }
        EXPECT_EQ(Integer::of_limbs(system.table.product), product);
        EXPECT_LE(system.log2_product, product.log2());
        EXPECT_NEAR(system.log2_product, product.log2(), 1e-6);
        EXPECT_LT(product.log2() + std::log2(n), 32 * system.table.limbs) << "sums of " << n << " residues do not fit";
        EXPECT_LE(system.table.limbs, n <= most_affine_moduli_of(GetParam()) ? most_affine_limbs : most_limbs);
        const double top = std::exp2(product.log2() - 32 * (system.table.limbs - 2));
        EXPECT_NEAR(system.table.reciprocal_of_top_limbs * top, 1, 1e-12);
    }
}

TEST_P(ResidueSystemOf, FindsIntegersAgain) {
    std::mt19937_64 random(1);
    for (int n = least_moduli; n <= most_moduli_of(GetParam()); ++n) {
        const ResidueSystem& system = residue_system(n, GetParam());
        const Integer product = Integer::of_limbs(system.table.product);
        for (int repetition = 0; repetition < 20; ++repetition) {
            Integer c(1);
            for (int i = 0; i < 4; ++i)
                c = c * Integer(static_cast<long>(random() >> 2)) + Integer(static_cast<long>(random() % 1000));
            c = c.modulo(product);
            Integer sum(0);
            for (std::size_t l = 0; l < static_cast<std::size_t>(n); ++l) {
                const long y = c.modulo(system.modulus[l]) * products_of(GetParam()) * system.inverse[l] % system.modulus[l];
                const ModuliTriple& of = system.table.triple_of[l / triple];
                sum = sum + Integer::of_limbs(of.cofactor) * Integer(y * static_cast<long>(of.within[l % triple]));
            }
            EXPECT_EQ(sum.modulo(product), c);
        }
    }
}

TEST(GaussianSystem, HasRootsOfMinusOne) {
    const ResidueSystem& system = residue_system(most_gaussian_moduli, Ring::gaussian);
    for (std::size_t l = 0; l < most_gaussian_moduli; ++l)
        EXPECT_EQ((system.root[l] * system.root[l] + 1) % system.modulus[l], 0) << system.modulus[l];
}

/// What the kernels' remainders ask of them.
TEST(ProductModuli, AreMultiplesThatNearlyFillAByte) {
    for (const Ring ring : {Ring::integers, Ring::gaussian}) {
        const auto all = product_moduli(ring);
        const ResidueSystem& system = residue_system(most_moduli_of(ring), ring);
        const auto each = static_cast<std::size_t>(products_of(ring));
        ASSERT_EQ(all.size(), each * static_cast<std::size_t>(system.count));
        for (std::size_t i = 0; i < all.size(); ++i) {
            EXPECT_EQ(all[i] % system.modulus[i / each], 0);
            EXPECT_GE(all[i], 129);
            EXPECT_LE(all[i], 256);
        }
    }
}

/// The scalar product of bytes and weights has the residue of factor times the integer.
TEST(ByteWeights, GiveTheResidueOfAnInteger) {
    std::mt19937_64 random(2);
    for (int words = 1; words <= most_words; ++words)
        for (const std::int32_t p : {256, 255, 253, 173, 157, 37, 29})
            for (const std::int32_t factor : {1, 7, p - 1}) {
                const ByteWeights weights = byte_weights(factor, p, words);
                for (int repetition = 0; repetition < 50; ++repetition) {
                    Integer integer(0), place(1);
                    long sum = 0;
                    for (int byte = 0; byte < 4 * words; ++byte) {
                        const bool is_sign = byte == 4 * words - 1;
                        const long digit = static_cast<long>(is_sign ? random() % 2 : random() % 256);
                        const auto word = weights.of_bytes[static_cast<std::size_t>(byte / 4)];
                        sum += digit * static_cast<std::int8_t>(word >> (8 * (byte % 4)));
                        integer = integer + place * Integer(is_sign ? -digit : digit);
                        place = place * Integer(256);
                    }
                    EXPECT_EQ(Integer(sum).modulo(p), (integer * Integer(factor)).modulo(p));
                }
            }
}

}  // namespace
}  // namespace solver::cuda
