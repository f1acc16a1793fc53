#include "solver/reduce.hpp"

#include "solver/cuda.hpp"

#include <gtest/gtest.h>

#include "support/adversarial.hpp"
#include "support/expected.hpp"

namespace solver {
namespace {

using testing::Random;
using testing::Terms;

template <class T>
class CudaReduce : public ::testing::Test {
protected:
    void SetUp() override {
        if (cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
        reducer_.emplace(0);
    }

    /// By the device, x and y shifted by these numbers of elements.
    T reduced(cuda::Reduction reduction, std::span<const T> x, std::span<const T> y, Accuracy accuracy, int shift_x = 0,
              int shift_y = 0) {
        const auto n = static_cast<std::int64_t>(x.size());
        const cuda::DeviceArray<T> on_device_x = shifted(x, shift_x);
        const cuda::DeviceArray<T> on_device_y = shifted(y, shift_y);
        const cuda::DeviceArray<T> result(0, 1, "test");
        reducer_->reduce(reduction, n, on_device_x.data() + shift_x,
                         reduction == cuda::Reduction::dot ? on_device_y.data() + shift_y : nullptr, accuracy, result.data());
        T found;
        result.copy_to(std::span(&found, 1));
        return found;
    }

    void expect_exact(std::span<const T> x, std::span<const T> y) {
        for (int shift = 0; shift < 2; ++shift) {
            EXPECT_PRED2(testing::same_bits<T>, reduced(cuda::Reduction::sum, x, y, Accuracy::exact, shift),
                         sum(x, Accuracy::exact));
            EXPECT_PRED2(testing::same_bits<T>, reduced(cuda::Reduction::dot, x, y, Accuracy::exact, shift, 1),
                         dot(x, y, Accuracy::exact));
            EXPECT_PRED2(testing::same_bits<T>, reduced(cuda::Reduction::norm2, x, y, Accuracy::exact, shift),
                         norm2(x, Accuracy::exact));
        }
    }

    Expansion<T> expanded(cuda::Reduction reduction, std::span<const T> x, std::span<const T> y, int shift_x, int shift_y) {
        const cuda::DeviceArray<T> on_device_x = shifted(x, shift_x);
        const cuda::DeviceArray<T> on_device_y = shifted(y, shift_y);
        const cuda::DeviceArray<Expansion<T>> result(0, 1, "test");
        reducer_->expand(reduction, static_cast<std::int64_t>(x.size()), on_device_x.data() + shift_x,
                         on_device_y.data() + shift_y, result.data());
        Expansion<T> found;
        result.copy_to(std::span(&found, 1));
        return found;
    }

    /// `count` products of (a, a), (a, b), (b, b), (b, a), (a, a), ..., a and b shifted by so many elements.
    std::vector<T> several(int count, std::span<const T> a, std::span<const T> b, Accuracy accuracy, int shift_a, int shift_b) {
        const cuda::DeviceArray<T> on_device_a = shifted(a, shift_a);
        const cuda::DeviceArray<T> on_device_b = shifted(b, shift_b);
        const T* x = on_device_a.data() + shift_a;
        const T* y = on_device_b.data() + shift_b;
        const cuda::Factors<T> kinds[] = {{x, x}, {x, y}, {y, y}, {y, x}};
        std::vector<cuda::Factors<T>> of;
        for (int q = 0; q < count; ++q) of.push_back(kinds[q % 4]);
        const cuda::DeviceArray<T> results(0, std::max(count, 1), "test");
        reducer_->dots(static_cast<std::int64_t>(a.size()), std::span<const cuda::Factors<T>>(of), accuracy, results.data());
        std::vector<T> found(static_cast<std::size_t>(count));
        results.copy_to(found);
        return found;
    }

    cuda::Reducer& reducer() { return *reducer_; }

private:
    static cuda::DeviceArray<T> shifted(std::span<const T> values, int shift) {
        std::vector<T> host(values.size() + static_cast<std::size_t>(shift));
        std::copy(values.begin(), values.end(), host.begin() + shift);
        return cuda::DeviceArray<T>(0, std::span<const T>(host), "test");
    }

    std::optional<cuda::Reducer> reducer_;
};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaReduce, ValueTypes);

// Promise: cuda/reduce.hpp, "Sums, dot products and norms; the promises are"
// Promise: cuda/runtime.hpp, "Cannot be seen in a bit of exact."
TYPED_TEST(CudaReduce, GivesTheBitsOfTheCpuForAdversarialTerms) {
    using T = TypeParam;
    Random random(1);
    for (const auto& made : testing::adversarial_classes<T>())
        for (const std::int64_t n : {8, 9, 31, 100, 1000, 5000, 30'000, 300'000}) {
            SCOPED_TRACE(::testing::Message() << made.name << ", about " << n);
            for (int trial = 0; trial < (n < 5000 ? 4 : 1); ++trial) {
                const Terms<T> terms = made.make(random, static_cast<std::size_t>(n));
                this->expect_exact(terms.a, terms.b);
            }
        }
}

// Promise: cuda/reduce.hpp, "*result = sum_i x_i, sum_i x_i y_i or sqrt"
TYPED_TEST(CudaReduce, GivesTheBitsOfTheCpuForAnyLength) {
    using T = TypeParam;
    Random random(2);
    for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 255, 256, 257, 4095, 4097, 1'000'003, 9'000'001}) {
        SCOPED_TRACE(n);
        std::vector<T> x, y;
        for (std::int64_t i = 0; i < n; ++i) {
            x.push_back(random.number<T>(static_cast<int>(random.between(-9, 9))));
            y.push_back(random.number<T>(static_cast<int>(random.between(-9, 9))));
        }
        this->expect_exact(x, y);
    }
}

// Promise: cuda/reduce.hpp, "Sums, dot products and norms; the promises are"
TYPED_TEST(CudaReduce, KeepsTheWeakerPromisesToo) {
    using T = TypeParam;
    Random random(3);
    for (const auto& made : testing::adversarial_classes<T>())
        for (const std::int64_t n : {8, 100, 3000}) {
            SCOPED_TRACE(::testing::Message() << made.name << ", about " << n);
            const Terms<T> terms = made.make(random, static_cast<std::size_t>(n));
            testing::ExpectedSum<T> products, squares;
            for (std::size_t i = 0; i < terms.size(); ++i) {
                products.add_product(terms.a[i], terms.b[i]);
                squares.add_product(terms.a[i], terms.a[i]);
            }
            for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated}) {
                const T found = this->reduced(cuda::Reduction::dot, terms.a, terms.b, accuracy, 0, 1);
                EXPECT_TRUE(products.allows(found, accuracy)) << found << " instead of " << products.rounded();
                EXPECT_PRED2(testing::same_bits<T>, this->reduced(cuda::Reduction::dot, terms.a, terms.b, accuracy, 0, 1),
                             found);
                const T norm = this->reduced(cuda::Reduction::norm2, terms.a, terms.b, accuracy);
                const T right = squares.sqrt_rounded();
                const double allowed =
                    accuracy == Accuracy::fast ? fast_norm_bound<T>(squares.terms()) : compensated_norm_bound<T>(1024);
                if (!std::isfinite(right))
                    EXPECT_PRED2(testing::same_bits<T>, norm, right);
                else
                    EXPECT_LE(std::abs(double{norm} - double{right}),
                              (allowed + 2 * double{unit_roundoff<T>}) * double{right} + double{smallest_subnormal<T>})
                        << norm << " instead of " << right << ", " << to_string(accuracy);
            }
        }
}

/// Products that cancel, and among them some that lose a part of eta each: who does not see them all takes the sum for exact.
template <class T>
Terms<T> few_underflowing(Random& random, std::size_t n) {
    constexpr int lowest = testing::adversarial::lowest<T>;
    Terms<T> terms;
    while (terms.size() + 7 <= n) {
        const auto x = static_cast<T>(random.between(1, 99));
        terms.add(x, T(3));
        terms.add(T(-3), x);
    }
    for (std::int64_t left = random.between(2, 5); left > 0; --left)  // 3/8 or 5/8 of eta
        terms.add(std::ldexp(random.coin() ? T(0.375) : T(0.625), lowest / 2), std::ldexp(T(1), lowest - lowest / 2));
    testing::adversarial::shuffle(terms, random);
    return terms;
}

TYPED_TEST(CudaReduce, SeesEveryProductThatUnderflows) {
    using T = TypeParam;
    Random random(7);
    for (const std::size_t n : {8, 40, 300, 3000, 100'000})
        for (int trial = 0; trial < 20; ++trial) {
            const Terms<T> terms = few_underflowing<T>(random, n);
            EXPECT_PRED2(testing::same_bits<T>, this->reduced(cuda::Reduction::dot, terms.a, terms.b, Accuracy::exact),
                         testing::exact_dot<T>(terms.a, terms.b));
        }
}

/// Hundreds of blocks, whose sums come in another order each time.
// Promise: accuracy.hpp, "The same bits from run to run on the same machine"
// Promise: accuracy.hpp, "Same bits as for fast."
TYPED_TEST(CudaReduce, GivesTheSameBitsEveryTime) {
    using T = TypeParam;
    Random random(6);
    std::vector<T> x;
    for (int i = 0; i < 3'000'000; ++i) x.push_back(random.number<T>(static_cast<int>(random.between(-9, 9))));
    const cuda::DeviceArray<T> on_device(0, std::span<const T>(x), "test");
    const cuda::DeviceArray<T> result(0, 1, "test");
    for (const auto reduction : {cuda::Reduction::sum, cuda::Reduction::dot, cuda::Reduction::norm2})
        for (const Accuracy accuracy : all_accuracies) {
            std::vector<T> found(20);
            for (T& one : found) {
                this->reducer().reduce(reduction, std::ssize(x), on_device.data(),
                                       reduction == cuda::Reduction::dot ? on_device.data() : nullptr, accuracy, result.data());
                result.copy_to(std::span(&one, 1));
                EXPECT_PRED2(testing::same_bits<T>, one, found.front()) << to_string(accuracy);
            }
        }
}

TYPED_TEST(CudaReduce, KeepsNormsOfHugeAndTinyElementsInRange) {
    using T = TypeParam;
    for (const T element : {std::numeric_limits<T>::max() / 4, std::numeric_limits<T>::min(), smallest_subnormal<T>}) {
        const std::vector<T> x(4, element);
        for (const Accuracy accuracy : all_accuracies)
            EXPECT_EQ(this->reduced(cuda::Reduction::norm2, x, x, accuracy), 2 * element);
    }
}

// Promise: cuda/reduce.hpp, "*result = the sum or the dot product itself"
// Promise: cuda/reduce.hpp, "Throws InvalidArgument for norm2."
TYPED_TEST(CudaReduce, GivesTheExpansionsOfTheCpu) {
    using T = TypeParam;
    Random random(4);
    const auto same = [](const Expansion<T>& a, const Expansion<T>& b) {
        return a.size == b.size && a.is_exact == b.is_exact &&
               std::equal(std::begin(a.component), std::end(a.component), std::begin(b.component), testing::same_bits<T>);
    };
    for (const auto& made : testing::adversarial_classes<T>())
        for (const std::int64_t n : {8, 31, 1000, 300'000}) {
            SCOPED_TRACE(::testing::Message() << made.name << ", about " << n);
            const Terms<T> terms = made.make(random, static_cast<std::size_t>(n));
            const std::span<const T> x(terms.a);
            const std::span<const T> y(terms.b);
            for (int shift = 0; shift < 2; ++shift) {
                EXPECT_TRUE(same(this->expanded(cuda::Reduction::sum, x, y, shift, 0), sum_expansion(x)));
                EXPECT_TRUE(same(this->expanded(cuda::Reduction::dot, x, y, shift, 1), dot_expansion(x, y)));
            }
        }
    EXPECT_TRUE(same(this->expanded(cuda::Reduction::dot, {}, {}, 0, 0), dot_expansion(std::span<const T>(), {})));
    EXPECT_THROW(this->reducer().expand(cuda::Reduction::norm2, 0, static_cast<const T*>(nullptr), nullptr, nullptr),
                 InvalidArgument);
}

// Promise: cuda/reduce.hpp, "results[k] = sum_i of[k].x_i of[k].y_i"
// Promise: cuda/reduce.hpp, "The promises of reduce, in exact the same bits."
// Promise: cuda/reduce.hpp, "Throws InvalidArgument for more than most_dots."
TYPED_TEST(CudaReduce, TakesSeveralDotProductsByOneLaunchWithTheBitsOfEach) {
    using T = TypeParam;
    Random random(5);
    for (const auto& made : testing::adversarial_classes<T>())
        for (const std::int64_t n : {8, 9, 31, 1000, 30'001}) {
            SCOPED_TRACE(::testing::Message() << made.name << ", about " << n);
            const Terms<T> terms = made.make(random, static_cast<std::size_t>(n));
            const std::span<const T> a(terms.a);
            const std::span<const T> b(terms.b);
            std::vector<T> expected{dot(a, a, Accuracy::exact), dot(a, b, Accuracy::exact), dot(b, b, Accuracy::exact),
                                    dot(a, b, Accuracy::exact)};
            while (expected.size() < cuda::Reducer::most_dots) expected.push_back(expected[expected.size() - 4]);
            for (const int count : {0, 1, 2, 3, 4, 5, 7, 10, cuda::Reducer::most_dots})
                for (const auto& [shift_a, shift_b] : {std::pair(0, 0), std::pair(1, 1), std::pair(0, 1)})
                    EXPECT_EQ(testing::differences<T>(this->several(count, a, b, Accuracy::exact, shift_a, shift_b),
                                                      std::span(expected).first(static_cast<std::size_t>(count))),
                              "");
        }
    const std::vector<cuda::Factors<T>> too_many(cuda::Reducer::most_dots + 1);
    const std::span<const cuda::Factors<T>> all(too_many);
    EXPECT_THROW(this->reducer().dots(0, all, Accuracy::fast, nullptr), InvalidArgument);
    const T element = 0;
    const std::span<const cuda::Factors<T>> one_less = all.first(all.size() - 1);
    EXPECT_THROW(this->reducer().dots_and_norm2(0, one_less, &element, Accuracy::fast, nullptr), InvalidArgument);
}

// Promise: cuda/reduce.hpp, "The results of dots, and after them ||x||"
// Promise: cuda/reduce.hpp, "Throws InvalidArgument for most_dots products or more."
TYPED_TEST(CudaReduce, TakesANormAfterDotProductsWithItsBits) {
    using T = TypeParam;
    Random random(9);
    for (const auto& made : testing::adversarial_classes<T>())
        for (const std::int64_t n : {9, 1000, 30'001}) {
            SCOPED_TRACE(::testing::Message() << made.name << ", about " << n);
            const Terms<T> terms = made.make(random, static_cast<std::size_t>(n));
            const auto size = static_cast<std::int64_t>(terms.a.size());
            const cuda::DeviceArray<T> a(0, std::span<const T>(terms.a), "test"), b(0, std::span<const T>(terms.b), "test");
            for (const Accuracy accuracy : all_accuracies)
                for (const std::size_t count : {0u, 1u, 2u, 3u, 4u, 30u, 31u}) {
                    const std::vector<cuda::Factors<T>> factors(count, {a.data(), b.data()});
                    const cuda::DeviceArray<T> results(0, 32, "test");
                    this->reducer().dots_and_norm2(size, factors, b.data(), accuracy, results.data());
                    std::vector<T> found(count + 1), alone(1);
                    results.copy_to(std::span(found));
                    this->reducer().reduce(cuda::Reduction::norm2, size, b.data(), nullptr, accuracy, results.data());
                    results.copy_to(std::span(alone));
                    EXPECT_PRED2(testing::same_bits<T>, found.back(), alone.front()) << to_string(accuracy) << " " << count;
                    if (accuracy != Accuracy::exact) continue;
                    for (std::size_t k = 0; k < count; ++k) EXPECT_PRED2(testing::same_bits<T>, found[k], found[0]);
                }
        }
}

// Promise: cuda/reduce.hpp, "The promises of reduce, in exact the same bits."
TYPED_TEST(CudaReduce, KeepsTheWeakerPromisesForSeveralDotProducts) {
    using T = TypeParam;
    Random random(6);
    for (const auto& made : testing::adversarial_classes<T>())
        for (const std::int64_t n : {9, 3000, 30'000}) {
            SCOPED_TRACE(::testing::Message() << made.name << ", about " << n);
            const Terms<T> terms = made.make(random, static_cast<std::size_t>(n));
            testing::ExpectedSum<T> aa, ab, bb;
            for (std::size_t i = 0; i < terms.size(); ++i) {
                aa.add_product(terms.a[i], terms.a[i]);
                ab.add_product(terms.a[i], terms.b[i]);
                bb.add_product(terms.b[i], terms.b[i]);
            }
            const testing::ExpectedSum<T>* const expected[] = {&aa, &ab, &bb, &ab};
            for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated})
                for (int count = 2; count <= 4; ++count) {
                    const std::vector<T> found = this->several(count, terms.a, terms.b, accuracy, 1, 1);
                    for (int q = 0; q < count; ++q)
                        EXPECT_TRUE(expected[q]->allows(found[static_cast<std::size_t>(q)], accuracy))
                            << found[static_cast<std::size_t>(q)] << " instead of " << expected[q]->rounded();
                }
        }
}

/// Grids of many blocks, and chains that end.
TYPED_TEST(CudaReduce, TakesSeveralDotProductsOfMillionsOfElements) {
    using T = TypeParam;
    Random random(7);
    std::vector<T> a, b;
    for (int i = 0; i < 3'000'017; ++i) {
        a.push_back(random.number<T>(static_cast<int>(random.between(-9, 9))));
        b.push_back(random.number<T>(static_cast<int>(random.between(-9, 9))));
    }
    const std::span<const T> x(a);
    const std::span<const T> y(b);
    const std::vector<T> expected{dot(x, x, Accuracy::exact), dot(x, y, Accuracy::exact), dot(y, y, Accuracy::exact)};
    for (const auto& [shift_a, shift_b] : {std::pair(0, 0), std::pair(1, 0)})
        EXPECT_EQ(testing::differences<T>(this->several(3, x, y, Accuracy::exact, shift_a, shift_b), expected), "");
}

}  // namespace
}  // namespace solver
