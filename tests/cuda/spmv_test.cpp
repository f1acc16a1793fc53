#include "solver/spmv.hpp"
#include "kernels/products.hpp"
#include "matrices/generators.hpp"
#include "solver/cuda/csr.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <utility>

#include "support/on_cuda.hpp"
#include "support/products.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::ExpectedSum;
using testing::Random;
using testing::random_rows;
using testing::random_vector;
using testing::Span;
using testing::Terms;

template <class T>
class CudaSpmv : public testing::OnCuda {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaSpmv, ValueTypes);

constexpr SpmvKernel kernels[] = {SpmvKernel::automatic, SpmvKernel::general, SpmvKernel::adaptive};

/// A vector on the device that starts one element after where its memory begins.
template <class T>
class Shifted {
public:
    explicit Shifted(Span<T> values) : memory_(0, static_cast<std::int64_t>(values.size()) + 1, "test") {
        std::vector<T> host(values.size() + 1);
        std::copy(values.begin(), values.end(), host.begin() + 1);
        memory_.copy_from(host);
    }
    T* data() const { return memory_.data() + 1; }
    std::vector<T> host() const {
        std::vector<T> values(static_cast<std::size_t>(memory_.size()));
        memory_.copy_to(std::span<T>(values));
        values.erase(values.begin());
        return values;
    }

private:
    cuda::DeviceArray<T> memory_;
};

/// A matrix on the device, ready for both kernels.
template <class T>
class OnDevice {
public:
    explicit OnDevice(const CsrView<T>& a, cuda::OffsetWidth width = cuda::OffsetWidth::automatic)
        : host_(a),
          matrix_(0, a),
          products_{cuda::make_products(matrix_.view(), kernels[0], nullptr, 1, width),
                    cuda::make_products(matrix_.view(), kernels[1], nullptr, 1, width),
                    cuda::make_products(matrix_.view(), kernels[2], nullptr, 1, width)} {}

    std::vector<T> product(SpmvKernel kernel, T alpha, Span<T> x, Span<T> x_low, T beta, Span<T> y, Accuracy accuracy) const {
        const Shifted<T> on_device_x(x);
        const Shifted<T> on_device_low(x_low);
        const Shifted<T> on_device_y(y);
        products_[std::find(std::begin(kernels), std::end(kernels), kernel) - kernels]->multiply(
            {.alpha = alpha,
             .x = on_device_x.data(),
             .x_low = x_low.empty() ? nullptr : on_device_low.data(),
             .beta = beta,
             .y_in = on_device_y.data(),
             .y = on_device_y.data()},
            accuracy);
        return on_device_y.host();
    }

    /// alpha A (x + x_low) + beta y by the processor, in exact.
    std::vector<T> expected(T alpha, Span<T> x, Span<T> x_low, T beta, Span<T> y) const {
        std::vector<T> result(y.begin(), y.end());
        const SpmvTask<T> task{.alpha = alpha, .x = x, .x_low = x_low, .beta = beta, .y_in = result, .y = result};
        SpmvPlan<T>(host_, Device::cpu()).multiply(std::span(&task, 1), Accuracy::exact);
        return result;
    }

    /// "" where both kernels give the CPU's bits.
    void expect_exact(T alpha, Span<T> x, Span<T> x_low, T beta, Span<T> y) const {
        const std::vector<T> right = expected(alpha, x, x_low, beta, y);
        for (const SpmvKernel kernel : kernels)
            EXPECT_EQ(testing::differences<T>(product(kernel, alpha, x, x_low, beta, y, Accuracy::exact), right), "")
                << to_string(kernel) << ", alpha " << alpha << ", beta " << beta << (x_low.empty() ? "" : ", a pair");
    }

private:
    CsrView<T> host_;
    cuda::DeviceCsrMatrix<T> matrix_;
    std::unique_ptr<cuda::CsrProducts<T>> products_[std::size(kernels)];
};

/// Numbers to be added, for sums that the CPU has rounded.
template <class T>
std::vector<T> addends(Random& random, const std::vector<T>& sums) {
    std::vector<T> y;
    for (const T sum : sums) {
        const T any = random.number<T>(static_cast<int>(random.between(-20, 20)));
        const int choice = static_cast<int>(random.between(0, 4));
        y.push_back(!std::isfinite(sum) || choice == 0 ? any
                    : choice == 1                      ? -sum
                    : choice == 2                      ? -sum * unit_roundoff<T>
                    : choice == 3                      ? std::numeric_limits<T>::denorm_min()
                                                       : T(0));
    }
    return y;
}

/// A x, with alpha and beta, and the residual of a pair.
template <class T>
void expect_exact(const CsrView<T>& a, Span<T> x, cuda::OffsetWidth width = cuda::OffsetWidth::automatic) {
    Random random(99);
    const OnDevice<T> on_device(a, width);

    const std::vector<T> unread(static_cast<std::size_t>(a.rows), std::numeric_limits<T>::quiet_NaN());
    const std::vector<T> y = addends(random, on_device.expected(1, x, {}, 0, unread));
    std::vector<T> x_low;
    for (const T element : x) x_low.push_back(std::isfinite(element) ? random.number<T>(-25) * element : T(0));
    on_device.expect_exact(1, x, {}, 0, unread);
    on_device.expect_exact(1, x, {}, 1, y);
    on_device.expect_exact(-1, x, {}, 1, y);
    on_device.expect_exact(T(0.1), x, {}, 3, y);
    on_device.expect_exact(-1, x, x_low, 1, y);
}

// Promise: cuda/spmv.hpp, "The promises are those of solver::SpmvPlan<T>::multiply"
// Promise: cuda/spmv.hpp, "read only where beta is not 0"
// Promise: cuda/spmv.hpp, "y = alpha A (x + x_low) + beta y_in"
// Promise: cuda/runtime.hpp, "Cannot be seen in a bit of exact."
TYPED_TEST(CudaSpmv, GivesTheBitsOfTheCpuForEveryAdversarialRowAlphaAndBeta) {
    using T = TypeParam;
    Random random(9);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 304, 30), random);
    const OnDevice<T> on_device(a);
    const std::vector<T> unread(static_cast<std::size_t>(a.rows), std::numeric_limits<T>::quiet_NaN());
    const std::vector<T> y = addends(random, on_device.expected(1, x, {}, 0, unread));
    for (const T alpha : testing::factors<T>())
        for (const T beta : testing::factors<T>()) on_device.expect_exact(alpha, x, {}, beta, beta == 0 ? unread : y);
}

TYPED_TEST(CudaSpmv, GivesTheBitsOfTheCpuForAdversarialRowsOfAllLengths) {
    using T = TypeParam;
    Random random(10);
    for (const std::int64_t longest : {70, 700, 6000}) {
        const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 38, longest), random);
        expect_exact<T>(a, x);
    }
}

/// Terms far apart that cancel, of a pair: more than three terms hold, so that rows are added up again, and the lower halves
/// break a tie.
// Promise: cuda/spmv.hpp, "y = alpha A (x + x_low) + beta y_in"
// Promise: cuda/spmv.hpp, "or none"
TYPED_TEST(CudaSpmv, RoundsResidualsOfPairsThatThreeTermsDoNotHold) {
    using T = TypeParam;
    constexpr int gap = std::is_same_v<T, float> ? 40 : 100;
    Random random(17);
    std::vector<T> x{1}, x_low{unit_roundoff<T>};
    for (int i = 1; i <= 3; ++i)
        for (const int sign : {1, -1}) {
            x.push_back(std::ldexp(T(sign), i * gap));
            x_low.push_back(i == 1 ? std::ldexp(T(1), -gap) : T(0));
        }
    constexpr std::int32_t rows = 400;
    CsrMatrix<T> a{rows, std::ssize(x), {0}, {}, {}};
    for (std::int32_t row = 0; row < rows; ++row) {
        std::vector<std::int32_t> columns(x.size());
        std::iota(columns.begin(), columns.end(), 0);
        for (std::size_t i = columns.size() - 1; i > 0; --i)
            std::swap(columns[i], columns[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i)))]);
        a.column_indices.insert(a.column_indices.end(), columns.begin(), columns.end());
        a.row_offsets.push_back(std::ssize(a.column_indices));
    }
    a.values.resize(a.column_indices.size(), T(1));
    const OnDevice<T> on_device(a);
    const std::vector<T> y(rows);
    EXPECT_EQ(on_device.expected(-1, x, x_low, 1, y), std::vector<T>(rows, -(1 + 2 * unit_roundoff<T>)));
    on_device.expect_exact(-1, x, x_low, 1, y);
}

TYPED_TEST(CudaSpmv, GivesTheBitsOfTheCpuForOneHugeRow) {
    using T = TypeParam;
    Random random(11);
    for (const auto& made : testing::finite_adversarial_classes<T>()) {
        SCOPED_TRACE(made.name);
        std::vector<Terms<T>> rows{made.make(random, 20), Terms<T>(), made.make(random, 100'000), made.make(random, 1025)};
        const auto [a, x] = testing::matrix_of(rows, random);
        expect_exact<T>(a, x);
    }
}

TYPED_TEST(CudaSpmv, GivesTheBitsOfTheCpuForAnyShape) {
    using T = TypeParam;
    Random random(12);
    const std::vector<std::vector<std::int64_t>> shapes{
        {},
        {0},
        {1},
        {40'000},
        std::vector<std::int64_t>(10'000, 0),
        std::vector<std::int64_t>(5'000, 1),
        {0, 0, 5, 0, 70'000, 0, 3, 1024, 1025, 1023, 2049, 0, 0},
        {3, 2'500'000, 1},
    };
    for (const auto& lengths : shapes) {
        const CsrMatrix<T> a = random_rows<T>(random, 3000, lengths);
        expect_exact<T>(a, random_vector<T>(random, a.columns));
    }
    for (int trial = 0; trial < 40; ++trial) {
        std::vector<std::int64_t> lengths(static_cast<std::size_t>(random.between(1, 3000)));
        const std::int64_t longest = std::int64_t{1} << random.between(0, 11);
        for (auto& length : lengths) length = random.between(0, 9) == 0 ? random.between(0, longest) : random.between(0, 9);
        const CsrMatrix<T> a = random_rows<T>(random, random.between(1, 5000), lengths);
        expect_exact<T>(a, random_vector<T>(random, a.columns));
    }
}

TYPED_TEST(CudaSpmv, GivesTheBitsOfTheCpuForGeneratedMatrices) {
    using T = TypeParam;
    Random random(13);
    for (const char* name : {"stencil27_40", "poisson2d_300", "convection_diffusion_200", "power_law_100000", "dc2_like"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<T> a = convert<T, double>(matrices::find_generator(name).value().make());
        expect_exact<T>(a, random_vector<T>(random, a.columns));
        expect_exact<T>(a, std::vector<T>(static_cast<std::size_t>(a.columns), T(1)));
        std::vector<T> sparse(static_cast<std::size_t>(a.columns), T(0));
        sparse[sparse.size() / 2] = T(3);
        expect_exact<T>(a, sparse);
    }
}

// Promise: cuda/csr.hpp, "of the width that they have on the host"
TYPED_TEST(CudaSpmv, GivesTheBitsOfTheCpuWithOffsetsThatTheMatrixHasIn32Bits) {
    using T = TypeParam;
    Random random(32);
    std::vector<std::int64_t> lengths{9000, 0};
    for (int i = 0; i < 2000; ++i) lengths.push_back(random.between(0, 20));
    const CsrMatrix<T> a = random_rows<T>(random, 700, lengths);
    const testing::WithNarrowOffsets<T> narrow(a);
    const cuda::DeviceCsrMatrix<T> on_device(0, narrow.view());
    EXPECT_NE(on_device.view().row_offsets.template as<std::int32_t>(), nullptr);  // not widened on the way
    const std::vector<T> x = random_vector<T>(random, a.columns);
    for (const cuda::OffsetWidth width : {cuda::OffsetWidth::automatic, cuda::OffsetWidth::wide})
        expect_exact<T>(narrow.view(), x, width);
}

/// A copy of a with values that cancel in pairs, and something tiny behind them in rows of odd length.
template <class T>
CsrMatrix<T> with_rows_that_cancel(CsrMatrix<T> a) {
    for (std::int64_t row = 0; row < a.rows; ++row) {
        auto k = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row)]);
        const auto end = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row) + 1]);
        for (; k + 1 < end; k += 2) a.values[k + 1] = -a.values[k];
        if (k < end) a.values[k] = std::is_same_v<T, double> ? T(0x1p-300) : T(0x1p-90);
    }
    return a;
}

// A first try that leaves rows open is left out for some products, tile by tile and long row by long row.
TYPED_TEST(CudaSpmv, GivesTheBitsOfTheCpuWhileRowsBeginAndCeaseToCancel) {
    using T = TypeParam;
    Random random(18);
    std::vector<std::int64_t> lengths{9'001, 600'001, 1'400, 0, 577, 30'000, 1'100'001, 2'200'001};  // two are never tried
    for (int i = 0; i < 3'000; ++i) lengths.push_back(random.between(0, 30));
    const CsrMatrix<T> a = with_rows_that_cancel(random_rows<T>(random, 5'000, lengths));
    const OnDevice<T> on_device(a);
    const std::vector<T> y(lengths.size(), T(1));
    const std::vector<T> ones(5'000, T(1));
    std::vector<T> few = ones;  // some rows cancel, others of their tile do not
    for (int i = 0; i < 50; ++i) few[static_cast<std::size_t>(random.between(0, 4'999))] = random.number<T>(0);
    for (int product = 0; product < 40; ++product) {
        SCOPED_TRACE(product);
        const bool cancels = product < 2 || product == 20 || product == 21;
        const bool partly = product == 19 || product == 39;
        on_device.expect_exact(1, cancels ? ones : partly ? few : random_vector<T>(random, a.columns), {}, 0, y);
    }
}

TYPED_TEST(CudaSpmv, GivesTheBitsOfTheCpuWithWideOffsets) {
    using T = TypeParam;
    Random random(17);
    const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 76, 700), random);
    expect_exact<T>(a, x, cuda::OffsetWidth::wide);
    const CsrMatrix<T> b = random_rows<T>(random, 3000, {0, 5, 70'000, 3, 1024, 1025, 0, 2049, 1, 0});
    expect_exact<T>(b, random_vector<T>(random, b.columns), cuda::OffsetWidth::wide);
}

// Promise: cuda/spmv.hpp, "The promises are those of solver::SpmvPlan<T>::multiply"
TYPED_TEST(CudaSpmv, KeepsTheWeakerPromisesToo) {
    using T = TypeParam;
    Random random(14);
    std::vector<Terms<T>> sums = testing::adversarial_rows<T>(random, 76, 70);
    for (const auto& made : testing::adversarial_classes<T>()) sums.push_back(made.make(random, 5000));
    const auto [a, x] = testing::matrix_of(sums, random);
    const OnDevice<T> on_device(a);
    const auto expected = testing::expected_rows<T>(a, x);
    const std::vector<T> y = testing::adversarial_addends(random, expected);
    for (const auto& [alpha, beta] : {std::pair{T(1), T(0)}, {T(-1), T(1)}, {T(0.1), T(3)}}) {
        const auto rows = testing::affine<T>(expected, alpha, beta, y);
        const std::vector<T> rounded = testing::rounded(rows);
        for (const SpmvKernel kernel : kernels)
            for (const Accuracy accuracy : all_accuracies) {
                const auto found = on_device.product(kernel, alpha, x, {}, beta, y, accuracy);
                EXPECT_EQ(testing::broken_promises<T>(found, rows, rounded, accuracy), "") << to_string(kernel);
                EXPECT_EQ(testing::differences<T>(on_device.product(kernel, alpha, x, {}, beta, y, accuracy), found), "");
            }
    }
}

TYPED_TEST(CudaSpmv, NeverLetsInfOrNanIntoARowThatDoesNotHaveIt) {
    using T = TypeParam;
    constexpr T inf = std::numeric_limits<T>::infinity();
    Random random(15);
    for (const T special : {inf, -inf, std::numeric_limits<T>::quiet_NaN()}) {
        std::vector<std::int64_t> lengths;
        for (int i = 0; i < 2000; ++i) lengths.push_back(random.between(0, i % 60 < 30 ? 6 : 40));
        lengths[77] = 3000;
        CsrMatrix<T> a = random_rows<T>(random, 50, lengths);
        std::vector<T> x = random_vector<T>(random, 51);
        x[0] = special;
        for (auto& column : a.column_indices)
            if (column == 0 && random.between(0, 9) != 0) column = 1;
        x[50] = special;
        a.columns = 51;
        for (T& value : a.values)
            if (random.between(0, 99) == 0) value = random.coin() ? special : T(0);
        expect_exact<T>(a, x);
    }
}

// Promise: cuda/spmv.hpp, "Rows that all exact products since the plan was made"
TYPED_TEST(CudaSpmv, RoundsAtOnceWhatIsHardAndLeavesEverythingAloneBehindAClosedGate) {
    using T = TypeParam;
    Random random(16);
    std::vector<Terms<T>> sums;
    for (const auto& made : testing::finite_adversarial_classes<T>())
        for (int i = 0; i < 20; ++i) sums.push_back(made.make(random, i < 18 ? 12 : 3000));
    const auto [a, x] = testing::matrix_of(sums, random);
    const cuda::DeviceCsrMatrix<T> matrix(0, a);
    const cuda::DeviceArray<T> on_device_x(0, std::span<const T>(x), "test");
    const std::vector<T> unread(static_cast<std::size_t>(a.rows), std::numeric_limits<T>::quiet_NaN());
    const std::vector<T> right = OnDevice<T>(a).expected(1, x, {}, 0, unread);
    const std::int32_t five = 5;
    const cuda::DeviceArray<std::int32_t> stage(0, std::span(&five, 1), "test");
    const cuda::Gate open{stage.data(), 1u << 5 | 1u << 2};
    const cuda::Gate closed{stage.data(), ~(1u << 5)};
    for (const SpmvKernel kernel : kernels) {
        const auto products = cuda::make_products(matrix.view(), kernel, nullptr);
        const std::vector<T> old(right.size(), T(77));
        cuda::DeviceArray<T> y(0, std::span<const T>(old), "test");
        const cuda::RowTask<T> task{.x = on_device_x.data(), .y = y.data()};
        std::vector<T> found(right.size());
        for (const Accuracy accuracy : all_accuracies) products->multiply(task, accuracy, nullptr, closed);
        products->multiply({.alpha = 0, .x = on_device_x.data(), .y = y.data()}, Accuracy::fast, nullptr, closed);
        y.copy_to(found);
        EXPECT_EQ(testing::differences<T>(found, old), "") << "through a closed gate";
        EXPECT_EQ(products->rows_not_certified(nullptr), 0);

        products->multiply(task, Accuracy::exact, nullptr, open);
        y.copy_to(found);
        EXPECT_EQ(testing::differences<T>(found, right), "");
        const std::int64_t hard = products->rows_not_certified(nullptr);
        EXPECT_GT(hard, 0);
        products->multiply(task, Accuracy::exact, nullptr, open);
        EXPECT_EQ(products->rows_not_certified(nullptr), 2 * hard);
    }
}

/// Columns of vectors that lie `stride` apart, in every mode, each behind a gate of its own, of which one is closed.
template <class T>
void expect_columns_as_if_alone(const CsrView<T>& a, std::int64_t count, Random& random,
                                cuda::OffsetWidth width = cuda::OffsetWidth::automatic) {
    const std::int64_t stride = std::max(a.rows, a.columns) + 3;
    const std::vector<T> x = random_vector<T>(random, count * stride);
    const std::vector<T> y = random_vector<T>(random, count * stride);
    const cuda::DeviceCsrMatrix<T> matrix(0, a);
    const cuda::DeviceArray<T> on_device_x(0, std::span(x), "test");
    std::vector<std::int32_t> stage_of(static_cast<std::size_t>(4 * count), 1);
    const std::int64_t closed = count / 2;
    stage_of[4 * closed] = 2;
    const cuda::DeviceArray<std::int32_t> stages(0, std::span<const std::int32_t>(stage_of), "test");
    const cuda::Columns columns{count, stride, 4};
    struct Factors {
        T alpha, beta;
        bool pair;
    };
    for (const SpmvKernel kernel : kernels) {
        const auto products = cuda::make_products(matrix.view(), kernel, nullptr, count, width);
        for (const Accuracy accuracy : all_accuracies)
            for (const Factors& by : {Factors{1, 0, false}, {-1, 1, false}, {-1, 1, true}, {0, 3, false}}) {
                cuda::DeviceArray<T> together(0, std::span(y), "test"), alone(0, std::span(y), "test");
                const auto task = [&](const cuda::DeviceArray<T>& out, std::int64_t offset) {
                    return cuda::RowTask<T>{.alpha = by.alpha,
                                            .x = on_device_x.data() + offset,
                                            .x_low = by.pair ? on_device_x.data() + offset : nullptr,
                                            .beta = by.beta,
                                            .y_in = out.data() + offset,
                                            .y = out.data() + offset};
                };
                products->multiply(task(together, 0), columns, accuracy, nullptr, {stages.data(), 1u << 1});
                for (std::int64_t j = 0; j < count; ++j)
                    if (j != closed) products->multiply(task(alone, j * stride), accuracy);
                std::vector<T> found(y.size()), expected(y.size());
                together.copy_to(found);
                alone.copy_to(expected);
                EXPECT_EQ(testing::differences<T>(found, expected), "")
                    << to_string(kernel) << ", " << to_string(accuracy) << ", alpha " << by.alpha << ", beta " << by.beta;
            }
    }
}

TYPED_TEST(CudaSpmv, MultipliesSeveralColumnsEachAsIfAlone) {
    using T = TypeParam;
    Random random(18);
    const std::vector<std::vector<std::int64_t>> shapes{
        {}, {0}, {7}, std::vector<std::int64_t>(3000, 5), {0, 5, 70'000, 0, 3, 1024, 1025, 2049, 0}};
    for (const auto& lengths : shapes)
        for (const std::int64_t count : {1, 2, 5}) {
            const CsrMatrix<T> a = random_rows<T>(random, 3000, lengths);
            expect_columns_as_if_alone<T>(a, count, random);
        }
    const CsrMatrix<T> a = convert<T, double>(matrices::find_generator("stencil27_12").value().make());
    expect_columns_as_if_alone<T>(a, 9, random);
    expect_columns_as_if_alone<T>(a, 3, random, cuda::OffsetWidth::wide);
    const auto [hard, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 38, 700), random);
    expect_columns_as_if_alone<T>(hard, 4, random);
}

TYPED_TEST(CudaSpmv, RefusesMoreColumnsThanItWasMadeFor) {
    using T = TypeParam;
    const CsrMatrix<T> a{1, 1, {0, 1}, {0}, {2}};
    const cuda::DeviceCsrMatrix<T> matrix(0, a);
    const cuda::DeviceArray<T> x(0, 3, "test"), y(0, 3, "test");
    x.fill_with_zeros();
    const auto products = cuda::make_products(matrix.view(), SpmvKernel::general, nullptr, 2);
    const cuda::RowTask<T> task{.x = x.data(), .y = y.data()};
    EXPECT_NO_THROW(products->multiply(task, {2, 1, 0}, Accuracy::exact, nullptr, {}));
    EXPECT_THROW(products->multiply(task, {3, 1, 0}, Accuracy::exact, nullptr, {}), InvalidArgument);
}

}  // namespace
}  // namespace solver
