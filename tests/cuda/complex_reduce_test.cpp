#include "solver/complex.hpp"
#include "solver/cuda.hpp"

#include <gtest/gtest.h>

#include "support/adversarial.hpp"
#include "support/complex_numbers.hpp"
#include "support/expected.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace solver {
namespace {

using cuda::ComplexReduction;
using testing::ExpectedSum;
using testing::Random;
using testing::Terms;

constexpr auto same = [](auto a, auto b) { return testing::same_bits(a, b); };

/// Complex vectors whose sum of a kind is made, on the device and by the processor.
template <class T>
class CudaComplexReduce : public ::testing::Test {
protected:
    using C = std::complex<T>;
    using Vector = std::span<const C>;

    void SetUp() override {
        if (cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
        reducer_.emplace(0);
    }

    /// By the device, x and y shifted by so many parts, so that numbers may lie across multiples of their size.
    C reduced(ComplexReduction kind, Vector x, Vector y, Accuracy accuracy, int shift_x = 0, int shift_y = 0) {
        const Shifted on_device_x(x, shift_x), on_device_y(y, shift_y);
        const cuda::DeviceArray<C> result(0, 1, "test");
        reducer_->reduce(kind, std::ssize(x), on_device_x.numbers(),
                         kind == ComplexReduction::sum ? nullptr : on_device_y.numbers(), accuracy, result.data());
        C found;
        result.copy_to(std::span(&found, 1));
        return found;
    }

    ComplexExpansion<T> expanded(ComplexReduction kind, Vector x, Vector y, int shift_x, int shift_y) {
        const Shifted on_device_x(x, shift_x), on_device_y(y, shift_y);
        const cuda::DeviceArray<ComplexExpansion<T>> result(0, 1, "test");
        reducer_->expand(kind, std::ssize(x), on_device_x.numbers(), on_device_y.numbers(), result.data());
        ComplexExpansion<T> found;
        result.copy_to(std::span(&found, 1));
        return found;
    }

    T norm2(Vector x, Accuracy accuracy, int shift) {
        const Shifted on_device(x, shift);
        const cuda::DeviceArray<T> result(0, 1, "test");
        reducer_->norm2(std::ssize(x), on_device.numbers(), accuracy, result.data());
        T found;
        result.copy_to(std::span(&found, 1));
        return found;
    }

    static C by_processor(ComplexReduction kind, Vector x, Vector y) {
        switch (kind) {
            case ComplexReduction::sum:
                return sum(x, Accuracy::exact);
            case ComplexReduction::dot:
                return dot(x, y, Accuracy::exact);
            case ComplexReduction::dotu:
                break;
        }
        return dotu(x, y, Accuracy::exact);
    }

    void expect_the_processors_bits(Vector x, Vector y) {
        for (const auto& [shift_x, shift_y] : {std::pair(0, 0), std::pair(1, 1), std::pair(2, 2), std::pair(2, 1)}) {
            for (const auto kind : {ComplexReduction::sum, ComplexReduction::dot, ComplexReduction::dotu})
                EXPECT_PRED2(same, reduced(kind, x, y, Accuracy::exact, shift_x, shift_y), by_processor(kind, x, y))
                    << static_cast<int>(kind) << ", shifted by " << shift_x << " and " << shift_y;
            EXPECT_PRED2(same, norm2(x, Accuracy::exact, shift_x), solver::norm2(x, Accuracy::exact));
        }
    }

private:
    class Shifted {
    public:
        Shifted(Vector values, int shift) : shift_(shift) {
            std::vector<T> host(2 * values.size() + static_cast<std::size_t>(shift));
            std::ranges::copy(real_view(values), host.begin() + shift);
            parts_ = cuda::DeviceArray<T>(0, std::span<const T>(host), "test");
        }
        const C* numbers() const { return reinterpret_cast<const C*>(parts_.data() + shift_); }

    private:
        int shift_;
        cuda::DeviceArray<T> parts_;
    };

    std::optional<cuda::Reducer> reducer_;
};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaComplexReduce, ValueTypes);

template <class T>
struct Operands {
    std::vector<std::complex<T>> x, y;
};

/// Numbers for which one part of the dot product is the sum of these terms; the other part is of the same factors.
template <class T>
Operands<T> operands(const Terms<T>& terms, ComplexReduction kind, bool imaginary) {
    const T sign = imaginary == (kind == ComplexReduction::dot) ? T(-1) : T(1);
    Operands<T> made;
    for (std::size_t i = 0; i < terms.size(); i += 2) {
        const bool has_two = i + 1 < terms.size();
        made.x.emplace_back(terms.a[i], has_two ? terms.a[i + 1] : T(0));
        const T first = terms.b[i], second = has_two ? sign * terms.b[i + 1] : T(0);
        made.y.push_back(imaginary ? std::complex<T>(second, first) : std::complex<T>(first, second));
    }
    return made;
}

template <class T>
T part(std::complex<T> z, bool imaginary) {
    return imaginary ? z.imag() : z.real();
}

template <class T>
ExpectedSum<T> expected_sum(const Terms<T>& terms) {
    ExpectedSum<T> expected;
    for (std::size_t i = 0; i < terms.size(); ++i) expected.add_product(terms.a[i], terms.b[i]);
    return expected;
}

template <class T>
std::vector<std::complex<T>> random_numbers(Random& random, std::int64_t n) {
    return testing::complex_vector<T>(random, n, 9);
}

// Promise: cuda/reduce.hpp, "*result is a sum or a dot product of n complex numbers"
// Promise: cuda/reduce.hpp, "Both parts are made in one pass"
// Promise: cuda/reduce.hpp, "*result = sqrt(sum_i |x_i|^2), the norm of the 2n parts."
// Promise: cuda/reduce.hpp, "Of complex numbers: sum_i x_i, x^H y"
TYPED_TEST(CudaComplexReduce, RoundsBothPartsOnceForAdversarialTerms) {
    using T = TypeParam;
    Random random(1);
    for (const auto& made : testing::adversarial_classes<T>())
        for (const std::int64_t n : {8, 9, 31, 1000, 30'000}) {
            SCOPED_TRACE(::testing::Message() << made.name << ", about " << n);
            const Terms<T> terms = made.make(random, static_cast<std::size_t>(n));
            const T expected = expected_sum(terms).rounded();
            for (const auto kind : {ComplexReduction::dot, ComplexReduction::dotu})
                for (const bool imaginary : {false, true}) {
                    const auto [x, y] = operands(terms, kind, imaginary);
                    const auto found = this->reduced(kind, x, y, Accuracy::exact);
                    EXPECT_PRED2(same, part(found, imaginary), expected);
                    this->expect_the_processors_bits(x, y);
                }
        }
}

/// The parts of a sum are sums of different kinds of terms.
TYPED_TEST(CudaComplexReduce, SumsBothPartsEachForItself) {
    using T = TypeParam;
    Random random(2);
    for (const auto& of_re : testing::adversarial_classes<T>())
        for (const auto& of_im : testing::adversarial_classes<T>()) {
            SCOPED_TRACE(::testing::Message() << of_re.name << " and " << of_im.name);
            const Terms<T> re = of_re.make(random, 1000), im = of_im.make(random, 1000);
            std::vector<std::complex<T>> x;
            for (std::size_t i = 0; i < std::min(re.size(), im.size()); ++i) x.emplace_back(re.a[i], im.a[i]);
            this->expect_the_processors_bits(x, x);
        }
}

TYPED_TEST(CudaComplexReduce, GivesTheBitsOfTheProcessorForAnyLength) {
    using T = TypeParam;
    Random random(3);
    for (const std::int64_t n : {0, 1, 2, 3, 4, 5, 7, 8, 15, 17, 255, 257, 4095, 4097, 1'000'003}) {
        SCOPED_TRACE(n);
        this->expect_the_processors_bits(random_numbers<T>(random, n), random_numbers<T>(random, n));
    }
}

// Promise: cuda/reduce.hpp, "Both parts are made in one pass"
TYPED_TEST(CudaComplexReduce, KeepsTheWeakerPromisesToo) {
    using T = TypeParam;
    Random random(4);
    for (const auto& made : testing::finite_adversarial_classes<T>())
        for (const std::int64_t n : {8, 100, 3000}) {
            SCOPED_TRACE(::testing::Message() << made.name << ", about " << n);
            const Terms<T> terms = made.make(random, static_cast<std::size_t>(n));
            const ExpectedSum<T> expected = expected_sum(terms);
            for (const auto kind : {ComplexReduction::dot, ComplexReduction::dotu})
                for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated})
                    for (const bool imaginary : {false, true}) {
                        const auto [x, y] = operands(terms, kind, imaginary);
                        const T found = part(this->reduced(kind, x, y, accuracy, 0, 1), imaginary);
                        EXPECT_TRUE(expected.allows(found, accuracy)) << found << " instead of " << expected.rounded();
                    }
        }
}

/// Hundreds of blocks, whose sums come in another order each time, and chains that end.
TYPED_TEST(CudaComplexReduce, GivesTheSameBitsEveryTime) {
    using T = TypeParam;
    Random random(5);
    const auto x = random_numbers<T>(random, 3'000'017), y = random_numbers<T>(random, 3'000'017);
    for (const auto kind : {ComplexReduction::sum, ComplexReduction::dot, ComplexReduction::dotu})
        for (const Accuracy accuracy : all_accuracies) {
            const auto first = this->reduced(kind, x, y, accuracy);
            for (int again = 0; again < 5; ++again)
                EXPECT_PRED2(same, this->reduced(kind, x, y, accuracy), first) << to_string(accuracy);
            if (accuracy == Accuracy::exact) {
                EXPECT_PRED2(same, first, this->by_processor(kind, x, y));
            }
        }
}

// Promise: cuda/reduce.hpp, "*result = both parts of the sum or the dot product without any rounding"
TYPED_TEST(CudaComplexReduce, GivesTheExpansionsOfTheProcessor) {
    using T = TypeParam;
    Random random(6);
    for (const auto& made : testing::adversarial_classes<T>())
        for (const std::int64_t n : {8, 31, 1000, 100'000}) {
            SCOPED_TRACE(::testing::Message() << made.name << ", about " << n);
            const Terms<T> terms = made.make(random, static_cast<std::size_t>(n));
            const auto [x, y] = operands(terms, ComplexReduction::dot, true);
            const std::span<const std::complex<T>> xs(x), ys(y);
            for (int shift = 0; shift < 2; ++shift) {
                EXPECT_PRED2(testing::same_expansion<T>, this->expanded(ComplexReduction::sum, x, y, shift, 0),
                             sum_expansion(xs));
                EXPECT_PRED2(testing::same_expansion<T>, this->expanded(ComplexReduction::dot, x, y, shift, 1),
                             dot_expansion(xs, ys));
                EXPECT_PRED2(testing::same_expansion<T>, this->expanded(ComplexReduction::dotu, x, y, 1, shift),
                             dotu_expansion(xs, ys));
            }
        }
}

/// As Python hands over arrays of CuPy and PyTorch.
TYPED_TEST(CudaComplexReduce, TakesVectorsOfTheDeviceWhereTheyLie) {
    using C = std::complex<TypeParam>;
    Random random(7);
    const auto x = random_numbers<TypeParam>(random, 1001), y = random_numbers<TypeParam>(random, 1001);
    const cuda::DeviceArray<C> on_device_x(0, x, "x"), on_device_y(0, y, "y");
    const Device device = Device::cuda(0);
    for (const std::size_t first : {0, 1}) {
        const auto from = [&](const C* data) { return std::span<const C>(data, x.size()).subspan(first); };
        const auto u = from(on_device_x.data()), v = from(on_device_y.data()), p = from(x.data()), q = from(y.data());
        EXPECT_PRED2(same, sum(u, Accuracy::exact, device), sum(p, Accuracy::exact));
        EXPECT_PRED2(same, dot(u, v, Accuracy::exact, device), dot(p, q, Accuracy::exact));
        EXPECT_PRED2(same, dotu(u, v, Accuracy::exact, device), dotu(p, q, Accuracy::exact));
        EXPECT_PRED2(same, norm2(u, Accuracy::exact, device), norm2(p, Accuracy::exact));
        EXPECT_PRED2(testing::same_expansion<TypeParam>, dot_expansion(u, v, device), dot_expansion(p, q));
    }
}

}  // namespace
}  // namespace solver
