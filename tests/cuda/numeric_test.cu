// The numeric headers on the device: the same bits as on the host, operation by operation.

#include "solver/numeric/accumulators.hpp"
#include "solver/numeric/filtered.hpp"
#include "solver/numeric/self_test.hpp"
#include "solver/numeric/superaccumulator.hpp"

#include "solver/cuda.hpp"

#include <gtest/gtest.h>

#include "support/adversarial.hpp"
#include "support/on_cuda.hpp"
#include "support/oracle.hpp"

namespace solver {
namespace {

using testing::Random;
using testing::Terms;

class CudaNumeric : public testing::OnCuda {};

template <class T>
struct Outcome {
    T value = 0;
    T root = 0;
    int proven = -1;
};

template <class A>
concept Filter = requires(const A a, typename A::value_type x) {
    { a.try_result(x) } -> std::same_as<bool>;
};

/// Both halves by themselves, merged, scaled, rounded.
template <class A, class T>
__host__ __device__ Outcome<T> sum_up(const T* a, const T* b, std::int64_t n, T alpha) {
    A sum, second;
    for (std::int64_t i = 0; i < n / 2; ++i) sum.add_product(a[i], b[i]);
    for (std::int64_t i = n / 2; i + 1 < n; ++i) second.add_term(A::product(a[i], b[i]));
    if (n > 0) second.add(a[n - 1]);
    sum.merge(second);
    sum = sum.scaled(alpha);
    Outcome<T> outcome;
    if constexpr (Filter<A>) {
        outcome.proven = sum.try_result(outcome.value) ? 1 : 0;
        outcome.proven += sum.try_sqrt(outcome.root) ? 2 : 0;
    } else {
        outcome.value = sum.result();
    }
    return outcome;
}

template <>
__host__ __device__ Outcome<double> sum_up<Superaccumulator>(const double* a, const double* b, std::int64_t n, double alpha) {
    Superaccumulator sum, second;
    for (std::int64_t i = 0; i < n / 2; ++i) sum.add_product(a[i], b[i]);
    for (std::int64_t i = n / 2; i < n; ++i) second.add_product(a[i], b[i]);
    sum.merge(second);
    sum.multiply(alpha);
    return {sum.result<double>(), sum.sqrt_result<double>(), sum.sign()};
}
template <>
__host__ __device__ Outcome<float> sum_up<Superaccumulator>(const float* a, const float* b, std::int64_t n, float alpha) {
    Superaccumulator sum;
    for (std::int64_t i = 0; i < n; ++i) sum.add_product(a[i], b[i]);
    sum.multiply(alpha);
    return {sum.result<float>(), sum.sqrt_result<float>(), sum.sign()};
}

template <class A, class T>
__global__ void sum_up_rows(const std::int64_t* offsets, const T* a, const T* b, T alpha, std::int64_t rows,
                            Outcome<T>* outcome) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < rows) outcome[i] = sum_up<A, T>(a + offsets[i], b + offsets[i], offsets[i + 1] - offsets[i], alpha);
}

template <class A, class T>
void expect_same_bits() {
    Random random(7);
    std::vector<std::int64_t> offsets{0};
    Terms<T> all;
    for (const auto& made : testing::adversarial_classes<T>())
        for (int trial = 0; trial < 300; ++trial) {
            const Terms<T> terms = made.make(random, static_cast<std::size_t>(random.between(8, 60)));
            all.a.insert(all.a.end(), terms.a.begin(), terms.a.end());
            all.b.insert(all.b.end(), terms.b.begin(), terms.b.end());
            offsets.push_back(static_cast<std::int64_t>(all.size()));
        }
    const auto rows = static_cast<std::int64_t>(offsets.size()) - 1;
    const cuda::DeviceArray<std::int64_t> device_offsets(0, offsets, "test");
    const cuda::DeviceArray<T> a(0, all.a, "test");
    const cuda::DeviceArray<T> b(0, all.b, "test");
    const cuda::DeviceArray<Outcome<T>> device_outcomes(0, rows, "test");
    std::vector<Outcome<T>> outcomes(static_cast<std::size_t>(rows));
    for (const T alpha : {T(1), T(-1), T(0.1)}) {
        sum_up_rows<A, T><<<static_cast<unsigned>((rows + 63) / 64), 64>>>(device_offsets.data(), a.data(), b.data(), alpha,
                                                                           rows, device_outcomes.data());
        ASSERT_EQ(cudaGetLastError(), cudaSuccess);
        device_outcomes.copy_to(outcomes);
        std::int64_t different = 0;
        for (std::int64_t i = 0; i < rows; ++i) {
            const auto right = sum_up<A, T>(&all.a[offsets[i]], &all.b[offsets[i]], offsets[i + 1] - offsets[i], alpha);
            const Outcome<T>& found = outcomes[i];
            if (testing::same_bits(found.value, right.value) && testing::same_bits(found.root, right.root) &&
                found.proven == right.proven)
                continue;
            if (different++ == 0)
                ADD_FAILURE() << "row " << i << ", alpha " << alpha << ": " << found.value << ' ' << found.root << ' '
                              << found.proven << " instead of " << right.value << ' ' << right.root << ' ' << right.proven;
        }
        EXPECT_EQ(different, 0) << "of " << rows;
    }
}

__global__ void test_transformations(int* work) { *work = error_free_transformations_work() ? 1 : 0; }

TEST_F(CudaNumeric, TransformationsAreErrorFreeOnTheDevice) {
    const cuda::DeviceArray<int> work(0, 1, "test");
    test_transformations<<<1, 1>>>(work.data());
    int answer = 0;
    work.copy_to(std::span(&answer, 1));
    EXPECT_EQ(answer, 1);
}

TEST_F(CudaNumeric, AccumulatorsGiveTheBitsOfTheHost) {
    expect_same_bits<Plain<float>, float>();
    expect_same_bits<Plain<double>, double>();
    expect_same_bits<Dot2<double>, double>();
    expect_same_bits<FloatInDouble, float>();
}
TEST_F(CudaNumeric, FiltersDecideAsOnTheHost) {
    expect_same_bits<FilteredTriple<double>, double>();
    expect_same_bits<FilteredFloat, float>();
}
TEST_F(CudaNumeric, TheSuperaccumulatorGivesTheBitsOfTheHost) {
    expect_same_bits<Superaccumulator, double>();
    expect_same_bits<Superaccumulator, float>();
}

}  // namespace
}  // namespace solver
