#include "kernels/gemm/residue/integer.hpp"

#include "kernels/runtime/remainder.hpp"
#include "solver/cuda/memory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace solver::cuda {
namespace {

constexpr std::array moduli{256, 255, 253, 251, 247, 241, 239, 233, 229, 227, 223, 217,
                            211, 199, 197, 193, 191, 181, 179, 173, 167, 163, 157};

std::int64_t residue(std::int64_t x, std::int64_t p) { return (x % p + p) % p; }

/// floor((x M + 2^29) / 2^38) rises with x: right at each multiple of p and one below it is right everywhere.
TEST(Remainder, IsRightForAllSums) {
    constexpr std::int64_t largest = 1 << 30;
    for (const int p : moduli) {
        const Remainder remainder(p);
        std::int64_t wrong = 0;
        for (std::int64_t x = -largest / p * p; x <= largest; x += p) {
            wrong += remainder(static_cast<std::int32_t>(x)) != 0;
            if (x > -largest) wrong += remainder(static_cast<std::int32_t>(x - 1)) != static_cast<std::uint32_t>(p - 1);
        }
        wrong += remainder(-largest) != residue(-largest, p);
        wrong += remainder(largest) != residue(largest, p);
        EXPECT_EQ(wrong, 0) << "modulus " << p;
    }
}

using Bytes = std::vector<std::int8_t>;
using Entry = std::function<std::int8_t()>;

std::mt19937& generator() {
    static std::mt19937 bits(20261121);
    return bits;
}
std::int8_t any() { return static_cast<std::int8_t>(generator()()); }
std::int8_t extreme() { return generator()() % 2 == 0 ? -128 : 127; }
std::int8_t least() { return -128; }
std::int8_t greatest() { return 127; }

struct Size {
    std::int64_t rows, columns, inner;
    int count;
};

Bytes matrices(std::int64_t count, std::int64_t rows, std::int64_t inner, const Entry& entry) {
    Bytes bytes(static_cast<std::size_t>(count * rows * inner));
    std::generate(bytes.begin(), bytes.end(), entry);
    return bytes;
}

/// Rows to look at: the edges of tiles and some between, every one of small products.
std::vector<std::int64_t> sample(std::int64_t rows, std::int64_t effort) {
    std::vector<std::int64_t> sampled;
    const std::int64_t step = effort > (1 << 25) ? 61 : 1;
    for (std::int64_t i = 0; i < rows; ++i)
        if (i % step == 0 || i == rows - 1 || (i + 1) % 128 <= 1) sampled.push_back(i);
    return sampled;
}

std::int64_t dot(const std::int8_t* a, const std::int8_t* b, std::int64_t inner) {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < inner; ++k) sum += static_cast<std::int32_t>(a[k]) * b[k];
    return sum;
}

/// How many of the sampled elements are wrong. The first modulus is number `first` of the list, which goes round.
std::int64_t wrong_residues(const Size& size, const Entry& entry_a, const Entry& entry_b, std::size_t first,
                            void (*multiply)(const ResidueProduct&, int, Stream)) {
    const auto [rows, columns, inner, count] = size;
    const Bytes a = matrices(count, rows, inner, entry_a);
    const Bytes b = matrices(count, columns, inner, entry_b);
    std::vector<std::int32_t> chosen;
    for (std::size_t l = 0; l < static_cast<std::size_t>(count); ++l) chosen.push_back(moduli[(first + l) % moduli.size()]);
    const OwnedStream stream(0);
    const DeviceArray<std::int8_t> device_a(0, std::span<const std::int8_t>(a), "test", stream.get());
    const DeviceArray<std::int8_t> device_b(0, std::span<const std::int8_t>(b), "test", stream.get());
    const DeviceArray<std::int32_t> device_moduli(0, std::span<const std::int32_t>(chosen), "test", stream.get());
    std::vector<std::uint8_t> y(static_cast<std::size_t>(count * rows * columns), 0xEE);
    const DeviceArray<std::uint8_t> device_y(0, std::span<const std::uint8_t>(y), "test", stream.get());
    multiply({rows, columns, inner, count, device_a.data(), device_b.data(), device_y.data(), device_moduli.data()}, 0,
             stream.get());
    device_y.copy_to(std::span<std::uint8_t>(y), stream.get());

    std::int64_t wrong = 0;
    const std::int64_t effort = rows * columns * inner;
    for (std::int64_t l = 0; l < count; ++l)
        for (const std::int64_t i : sample(rows, effort))
            for (const std::int64_t j : sample(columns, effort)) {
                const std::int64_t sum = dot(&a[static_cast<std::size_t>((l * rows + i) * inner)],
                                             &b[static_cast<std::size_t>((l * columns + j) * inner)], inner);
                wrong += y[static_cast<std::size_t>((l * rows + i) * columns + j)] !=
                         residue(sum, chosen[static_cast<std::size_t>(l)]);
            }
    return wrong;
}

struct Way {
    const char* name;
    void (*multiply)(const ResidueProduct&, int, Stream);

    friend void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }
};

class CudaResidueProducts : public ::testing::TestWithParam<Way> {
protected:
    void SetUp() override {
        if (device_count() == 0) GTEST_SKIP() << "no CUDA device";
        if (GetParam().multiply == multiply_residues_hopper && !has_hopper_residues(0))
            GTEST_SKIP() << "not a device of compute capability 9.0, or not built for it";
    }

    void expect_right(const Size& size, const Entry& a = any, const Entry& b = any, std::size_t first = 0) {
        EXPECT_EQ(wrong_residues(size, a, b, first, GetParam().multiply), 0)
            << size.rows << " x " << size.columns << " x " << size.inner << ", " << size.count << " moduli";
    }
};

TEST_P(CudaResidueProducts, OneTile) {
    expect_right({128, 256, 128, 1});
    expect_right({128, 256, 128, 20});
}

TEST_P(CudaResidueProducts, OddNumbersOfTilesStagesAndModuli) {
    expect_right({384, 256, 128, 7}, any, any, 3);
    expect_right({128, 768, 384, 5}, any, any, 8);
    expect_right({384, 768, 640, 13}, any, any, 11);
    expect_right({640, 512, 1152, 3}, any, any, 17);
}

TEST_P(CudaResidueProducts, LargestSums) {
    expect_right({128, 256, 65536, 4}, least, least);
    expect_right({128, 256, 65536, 4}, least, greatest, 6);
    expect_right({128, 256, 65536, 4}, greatest, greatest, 13);
    expect_right({256, 256, 4096, 20}, extreme, extreme);
}

/// More products than 32-bit sums hold.
TEST_P(CudaResidueProducts, SumsInParts) {
    expect_right({128, 256, 65536 + 128, 2}, least, least, 3);
    expect_right({128, 256, 131072 + 256, 2}, least, least, 1);
    expect_right({128, 256, 131072 + 256, 2}, least, greatest, 8);
    expect_right({256, 256, 200064, 2}, any, any, 5);
}

TEST_P(CudaResidueProducts, MoreTilesThanMultiprocessors) {
    expect_right({4224, 2304, 256, 3}, any, any, 1);
    expect_right({128, 16384, 128, 5}, any, any, 5);
    expect_right({16512, 256, 128, 2}, any, any, 9);
}

/// As many as Hopper's kernel keeps at hand.
TEST_P(CudaResidueProducts, SixtyFourModuli) { expect_right({128, 256, 128, 64}, any, any, 2); }

TEST_P(CudaResidueProducts, NothingToDo) {
    expect_right({0, 256, 128, 2});
    expect_right({128, 0, 128, 2});
}

INSTANTIATE_TEST_SUITE_P(Ways, CudaResidueProducts,
                         ::testing::Values(Way{"chosen", multiply_residues}, Way{"portable", multiply_residues_portable},
                                           Way{"hopper", multiply_residues_hopper}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace solver::cuda
