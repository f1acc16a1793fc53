#include "kernels/vectors.hpp"

#include "core/krylov/updates.hpp"
#include "kernels/gram_schmidt.hpp"
#include "solver/cuda.hpp"
#include "solver/reduce.hpp"
#include "support/adversarial.hpp"
#include "support/expected.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace solver {
namespace {

using testing::differences;
using testing::Random;

template <class T>
using Vectors = std::vector<std::vector<T>>;

constexpr int counts[] = {1, 2, 3, 5, 6, 30, 32, 33, 70};
constexpr std::int64_t lengths[] = {0, 1, 2, 7, 255, 1000, 30'001, 200'003};

template <class T>
std::vector<T> random_vector(Random& random, std::int64_t n, int most_exponent) {
    std::vector<T> x;
    for (std::int64_t i = 0; i < n; ++i)
        x.push_back(random.number<T>(static_cast<int>(random.between(-most_exponent, most_exponent))));
    return x;
}

/// Its products with w cancel by pairs at all magnitudes, so that what is left lies far below what a filter keeps.
template <class T>
std::vector<T> cancelling_vector(Random& random, std::span<const T> w) {
    constexpr int most_exponent = std::is_same_v<T, double> ? 300 : 40;
    std::vector<T> x(w.size(), std::ldexp(T(1), -most_exponent));
    for (std::size_t i = 0; i + 1 < w.size(); i += 2) {
        const int exponent = static_cast<int>(random.between(-most_exponent, most_exponent));
        x[i] = std::ldexp(w[i + 1], exponent);
        x[i + 1] = std::ldexp(-w[i], exponent);
    }
    return x;
}

/// Vectors of all kinds, finite ones first: random ones, near and far, and such as are nearly orthogonal to w.
template <class T>
Vectors<T> vectors_beside(Random& random, std::span<const T> w, int count) {
    Vectors<T> x;
    const std::int64_t n = std::ssize(w);
    for (int q = 0; q < count; ++q) {
        if (q % 3 == 0) x.push_back(random_vector<T>(random, n, 9));
        if (q % 3 == 1) x.push_back(cancelling_vector(random, w));
        if (q % 3 == 2) x.push_back(random_vector<T>(random, n, 30));
    }
    return x;
}

/// Puts Inf into every third vector, and to that -Inf or NaN into some.
template <class T>
void add_specials(Vectors<T>& x) {
    for (std::size_t q = 0; q < x.size(); q += 3) {
        if (x[q].empty()) continue;
        x[q].back() = std::numeric_limits<T>::infinity();
        if (q % 2 == 0) x[q].front() = q % 4 == 0 ? -x[q].back() : std::numeric_limits<T>::quiet_NaN();
    }
}

/// So many vectors on the device, all of them shifted by a number of elements.
template <class T>
class OnDevice {
public:
    OnDevice(const Vectors<T>& host, std::int64_t shift) {
        for (const std::vector<T>& values : host) {
            const auto n = std::ssize(values);
            whole_.emplace_back(0, n + shift, "test");
            parts_.push_back(whole_.back().part(shift, n));
            parts_.back().copy_from(values);
            pointers_.push_back(parts_.back().data());
        }
    }

    std::span<const T* const> pointers() const { return pointers_; }
    const cuda::DeviceArray<T>& operator[](std::size_t q) const { return parts_[q]; }
    std::vector<T> read(std::size_t q) const {
        std::vector<T> values(static_cast<std::size_t>(parts_[q].size()));
        parts_[q].copy_to(values);
        return values;
    }

private:
    std::vector<cuda::DeviceArray<T>> whole_;
    std::vector<cuda::DeviceArray<T>> parts_;
    std::vector<const T*> pointers_;
};

template <class T>
class CudaVectors : public ::testing::Test {
protected:
    void SetUp() override {
        if (cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
        reducer_.emplace(0);
        places_ = cuda::DeviceArray<double>(0, 128, "test");
    }

    std::vector<T> dots(const Vectors<T>& x, const std::vector<T>& w, Accuracy accuracy, std::int64_t shift) {
        const OnDevice<T> xs(x, shift), y({w}, shift);
        std::vector<double> found(x.size());
        cuda::dots<T>(*reducer_, xs.pointers(), y[0], accuracy, places_, found, nullptr);
        return {found.begin(), found.end()};
    }

    static std::vector<T> dots_of_processor(const Vectors<T>& x, const std::vector<T>& w) {
        std::vector<T> expected;
        for (const std::vector<T>& vector : x)
            expected.push_back(dot(std::span<const T>(vector), std::span<const T>(w), Accuracy::exact));
        return expected;
    }

    static std::vector<T> combined(std::span<const T> a, const Vectors<T>& x, std::vector<T> out) {
        for (std::size_t k = 0; k < x.size(); ++k)
            for (std::size_t i = 0; i < out.size(); ++i) out[i] = added(out[i], a[k], x[k][i]);
        return out;
    }

    static double norm(const std::vector<T>& x) { return norm2(std::span<const T>(x), Accuracy::exact); }

    /// work(x, w, shift) for vectors of all kinds.
    template <class Work>
    static void for_all_kinds(const Work& work) {
        Random random(1);
        for (const std::int64_t n : lengths)
            for (const int count : counts) {
                if (n > 30'001 && count > 33) continue;
                SCOPED_TRACE(::testing::Message() << count << " vectors of " << n);
                const std::vector<T> w = random_vector<T>(random, n, 3);
                const Vectors<T> x = vectors_beside<T>(random, w, count);
                for (const std::int64_t shift : {0, 1}) work(x, w, shift);
            }
    }

    cuda::Reducer& reducer() { return *reducer_; }
    const cuda::DeviceArray<double>& places() const { return places_; }

private:
    std::optional<cuda::Reducer> reducer_;
    cuda::DeviceArray<double> places_;
};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaVectors, ValueTypes);

TYPED_TEST(CudaVectors, HaveTheDotProductsOfTheProcessorHoweverManyThereAre) {
    using T = TypeParam;
    this->for_all_kinds([&](Vectors<T> x, const std::vector<T>& w, std::int64_t shift) {
        EXPECT_EQ(differences<T>(this->dots(x, w, Accuracy::exact, shift), this->dots_of_processor(x, w)), "");
        add_specials(x);
        EXPECT_EQ(differences<T>(this->dots(x, w, Accuracy::exact, shift), this->dots_of_processor(x, w)), "");
    });
}

TYPED_TEST(CudaVectors, KeepTheWeakerPromisesForManyDotProducts) {
    using T = TypeParam;
    Random random(2);
    const std::vector<T> w = random_vector<T>(random, 30'001, 3);
    const Vectors<T> x = vectors_beside<T>(random, w, 30);
    std::vector<testing::ExpectedSum<T>> expected(x.size());
    for (std::size_t q = 0; q < x.size(); ++q)
        for (std::size_t i = 0; i < w.size(); ++i) expected[q].add_product(x[q][i], w[i]);
    for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated}) {
        const std::vector<T> found = this->dots(x, w, accuracy, 0);
        for (std::size_t q = 0; q < x.size(); ++q)
            EXPECT_TRUE(expected[q].allows(found[q], accuracy)) << found[q] << " instead of " << expected[q].rounded();
    }
}

/// An element that becomes subnormal, Inf or NaN is one too many, wherever it stands.
TYPED_TEST(CudaVectors, TellWhetherAPowerOfTwoHasCostBits) {
    using T = TypeParam;
    const cuda::DeviceArray<std::int32_t> has_lost(0, 1, "test");
    const T least = std::numeric_limits<T>::min();
    const auto found = [&](T factor, const std::vector<T>& x) {
        OnDevice<T> vectors({x, x}, 0);
        cuda::scale_without_rounding(factor, vectors[0], vectors[1], has_lost, nullptr);
        const std::vector<T> scaled = vectors.read(1);
        for (std::size_t i = 0; i < x.size(); ++i)
            if (!std::isnan(x[i])) {
                EXPECT_EQ(scaled[i], mul_rn(factor, x[i]));
            }
        std::int32_t lost = -1;
        has_lost.copy_to(std::span(&lost, 1));
        return lost;
    };
    for (const std::size_t n : {std::size_t{1}, std::size_t{1000}, std::size_t{300'007}})
        for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
            std::vector<T> x(n, T(3));
            EXPECT_EQ(found(T(0.25), x), 0);
            for (const T kept : {T(0), -T(0), 4 * least, -4 * least, std::numeric_limits<T>::max()}) {
                x[at] = kept;
                EXPECT_EQ(found(T(0.25), x), 0) << kept;
            }
            for (const T lost : {2 * least, std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::infinity(),
                                 std::numeric_limits<T>::quiet_NaN()}) {
                x[at] = lost;
                EXPECT_EQ(found(T(0.25), x), 1) << lost;
            }
            x[at] = std::numeric_limits<T>::max();
            EXPECT_EQ(found(T(2), x), 1);
        }
    EXPECT_EQ(found(T(0.25), {}), 0);
}

TYPED_TEST(CudaVectors, AreCombinedOneAfterAnother) {
    using T = TypeParam;
    this->for_all_kinds([&](const Vectors<T>& x, const std::vector<T>& w, std::int64_t shift) {
        std::vector<T> a;
        for (std::size_t k = 0; k < x.size(); ++k) a.push_back(T(1) / static_cast<T>(k + 3));
        const OnDevice<T> xs(x, shift), out({w}, shift);
        cuda::add_combination<T>(std::span<const T>(a), xs.pointers(), out[0], nullptr);
        EXPECT_EQ(differences<T>(out.read(0), this->combined(a, x, w)), "");
    });
}

TYPED_TEST(CudaVectors, AreCombinedOneAfterAnotherByComplexFactors) {
    using T = TypeParam;
    Random random(3);
    for (const std::int64_t n : {2, 6, 1000, 30'002})
        for (const int count : counts)
            for (const std::int64_t shift : {0, 1}) {
                SCOPED_TRACE(::testing::Message() << count << " vectors of " << n << " parts, shifted by " << shift);
                std::vector<T> expected = random_vector<T>(random, n, 3);
                const Vectors<T> x = vectors_beside<T>(random, expected, count);
                const OnDevice<T> xs(x, shift), out({expected}, shift);
                std::vector<std::complex<T>> a;
                for (int k = 0; k < count; ++k) {
                    a.emplace_back(random.number<T>(), k % 4 == 1 ? T(0) : random.number<T>());
                    const T* const from = x[static_cast<std::size_t>(k)].data();
                    for (std::int64_t i = 0; i < n; ++i) {
                        T& to = expected[static_cast<std::size_t>(i)];
                        to = added(to, a.back().real(), from[i]);
                        if (a.back().imag() != T(0)) to = added(to, a.back().imag(), turned(from, i));
                    }
                }
                cuda::add_combination<T>(std::span<const std::complex<T>>(a), xs.pointers(), out[0], nullptr);
                EXPECT_EQ(differences<T>(out.read(0), expected), "");
            }
}

TYPED_TEST(CudaVectors, LoseTheirProjectionsAsOnTheProcessor) {
    using T = TypeParam;
    this->for_all_kinds([&](const Vectors<T>& x, const std::vector<T>& w, std::int64_t shift) {
        const std::vector<T> shares = this->dots_of_processor(x, w);
        std::vector<T> negative;
        for (const T share : shares) negative.push_back(-share);
        const std::vector<T> rest = this->combined(negative, x, w);
        if (!std::isfinite(this->norm(rest))) return;
        const OnDevice<T> xs(x, shift), y({w}, shift), v({w}, shift);
        cuda::GramSchmidtPass<T> pass(0);
        pass.start(this->reducer(), xs.pointers(), y[0], v[0], Accuracy::exact, nullptr);
        std::vector<double> found(x.size());
        const auto [before, after] = pass.take(found);
        EXPECT_EQ(differences<T>(std::vector<T>(found.begin(), found.end()), shares), "");
        EXPECT_EQ(differences<T>(y.read(0), rest), "");
        EXPECT_EQ(before, this->norm(w));
        EXPECT_EQ(after, this->norm(rest));
        std::vector<T> normalised;
        for (const T element : rest) normalised.push_back(mul_rn(static_cast<T>(div_rn(1.0, after)), element));
        EXPECT_EQ(differences<T>(v.read(0), normalised), "");
    });
}

}  // namespace
}  // namespace solver
