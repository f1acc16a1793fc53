#include "preconditioner/prepared.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace solver {
namespace {

/// z_k = factor_k r_k of a diagonal M^-1, whose place in the order can be told.
template <class T>
class Multiply final : public Preconditioner<T> {
public:
    Multiply(std::size_t n, std::uint64_t hash) : n_(n), hash_(hash) {}
    void apply(std::span<const T> r, std::span<T> z, Accuracy) const override {
        for (std::size_t k = 0; k < n_; ++k) z[k] = r[k] * static_cast<T>(k + 1);
    }
    std::int64_t factor_entries() const override { return 7; }
    std::uint64_t factor_hash() const override { return hash_; }

private:
    std::size_t n_;
    std::uint64_t hash_;
};

Preparation example() {
    Preparation p;
    p.row_exponents = {3, -2, 0};
    p.column_exponents = {1, 5, -4};
    p.row_order = {2, 0, 1};
    p.column_order = {1, 2, 0};
    p.structural_rank = 3;
    return p;
}

template <class T>
std::unique_ptr<Prepared<T>> make(const Preparation& p, std::uint64_t hash = 9) {
    return std::make_unique<Prepared<T>>("test", p, std::make_unique<Multiply<T>>(p.row_order.size(), hash), Device::cpu(2));
}

template <class T>
class PreparedPreconditioner : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PreparedPreconditioner, ValueTypes);

TYPED_TEST(PreparedPreconditioner, ScalesAndPermutesAroundTheInnerOne) {
    using T = TypeParam;
    const std::vector<T> r{T(0.1), T(0.7), T(0.3)};
    std::vector<T> z(3);
    make<T>(example())->apply(r, z, Accuracy::exact);
    EXPECT_EQ(z[1], r[2] * 1 * 32);              // row 2 to column 1, first
    EXPECT_EQ(z[2], T(r[0] * 8) * 2 / 16);       // row 0 to column 2, second
    EXPECT_EQ(z[0], T(T(r[1] / 4) * T(3)) * 2);  // row 1 to column 0, third
}

TYPED_TEST(PreparedPreconditioner, HoldsScalesAtTheEndsOfTheRange) {
    using T = TypeParam;
    const std::int32_t largest = 1 - std::numeric_limits<T>::min_exponent;
    Preparation p = example();
    p.row_exponents = {largest, -largest, 0};
    p.column_exponents = {-largest, 0, 0};
    const std::vector<T> r{std::ldexp(T(1), -largest), std::ldexp(T(1), largest), 1};
    std::vector<T> z(3);
    make<T>(p)->apply(r, z, Accuracy::exact);
    EXPECT_EQ(z[2], 2);
    EXPECT_EQ(z[0], std::ldexp(T(3), -largest));
}

TYPED_TEST(PreparedPreconditioner, MayBeUsedBySeveralThreadsAtOnce) {
    using T = TypeParam;
    const std::size_t n = 50000;
    std::mt19937_64 random(1);
    Preparation p;
    for (std::size_t k = 0; k < n; ++k) {
        p.row_exponents.push_back(static_cast<int>(random() % 9) - 4);
        p.column_exponents.push_back(static_cast<int>(random() % 9) - 4);
        p.row_order.push_back(static_cast<std::int32_t>(k));
        p.column_order.push_back(static_cast<std::int32_t>(n - 1 - k));
    }
    std::shuffle(p.row_order.begin(), p.row_order.end(), random);
    const auto m = make<T>(p);
    std::vector<std::vector<T>> r(4, std::vector<T>(n)), expected(r), z(r);
    for (std::size_t t = 0; t < r.size(); ++t) {
        for (T& x : r[t]) x = static_cast<T>(random() % 1000);
        m->apply(r[t], expected[t], Accuracy::fast);
    }
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < r.size(); ++t)
        threads.emplace_back([&, t] {
            for (int repeat = 0; repeat < 20; ++repeat) m->apply(r[t], z[t], Accuracy::fast);
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(z, expected);
}

// Promise: preconditioner.hpp, "Depends on every bit of the factors"
TYPED_TEST(PreparedPreconditioner, HashesWhatStandsAroundTheFactors) {
    using T = TypeParam;
    const auto m = make<T>(example());
    EXPECT_EQ(m->factor_entries(), 7);
    EXPECT_EQ(m->factor_hash(), make<T>(example())->factor_hash());
    EXPECT_NE(m->factor_hash(), make<T>(example(), 8)->factor_hash());
    Preparation p = example();
    ++p.row_exponents[1];
    EXPECT_NE(m->factor_hash(), make<T>(p)->factor_hash());
    p = example();
    std::swap(p.column_order[0], p.column_order[1]);
    EXPECT_NE(m->factor_hash(), make<T>(p)->factor_hash());
}

TYPED_TEST(PreparedPreconditioner, ChecksLengths) {
    using T = TypeParam;
    std::vector<T> three(3), two(2);
    EXPECT_THROW(make<T>(example())->apply(three, two, Accuracy::fast), DimensionMismatch);
    EXPECT_THROW(make<T>(example())->apply(two, three, Accuracy::fast), DimensionMismatch);
}

}  // namespace
}  // namespace solver
