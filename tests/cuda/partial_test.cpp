#include "solver/cuda/partial.hpp"

#include "solver/error.hpp"
#include "solver/reduce.hpp"

#include <gtest/gtest.h>

#include "solver/cuda/memory.hpp"
#include "solver/cuda/reduce.hpp"
#include "support/adversarial.hpp"
#include "support/expected.hpp"

namespace solver {
namespace {

using testing::Random;
using testing::same_bits;
using Span = std::span<const double>;
using Partial = PartialSum<double>;

class CudaPartial : public ::testing::Test {
protected:
    void SetUp() override {
        if (cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
        reducer_.emplace(0);
    }

    /// The device's shares of (a, a), (a, b), (b, b), (b, a), the first `count` of them.
    std::vector<Partial> shares(int count, Span a, Span b) {
        const cuda::DeviceArray<double> x(0, a, "test"), y(0, b, "test");
        const cuda::Factors<double> of[] = {
            {x.data(), x.data()}, {x.data(), y.data()}, {y.data(), y.data()}, {y.data(), x.data()}};
        const cuda::DeviceArray<Partial> results(0, 4, "test");
        reducer_->dots(x.size(), std::span(of).first(static_cast<std::size_t>(count)), results.data());
        std::vector<Partial> found(static_cast<std::size_t>(count));
        results.copy_to(found);
        return found;
    }

    std::optional<cuda::PartialReducer> reducer_;
};

std::vector<double> negated(Span x) {
    std::vector<double> result(x.begin(), x.end());
    for (double& element : result) element = -element;
    return result;
}

/// Whether the share is certified, and if so that it is rounded as the host rounds.
bool is_certified(const Partial& share, double expected) {
    double found = 0;
    if (!share.try_result(found)) return false;
    EXPECT_PRED2(same_bits<double>, found, expected);
    return true;
}

// Promise: cuda/partial.hpp, "results[k], in memory that the device can write"
// Promise: cuda/partial.hpp, "The terms of its filter differ"
TEST_F(CudaPartial, RoundsToTheBitsOfTheHost) {
    Random random(1);
    int certified = 0;
    int all = 0;
    for (const auto& made : testing::adversarial_classes<double>()) {
        for (const std::size_t n : {8, 100, 5000, 100'000}) {
            const auto terms = made.make(random, n);
            for (int count = 1; count <= 4; ++count) {
                const auto found = shares(count, terms.a, terms.b);
                const Span pairs[][2] = {{terms.a, terms.a}, {terms.a, terms.b}, {terms.b, terms.b}, {terms.b, terms.a}};
                for (int q = 0; q < count; ++q, ++all)
                    certified +=
                        is_certified(found[static_cast<std::size_t>(q)], dot(pairs[q][0], pairs[q][1], Accuracy::exact));
            }
        }
    }
    EXPECT_GT(certified, all / 4);
}

// Promise: cuda/partial.hpp, "results[k], in memory that the device can write"
TEST_F(CudaPartial, MergesWithTheHostsShares) {
    Random random(2);
    int certified = 0;
    for (int trial = 0; trial < 50; ++trial) {
        const auto n = static_cast<std::size_t>(random.between(1, 20000));
        const auto cut = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(n)));
        std::vector<double> x(n), y(n);
        for (auto* v : {&x, &y})
            for (double& element : *v) element = random.number<double>(static_cast<int>(random.between(-30, 30)));
        Partial whole = shares(2, Span(x).first(cut), Span(y).first(cut))[1];
        whole.merge(partial_dot(Span(x).subspan(cut), Span(y).subspan(cut)));
        certified += is_certified(whole, dot(Span(x), Span(y), Accuracy::exact));
    }
    EXPECT_EQ(certified, 50);
}

/// Of a device's exact sum, as the plugin for PETSc makes them where no bound proves the rounding.
SumDigits digits_on_device(Span a, Span b, bool& is_exact) {
    const cuda::DeviceArray<double> x(0, a, "test"), y(0, b, "test");
    const cuda::DeviceArray<Expansion<double>> result(0, 1, "test");
    cuda::Reducer(0).expand(cuda::Reduction::dot, x.size(), x.data(), y.data(), result.data());
    Expansion<double> expansion;
    result.copy_to({&expansion, 1});
    is_exact = expansion.is_exact;
    Superaccumulator sum;
    for (const double component : expansion.components()) sum.add(component);
    return SumDigits(sum);
}

TEST_F(CudaPartial, ExpandsToTheDigitsOfTheHost) {
    Random random(3);
    int exact = 0;
    int all = 0;
    for (const auto& made : testing::adversarial_classes<double>()) {
        for (const std::size_t n : {1, 8, 100, 5000, 100'000}) {
            SCOPED_TRACE(::testing::Message() << made.name << ", about " << n);
            const auto terms = made.make(random, n);
            const Span a(terms.a), b(terms.b);
            bool is_exact = false;
            SumDigits found = digits_on_device(a, b, is_exact);
            exact += is_exact;
            ++all;
            if (!is_exact) continue;
            EXPECT_EQ(found.word, dot_digits(a, b).word);
            // the device's share, and the host's of the same with the factors exchanged and one sign turned: an exact zero
            found.merge(dot_digits(Span(negated(b)), a));
            EXPECT_PRED2(same_bits<double>, found.result<double>(), 0.0);
        }
    }
    EXPECT_GT(exact, all / 2);
}

// Promise: cuda/partial.hpp, "Throws InvalidArgument for more than most_dots."
// Promise: partial.hpp, "The functions below take vectors in the memory of the host"
TEST_F(CudaPartial, IsAskedForByItsOwnFunctions) {
    const std::vector<double> x{1};
    const Span one(x);
    EXPECT_THROW(partial_sum(one, Device::cuda()), NotSupported);
    EXPECT_THROW(sum_digits(one, Device::cuda()), NotSupported);
    EXPECT_THROW(partial_dot(one, one, Device::cuda()), NotSupported);
    EXPECT_THROW(dot_digits(one, one, Device::cuda()), NotSupported);
    EXPECT_THROW(partial_dots(one, {}, Device::cuda()), NotSupported);
}

TEST_F(CudaPartial, RefusesMoreThanOnePassTakes) {
    const std::vector<cuda::Factors<double>> of(cuda::PartialReducer::most_dots + 1);
    EXPECT_THROW(reducer_->dots(0, of, nullptr), InvalidArgument);
}

}  // namespace
}  // namespace solver
