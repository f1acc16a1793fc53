#include "kernels/complex.hpp"

#include "solver/complex.hpp"
#include "solver/cuda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/complex_numbers.hpp"
#include "support/expected.hpp"
#include "support/on_cuda.hpp"
#include "support/products.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace solver {
namespace {

using testing::complex_matrix;
using testing::complex_number;
using testing::complex_vector;
using testing::Random;
using testing::same_bits;
using ::testing::ThrowsMessage;

template <class T>
class CudaComplexSpmv : public testing::OnCuda {
protected:
    using C = std::complex<T>;
    using Vector = std::vector<C>;

    /// A vector on the device whose parts lie across multiples of a number's size.
    class Shifted {
    public:
        explicit Shifted(const Vector& z) : memory_(0, 2 * std::ssize(z) + 1, "test"), size_(z.size()) {
            std::vector<T> parts(1);
            for (const C number : z) parts.insert(parts.end(), {number.real(), number.imag()});
            memory_.copy_from(parts);
        }
        C* data() const { return reinterpret_cast<C*>(memory_.data() + 1); }
        Vector host() const {
            std::vector<T> parts(static_cast<std::size_t>(memory_.size()));
            memory_.copy_to(parts);
            Vector z;
            for (std::size_t i = 0; i < size_; ++i) z.emplace_back(parts[2 * i + 1], parts[2 * i + 2]);
            return z;
        }

    private:
        cuda::DeviceArray<T> memory_;
        std::size_t size_;
    };

    struct Task {
        C alpha;
        const Vector& x;
        const Vector& x_low;
        C beta;
        const Vector& y;
    };

    static Vector by_processor(const CsrMatrix<C>& a, const Task& task, Accuracy accuracy) {
        Vector y = task.y;
        const SpmvTask<C> real{.alpha = task.alpha, .x = task.x, .x_low = task.x_low, .beta = task.beta, .y_in = y, .y = y};
        SpmvPlan<C>(a.view(), Device::cpu()).multiply(std::span(&real, 1), accuracy);
        return y;
    }

    /// y is y_in, or another vector.
    static Vector by_device(const cuda::SpmvPlan<C>& plan, const Task& task, Accuracy accuracy, bool in_place) {
        const Shifted x(task.x), x_low(task.x_low), y_in(task.y), other(Vector(task.y.size(), C(7, 7)));
        const Shifted& y = in_place ? y_in : other;
        plan.multiply({.alpha = task.alpha,
                       .x = x.data(),
                       .x_low = task.x_low.empty() ? nullptr : x_low.data(),
                       .beta = task.beta,
                       .y_in = y_in.data(),
                       .y = y.data()},
                      accuracy);
        return y.host();
    }

    static void expect_same(const Vector& found, const Vector& expected) {
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_TRUE(same_bits(found[i], expected[i])) << i << ": " << found[i] << " instead of " << expected[i];
    }

    static void expect_bits_of_processor(const CsrMatrix<C>& a, const Task& task) {
        SCOPED_TRACE(::testing::Message() << a.rows << " rows, alpha " << task.alpha << ", beta " << task.beta
                                          << (task.x_low.empty() ? "" : ", a pair"));
        const Vector expected = by_processor(a, task, Accuracy::exact);
        const cuda::DeviceCsrMatrix<C> on_device(0, a.view());
        for (const SpmvKernel kernel : {SpmvKernel::automatic, SpmvKernel::general, SpmvKernel::adaptive}) {
            const cuda::SpmvPlan<C> plan(on_device.view(), kernel);
            for (const bool in_place : {false, true}) expect_same(by_device(plan, task, Accuracy::exact, in_place), expected);
        }
    }
};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaComplexSpmv, ValueTypes);

/// Factors that are zero, real, imaginary and both; the range of exponents makes sums cancel, and products underflow in part.
// Promise: cuda/spmv.hpp, "T is float, double or std::complex of one."
// Promise: cuda/spmv.hpp, "Complex alpha and beta with imaginary"
TYPED_TEST(CudaComplexSpmv, GivesTheBitsOfTheProcessorForAnyFactors) {
    using C = std::complex<TypeParam>;
    Random random(1);
    const int wide = std::is_same_v<TypeParam, float> ? 30 : 250;
    for (const int exponents : {0, 20, wide}) {
        const auto a = complex_matrix<TypeParam>(random, 300, 200, 6, exponents);
        const auto x = complex_vector<TypeParam>(random, 200, exponents), y = complex_vector<TypeParam>(random, 300, exponents);
        const auto x_low = complex_vector<TypeParam>(random, 200, exponents);
        const C any = complex_number<TypeParam>(random, 4), other = complex_number<TypeParam>(random, 4);
        for (const C alpha : {C(0), C(1), C(-1), C(3), C(0, 1), any})
            for (const C beta : {C(0), C(1), C(0, -2), other})
                for (const auto& low : {std::vector<C>(), x_low}) this->expect_bits_of_processor(a, {alpha, x, low, beta, y});
    }
}

/// What two exact products leave open is summed by a warp: terms far below what two numbers hold of a row's sum break a tie.
TYPED_TEST(CudaComplexSpmv, RoundsOnceWhatTwoProductsDoNotDecide) {
    using T = TypeParam;
    using C = std::complex<T>;
    const T u = std::numeric_limits<T>::epsilon() / 2;
    const T far = std::ldexp(T(1), std::is_same_v<T, float> ? -100 : -300);
    for (const std::int64_t rows : {1, 31, 33, 300}) {
        CsrMatrix<C> a{rows, 100, {0}, {}, {}};
        std::vector<C> y;
        for (std::int64_t i = 0; i < rows; ++i) {
            const T sign = static_cast<T>(i % 3 - 1);
            a.column_indices.insert(a.column_indices.end(), {0, 1});
            a.values.insert(a.values.end(), {C(1), C(u)});
            for (std::int32_t j = 2; i % 2 == 0 && j < 100; ++j) {
                a.column_indices.push_back(j);
                a.values.emplace_back(sign * far, far);
            }
            a.row_offsets.push_back(a.nonzeros());
            y.emplace_back(sign * far, -sign * far);
        }
        const std::vector<C> ones(100, C(1));
        for (const C beta : {C(0), C(0, 1), C(1)}) this->expect_bits_of_processor(a, {C(1, 1), ones, {}, beta, y});
    }
}

TYPED_TEST(CudaComplexSpmv, GivesTheBitsOfTheProcessorForAnyShape) {
    using T = TypeParam;
    Random random(2);
    const std::array<std::int64_t, 3> shapes[] = {{0, 1, 0},     {0, 5, 0},        {5, 1, 0},       {1, 1, 1},
                                                  {3, 700, 300}, {1000, 1000, 40}, {20'000, 500, 3}};
    for (const auto& [rows, columns, length] : shapes) {
        const auto a = complex_matrix<T>(random, rows, columns, length);
        const auto x = complex_vector<T>(random, a.columns), y = complex_vector<T>(random, rows);
        this->expect_bits_of_processor(a, {1, x, {}, 0, y});
        this->expect_bits_of_processor(a, {{2, 1}, x, {}, {1, -3}, y});
    }
}

/// In matrix, vectors and factors.
TYPED_TEST(CudaComplexSpmv, HasTheSpecialValuesOfTheProcessor) {
    using T = TypeParam;
    using C = std::complex<T>;
    Random random(3);
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const T most = std::numeric_limits<T>::max(), least = std::numeric_limits<T>::denorm_min();
    auto a = complex_matrix<T>(random, 200, 60, 4);
    auto x = complex_vector<T>(random, 60), y = complex_vector<T>(random, 200);
    const C specials[] = {{inf, 1}, {-1, -inf}, {nan, 0}, {most, -most}, {least, 0}, {0, -least}, {0, 0}};
    for (std::size_t i = 0; i < std::size(specials); ++i) {
        a.values[11 * i] = specials[i];
        x[3 * i] = specials[i];
        y[7 * i + 1] = specials[i];
    }
    for (const C alpha : {C(1), C(1, 2), C(0, inf), C(inf, 1), C(1, nan), C(0, most)})
        for (const C beta : {C(0), C(1, 1), C(-inf, 1), C(0, least), C(most, -most)})
            this->expect_bits_of_processor(a, {alpha, x, {}, beta, y});
}

// Promise: cuda/spmv.hpp, "A complex matrix is multiplied as solver::SpmvPlan"
// Promise: complex.hpp, "It need not outlive the plan."
// Promise: complex.hpp, "A copy of the real form in the host's memory"
// Promise: complex.hpp, "A matrix that lies on a CUDA device (cuda.hpp) is checked there"
TYPED_TEST(CudaComplexSpmv, NeedsTheMatrixNoLonger) {
    using T = TypeParam;
    using C = std::complex<T>;
    Random random(4);
    const auto a = complex_matrix<T>(random, 100, 100, 8);
    const auto x = complex_vector<T>(random, 100), y = complex_vector<T>(random, 100);
    const testing::WithNarrowOffsets<C> narrow(a);
    std::optional<cuda::DeviceCsrMatrix<C>> on_device(std::in_place, 0, narrow.view());
    const cuda::SpmvPlan<C> there(on_device->view(), SpmvKernel::automatic);
    const SpmvPlan<C> from_here(on_device->view());
    on_device.reset();
    const typename TestFixture::Task task{{0, 1}, x, {}, 1, y};
    const std::vector<C> expected = this->by_processor(a, task, Accuracy::exact);
    this->expect_same(this->by_device(there, task, Accuracy::exact, true), expected);
    std::vector<C> found = y;
    from_here.multiply(task.alpha, x, task.beta, found, Accuracy::exact);
    this->expect_same(found, expected);
    EXPECT_GT(there.workspace_bytes(), 4 * 12 * a.nonzeros() / 2);
    const CsrMatrix<T> real = real_form(a.view());
    EXPECT_EQ(std::vector<T>(from_here.real().matrix().values.begin(), from_here.real().matrix().values.end()), real.values);
}

/// In fast and compensated as accurate as the real form's rows, and the same bits each time.
TYPED_TEST(CudaComplexSpmv, KeepsTheWeakerPromisesToo) {
    using T = TypeParam;
    using C = std::complex<T>;
    Random random(5);
    const auto a = complex_matrix<T>(random, 500, 300, 20);
    const auto x = complex_vector<T>(random, 300), y = complex_vector<T>(random, 500);
    const typename TestFixture::Task task{-1, x, {}, 2, y}, turned{{0, 1}, x, {}, 2, y};
    const cuda::DeviceCsrMatrix<C> on_device(0, a.view());
    const cuda::SpmvPlan<C> plan(on_device.view(), SpmvKernel::automatic);
    const CsrMatrix<T> real = real_form(a.view());
    const auto real_x = real_view(std::span<const C>(x)), real_y = real_view(std::span<const C>(y));
    for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated}) {
        const std::vector<C> found = this->by_device(plan, task, accuracy, false);
        this->expect_same(this->by_device(plan, task, accuracy, true), found);
        const auto parts = real_view(std::span<const C>(found));
        for (std::int64_t i = 0; i < real.rows; ++i) {
            testing::ExpectedSum<T> sum;
            for (std::int64_t k = real.row_offsets[i]; k < real.row_offsets[i + 1]; ++k)
                sum.add_product(-real.values[k], real_x[real.column_indices[k]]);
            sum.add_product(2, real_y[i]);
            EXPECT_TRUE(sum.allows(parts[i], accuracy)) << to_string(accuracy) << ", part " << i;
        }
        this->expect_same(this->by_device(plan, turned, accuracy, true), this->by_processor(a, turned, Accuracy::exact));
    }
}

TYPED_TEST(CudaComplexSpmv, MakesTheRealFormOfTheProcessor) {
    using T = TypeParam;
    using C = std::complex<T>;
    Random random(6);
    for (const std::int64_t rows : {0, 1, 7, 1000}) {
        auto a = complex_matrix<T>(random, rows, 400, 9);
        if (rows > 1) a.values[0] = {0, -std::numeric_limits<T>::denorm_min()};
        const CsrMatrix<T> expected = real_form(a.view());
        const cuda::DeviceCsrMatrix<C> on_device(0, a.view());
        const cuda::DeviceMatrix<T> made = cuda::real_form(on_device.view(), nullptr);
        CsrMatrix<T> found{made.rows, made.columns, {}, {}, {}};
        found.row_offsets.resize(static_cast<std::size_t>(made.row_offsets.size()));
        found.column_indices.resize(static_cast<std::size_t>(made.nonzeros()));
        found.values.resize(static_cast<std::size_t>(made.nonzeros()));
        made.row_offsets.copy_to(found.row_offsets);
        made.column_indices.copy_to(found.column_indices);
        made.values.copy_to(found.values);
        EXPECT_EQ(found.rows, expected.rows);
        EXPECT_EQ(found.columns, expected.columns);
        EXPECT_EQ(found.row_offsets, expected.row_offsets);
        EXPECT_EQ(found.column_indices, expected.column_indices);
        EXPECT_EQ(found.values, expected.values);
    }
}

// Promise: cuda/spmv.hpp, "Throws InvalidArgument from 2^30 complex rows"
// Promise: complex.hpp, "Throws InvalidArgument, and what cuda.hpp says."
TYPED_TEST(CudaComplexSpmv, SaysWhatDoesNotFit) {
    using C = std::complex<TypeParam>;
    Random random(7);
    const cuda::DeviceCsrMatrix<C> a(0, complex_matrix<TypeParam>(random, 9, 9, 3).view());
    cuda::DeviceCsrView<C> wide = a.view(), narrow = a.view();
    wide.columns = std::int64_t{1} << 30;
    narrow.columns = 1;
    EXPECT_THAT([&] { cuda::SpmvPlan<C>(wide, SpmvKernel::automatic); },
                ThrowsMessage<InvalidArgument>("complex matrix: it is 9 x 1073741824; at most 1073741823 rows and columns are "
                                               "supported"));
    EXPECT_THAT([&] { SpmvPlan<C>{narrow}; }, ThrowsMessage<InvalidArgument>(::testing::HasSubstr("stands in column")));
}

}  // namespace
}  // namespace solver
