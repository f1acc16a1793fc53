#include "solver/spmv.hpp"

#include "solver/csr_matrix.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/spmv_executions.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::Execution;
using testing::executions;
using testing::nan_value;
using testing::product;
using testing::Random;
using testing::random_rows;
using testing::random_vector;
using testing::residual;
using testing::Span;
using testing::Spmv;

using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Spmv, ValueTypes);

// Promise: spmv.hpp, "Copies share what was made of the matrix"
TYPED_TEST(Spmv, PlansAreNeverEmpty) {
    using T = TypeParam;
    const CsrMatrix<T> a{2, 2, {0, 1, 2}, {1, 0}, {T(2), T(3)}};
    SpmvPlan<T> plan(a, Device::cpu(1));
    const SpmvPlan<T> moved(std::move(plan));
    SpmvPlan<T> assigned(a, Device::cpu(1));
    assigned = std::move(plan);
    const std::vector<T> x{1, 1}, expected{2, 3};
    for (const SpmvPlan<T>* const each :
         {static_cast<const SpmvPlan<T>*>(&plan), &moved, static_cast<const SpmvPlan<T>*>(&assigned)}) {
        std::vector<T> y(2);
        each->multiply(1, x, 0, y, Accuracy::exact);
        EXPECT_EQ(y, expected);
        EXPECT_EQ(each->rows(), 2);
    }
    EXPECT_EQ(plan.boundaries().data(), moved.boundaries().data());
}

/// With short rows, rows that threads share, and empty ones, in both storages.
// Promise: spmv.hpp, "Keeps a view; the matrix must outlive"
// Promise: spmv.hpp, "the caller's matrix as it is: nothing is copied"
// Promise: spmv.hpp, "For the library itself: what lies on the CUDA"
TYPED_TEST(Spmv, TakesRowOffsetsOf32BitsWhereTheyAre) {
    using T = TypeParam;
    Random random(18);
    std::vector<std::int64_t> lengths{30000};
    for (int i = 0; i < 3000; ++i) lengths.push_back(i % 7 == 0 ? 0 : random.between(1, 12));
    const CsrMatrix<T> a = random_rows<T>(random, 500, lengths);
    const testing::WithNarrowOffsets<T> narrow(a);
    const std::vector<T> x = random_vector<T>(random, a.columns), y(static_cast<std::size_t>(a.rows), T(1));
    const SpmvPlan<T> plan(narrow.view(), Device::cpu());
    EXPECT_EQ(plan.matrix().row_offsets.address(0), narrow.offsets().data());
    EXPECT_EQ(plan.matrix().column_indices.data(), narrow.view().column_indices.data());
    EXPECT_EQ(plan.matrix().values.data(), narrow.view().values.data());
    EXPECT_EQ(plan.on_device(), nullptr);
    for (const Execution& execution : executions())
        for (const Accuracy accuracy : all_accuracies)
            EXPECT_EQ(testing::differences<T>(product<T>(execution, T(1), narrow.view(), x, T(1), y, accuracy),
                                              product<T>(execution, T(1), a, x, T(1), y, accuracy)),
                      "")
                << execution << ", " << to_string(accuracy);
    const SpmvOptions packed{.storage = SpmvStorage::packed};
    std::vector<T> of_narrow(y.size()), of_wide(y.size());
    SpmvPlan<T>(narrow.view(), Device::cpu(2), packed).multiply(T(1), x, T(0), of_narrow, Accuracy::exact);
    SpmvPlan<T>(a, Device::cpu(2), packed).multiply(T(1), x, T(0), of_wide, Accuracy::exact);
    EXPECT_EQ(testing::differences<T>(of_narrow, of_wide), "");
}

// Promise: spmv.hpp, "SpmvPlan::multiply says the rest"
// Promise: spmv.hpp, "y = alpha A x + beta y for a product or two;"
TYPED_TEST(Spmv, GivesTheSameThroughTheFunctionForOneProduct) {
    using T = TypeParam;
    Random random(13);
    const CsrMatrix<T> a = random_rows<T>(random, 90, std::vector<std::int64_t>(70, 20));
    const std::vector<T> x = random_vector<T>(random, 90);
    std::vector<T> y = random_vector<T>(random, 70);
    const auto expected = testing::rounded(testing::affine<T>(testing::expected_rows<T>(a, x), 2, -1, y));
    spmv(T(2), a.view(), Span<T>(x), T(-1), std::span<T>(y), Accuracy::exact);
    EXPECT_EQ(testing::differences<T>(y, expected), "");
}

/// Short rows, more than one pass of them, and rows that threads share.
template <class T>
CsrMatrix<T> with_long_rows() {
    std::vector<Entry<T>> entries;
    constexpr std::int32_t n = 9000;
    for (std::int32_t i = 0; i < n; ++i) {
        const std::int32_t step = i % 4000 == 17 ? 1 : i % 11 == 0 ? 101 : 3001;
        for (std::int32_t j = i % step; j < n; j += step) entries.push_back({i, j, T(1 + (i * 7 + j * 13) % 17) / T(3)});
    }
    return csr_from_entries<T>(n, n, entries);
}

// Promise: spmv.hpp, "Each task as multiply and residual would do it"
// Promise: spmv.hpp, "One product of several that are made together"
// Promise: spmv.hpp, "not read where beta is 0"
TYPED_TEST(Spmv, MakesSeveralProductsEachAsIfAlone) {
    using T = TypeParam;
    const CsrMatrix<T> a = with_long_rows<T>();
    const auto n = static_cast<std::size_t>(a.rows);
    Random random(5);
    const auto vector = [&] {
        std::vector<T> x(n);
        for (T& element : x) element = static_cast<T>(random.between(-1000, 1000)) / T(7);
        return x;
    };
    const auto x = vector(), other_x = vector(), low = vector(), y = vector();
    for (const Execution& execution : executions())
        for (const Accuracy accuracy : all_accuracies) {
            const SpmvPlan<T> plan(a, execution.device, execution.kernel);
            std::vector<T> plain(n, nan_value<T>), scaled = y, residual(n), untouched = y;
            const SpmvTask<T> tasks[] = {
                {.x = x, .y = plain},
                {.alpha = T(0.3), .x = other_x, .beta = T(-2), .y_in = scaled, .y = scaled},
                {.alpha = -1, .x = x, .x_low = low, .beta = 1, .y_in = y, .y = residual},
                {.alpha = 0, .x = other_x, .beta = 1, .y_in = untouched, .y = untouched},
            };
            plan.multiply(tasks, accuracy);
            std::vector<T> plain_alone(n), scaled_alone = y, residual_alone(n);
            plan.multiply(T(1), x, T(0), plain_alone, accuracy);
            plan.multiply(T(0.3), other_x, T(-2), scaled_alone, accuracy);
            plan.residual(y, x, low, residual_alone, accuracy);
            EXPECT_EQ(plain, plain_alone);
            EXPECT_EQ(scaled, scaled_alone);
            EXPECT_EQ(residual, residual_alone);
            EXPECT_EQ(untouched, y);
        }
}

// Promise: spmv.hpp, "Building costs two binary searches"
// Promise: spmv.hpp, "On a CUDA device it keeps a copy of the matrix"
TYPED_TEST(Spmv, ServesSeveralThreadsAndCopiesAtOnce) {
    using T = TypeParam;
    const CsrMatrix<T> a = with_long_rows<T>();
    const auto n = static_cast<std::size_t>(a.rows);
    for (const Execution& execution : executions()) {
        SCOPED_TRACE(::testing::Message() << execution);
        const SpmvPlan<T> plan(a, execution.device, execution.kernel);
        std::vector<std::vector<T>> found(4), expected(4);
        std::vector<std::thread> threads;
        const auto multiply = [&, copy = plan](std::size_t i, std::vector<T>& y) {
            const std::vector<T> x(n, static_cast<T>(i) + T(0.1));
            y.resize(n);
            for (int again = 0; again < 3; ++again) copy.multiply(T(1), x, T(0), y, Accuracy::exact);
        };
        for (std::size_t i = 0; i < found.size(); ++i) multiply(i, expected[i]);
        for (std::size_t i = 0; i < found.size(); ++i) threads.emplace_back([&, i] { multiply(i, found[i]); });
        for (std::thread& thread : threads) thread.join();
        EXPECT_EQ(found, expected);
    }
}

// Promise: spmv.hpp, "The inverse of to_string"
// Promise: spmv.hpp, ""auto", "general" or "adaptive"."
// Promise: spmv.hpp, "Throws InvalidArgument that lists the choices."
// Promise: spmv.hpp, "A matrix that would be gone before the plan is used"
static_assert(std::is_constructible_v<SpmvPlan<double>, CsrMatrix<double>&, Device>);
static_assert(!std::is_constructible_v<SpmvPlan<double>, CsrMatrix<double>>);
static_assert(!std::is_constructible_v<SpmvPlan<float>, CsrMatrix<float>, Device>);
static_assert(!std::is_constructible_v<SpmvPlan<double>, CsrMatrix<double>, Device, SpmvOptions>);
static_assert(!std::is_constructible_v<SpmvPlan<double>, DenseMatrix<double>, Device>);

TEST(SpmvKernelNames, ReadBackWhatTheyWrite) {
    for (const SpmvKernel kernel : {SpmvKernel::automatic, SpmvKernel::general, SpmvKernel::adaptive})
        EXPECT_EQ(spmv_kernel_from_text(to_string(kernel)), kernel);
    EXPECT_THAT([] { spmv_kernel_from_text("fast"); },
                ::testing::ThrowsMessage<InvalidArgument>("SpMV kernel 'fast' is not known; choose auto, general or adaptive"));
}

// Promise: spmv.hpp, "general where equal shares of rows"
// Promise: spmv.hpp, "general or adaptive"
TEST(SpmvPlan, ChoosesTheKernelByTheBalanceOfEntries) {
    Random random(15);
    std::vector<std::int64_t> lengths(4000, 20);
    const Device device = Device::cpu(7);
    const CsrMatrix<double> even = random_rows<double>(random, 100, lengths);
    EXPECT_EQ(SpmvPlan<double>(even, device).kernel(), SpmvKernel::general);
    lengths[17] = 100000;
    const CsrMatrix<double> uneven = random_rows<double>(random, 100, lengths);
    EXPECT_EQ(SpmvPlan<double>(uneven, device).kernel(), SpmvKernel::adaptive);
}

// Promise: spmv.hpp, "Thread t works between boundaries"
// Promise: spmv.hpp, "equal numbers of rows; a row belongs to one thread"
// Promise: spmv.hpp, "equal numbers of entries and rows, counted together"
// Promise: spmv.hpp, "Where one thread's work begins"
TEST(SpmvPlan, CoversEveryEntryOnceAndInOrder) {
    Random random(16);
    for (int trial = 0; trial < 60; ++trial) {
        std::vector<std::int64_t> lengths;
        for (int i = 0; i < 40; ++i)
            lengths.push_back(random.between(0, 9) == 0 ? random.between(4000, 60000) : random.between(0, 9));
        const CsrMatrix<float> a = random_rows<float>(random, 9, lengths);
        for (const SpmvKernel kernel : {SpmvKernel::general, SpmvKernel::adaptive}) {
            const SpmvPlan<float> plan(a, Device::cpu(static_cast<int>(random.between(1, 40))), kernel);
            const auto boundaries = plan.boundaries();
            EXPECT_EQ(boundaries.front().row, 0);
            EXPECT_EQ(boundaries.front().entry, 0);
            EXPECT_EQ(boundaries.back().row, a.rows);
            EXPECT_EQ(boundaries.back().entry, a.nonzeros());
            const auto threads = static_cast<std::int64_t>(boundaries.size()) - 1;
            for (std::int64_t t = 1; t < threads; ++t) {
                const WorkBoundary at = boundaries[static_cast<std::size_t>(t)];
                const bool by_rows = kernel == SpmvKernel::general;
                const std::int64_t all = by_rows ? a.rows : a.rows + a.nonzeros(), done = by_rows ? at.row : at.row + at.entry;
                EXPECT_LE(std::abs(done * threads - all * t), threads * (by_rows ? 1 : 4097)) << "rows to 4096 are not shared";
            }
            for (std::size_t t = 1; t < boundaries.size(); ++t) {
                EXPECT_LE(boundaries[t - 1].row, boundaries[t].row);
                EXPECT_LE(boundaries[t - 1].entry, boundaries[t].entry);
                if (boundaries[t].row == a.rows) continue;
                if (kernel == SpmvKernel::general) {
                    EXPECT_EQ(boundaries[t].entry, a.row_offsets[boundaries[t].row]);
                }
                EXPECT_GE(boundaries[t].entry, a.row_offsets[boundaries[t].row]);
                EXPECT_LE(boundaries[t].entry, a.row_offsets[boundaries[t].row + 1]);
            }
        }
    }
}

}  // namespace
}  // namespace solver
