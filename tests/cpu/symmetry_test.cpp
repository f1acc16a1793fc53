#include "cpu/symmetry.hpp"

#include "solver/csr_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace solver {
namespace {

/// A small matrix, of which it is known which elements are stored.
struct Square {
    explicit Square(std::int32_t n) : size(n), elements(static_cast<std::size_t>(n) * n) {}

    std::optional<double>& at(std::int32_t i, std::int32_t j) { return elements[static_cast<std::size_t>(i) * size + j]; }

    CsrMatrix<double> sparse() {
        std::vector<Entry<double>> entries;
        for (std::int32_t i = 0; i < size; ++i)
            for (std::int32_t j = 0; j < size; ++j)
                if (at(i, j)) entries.push_back({i, j, *at(i, j)});
        return csr_from_entries<double>(size, size, entries);
    }

    bool is_its_transpose() {
        for (std::int32_t i = 0; i < size; ++i)
            for (std::int32_t j = 0; j < size; ++j)
                if (at(i, j) != at(j, i)) return false;
        return true;
    }

    std::int32_t size;
    std::vector<std::optional<double>> elements;
};

bool is_found_symmetric(Square& square) { return cpu::is_symmetric(square.sparse().view(), Device::cpu(1)); }

/// Rows of all lengths; then an element changed, left out or added anywhere.
TEST(Symmetry, IsThatOfTheTransposeWhateverThePattern) {
    std::mt19937_64 random(1);
    const auto below = [&](std::int32_t n) { return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n)); };
    int symmetric = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        Square square(1 + below(12));
        const std::int32_t density = 1 + below(8);
        for (std::int32_t i = 0; i < square.size; ++i)
            for (std::int32_t j = 0; j <= i; ++j)
                if (below(8) < density) square.at(i, j) = square.at(j, i) = below(3) - 1;
        ASSERT_TRUE(is_found_symmetric(square));
        std::optional<double>& element = square.at(below(square.size), below(square.size));
        element = below(2) == 0 ? std::nullopt : std::optional<double>(below(5) - 2);
        ASSERT_EQ(is_found_symmetric(square), square.is_its_transpose());
        symmetric += square.is_its_transpose() ? 1 : 0;
    }
    EXPECT_GT(symmetric, 300);
    EXPECT_LT(symmetric, 2700);
}

/// As on a grid, where every entry is where it is looked for first; and one value that differs in its last bit.
TEST(Symmetry, ComparesValuesToTheBit) {
    constexpr std::int32_t rows = 40000;
    std::vector<Entry<double>> entries;
    for (std::int32_t i = 0; i < rows; ++i)
        for (const std::int32_t j : {i - 200, i - 1, i, i + 1, i + 200})
            if (j >= 0 && j < rows) entries.push_back({i, j, 1.0 / (1 + std::max(i, j))});
    CsrMatrix<double> a = csr_from_entries<double>(rows, rows, entries);
    for (const int threads : {1, 3}) {
        EXPECT_TRUE(cpu::is_symmetric(a.view(), Device::cpu(threads)));
        for (const std::size_t k : {std::size_t{1}, a.values.size() / 2 + 1, a.values.size() - 2}) {
            const double before = a.values[k];
            a.values[k] = std::nextafter(before, 2.0);
            EXPECT_FALSE(cpu::is_symmetric(a.view(), Device::cpu(threads))) << k;
            a.values[k] = before;
        }
    }
}

TEST(Symmetry, HasNoMirrorForANumberThatIsNone) {
    Square square(2);
    square.at(0, 1) = square.at(1, 0) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(is_found_symmetric(square));
}

}  // namespace
}  // namespace solver
