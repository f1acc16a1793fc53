#include "matrices/generators.hpp"
#include "solver/bicgstab.hpp"
#include "solver/cuda.hpp"
#include "solver/spmv.hpp"

#include <gtest/gtest.h>

#include "support/products.hpp"

namespace solver {
namespace {

using testing::ExpectedSum;
using testing::Random;
using testing::Terms;

template <class T>
using Span = std::span<const T>;

template <class T>
class CudaPacked : public ::testing::Test {
protected:
    void SetUp() override {
        if (cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
    }
};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(CudaPacked, ValueTypes);

template <class T>
SpmvPlan<T> packed_plan(const CsrView<T>& a) {
    return SpmvPlan<T>(a, Device::cuda(0), SpmvOptions{.storage = SpmvStorage::packed});
}

template <class T>
std::vector<T> product(const SpmvPlan<T>& plan, T alpha, Span<T> x, T beta, Span<T> y, Accuracy accuracy) {
    std::vector<T> result(y.begin(), y.end());
    plan.multiply(alpha, x, beta, result, accuracy);
    return result;
}

/// run(plan, accuracy) in every mode keeps its promise, twice with the same bits.
template <class T, class Run>
void expect_kept(const SpmvPlan<T>& plan, const std::vector<ExpectedSum<T>>& rows, const Run& run) {
    const std::vector<T> rounded = testing::rounded(rows);
    for (const Accuracy accuracy : all_accuracies) {
        const std::vector<T> found = run(plan, accuracy);
        EXPECT_EQ(testing::broken_promises<T>(found, rows, rounded, accuracy), "");
        EXPECT_EQ(testing::differences<T>(found, run(plan, accuracy)), "") << "of two runs";
    }
}

template <class T>
void expect_products_kept(const CsrView<T>& a, Span<T> x) {
    Random random(99);
    const SpmvPlan<T> plan = packed_plan(a);
    ASSERT_EQ(plan.describe().storage, SpmvStorage::packed);
    const auto sums = testing::expected_rows(a, x);
    const std::vector<T> nothing(sums.size(), std::numeric_limits<T>::quiet_NaN());
    const std::vector<T> y = testing::adversarial_addends(random, sums);
    for (const T alpha : {T(1), T(-1), T(0.1)})
        for (const T beta : {T(0), T(1), T(3)}) {
            SCOPED_TRACE(::testing::Message() << "alpha " << alpha << ", beta " << beta);
            const std::vector<T>& addend = beta == 0 ? nothing : y;
            expect_kept<T>(plan, testing::affine<T>(sums, alpha, beta, addend), [&](const SpmvPlan<T>& by, Accuracy accuracy) {
                return product<T>(by, alpha, x, beta, addend, accuracy);
            });
        }
    std::vector<T> x_low;
    for (const T element : x) x_low.push_back(std::isfinite(element) ? random.number<T>(-25) * element : T(0));
    expect_kept<T>(plan, testing::affine<T>(testing::expected_rows<T>(a, x, x_low), -1, 1, y),
                   [&](const SpmvPlan<T>& by, Accuracy accuracy) {
                       std::vector<T> r(y.size());
                       by.residual(y, x, x_low, r, accuracy);
                       return r;
                   });
}

template <class T>
std::vector<T> random_vector(Random& random, std::int64_t n) {
    std::vector<T> x;
    for (std::int64_t i = 0; i < n; ++i) x.push_back(random.number<T>(static_cast<int>(random.between(-3, 3))));
    return x;
}

template <class T>
CsrMatrix<T> random_matrix(Random& random, std::int64_t columns, const std::vector<std::int64_t>& lengths) {
    CsrMatrix<T> a;
    a.rows = static_cast<std::int64_t>(lengths.size());
    a.columns = columns;
    for (const std::int64_t length : lengths) {
        for (std::int64_t i = 0; i < length; ++i) {
            a.column_indices.push_back(static_cast<std::int32_t>(random.between(0, columns - 1)));
            a.values.push_back(random.number<T>(static_cast<int>(random.between(-2, 2))));
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    return a;
}

TYPED_TEST(CudaPacked, KeepsItsPromisesForAnyShape) {
    using T = TypeParam;
    Random random(1);
    const std::vector<std::vector<std::int64_t>> shapes{
        {},
        {0},
        {1},
        {3000},
        {40'000},
        std::vector<std::int64_t>(10'000, 0),
        std::vector<std::int64_t>(5'001, 1),
        std::vector<std::int64_t>(5'001, 29),
        {0, 0, 5, 0, 70'000, 0, 3, 1024, 1025, 1023, 2049, 0, 0},
        {3, 300'000, 1},
    };
    for (const auto& lengths : shapes) {
        const CsrMatrix<T> a = random_matrix<T>(random, 3000, lengths);
        expect_products_kept<T>(a, random_vector<T>(random, a.columns));
    }
}

TYPED_TEST(CudaPacked, KeepsItsPromisesForRowsOfAllLengthsMixed) {
    using T = TypeParam;
    Random random(2);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < 9'000; ++i) lengths.push_back(random.between(0, random.between(1, 70)));
    for (int i = 0; i < 300; ++i)
        lengths.push_back(random.between(0, 3) == 0 ? random.between(200, 5000) : random.between(0, 9));
    for (const std::int64_t columns : {300, 60'000})
        expect_products_kept<T>(random_matrix<T>(random, columns, lengths), random_vector<T>(random, columns));
}

TYPED_TEST(CudaPacked, KeepsItsPromisesForAdversarialRows) {
    using T = TypeParam;
    Random random(3);
    for (const std::int64_t longest : {30, 70, 700}) {
        const auto [a, x] = testing::matrix_of(testing::adversarial_rows<T>(random, 76, longest), random);
        expect_products_kept<T>(a, x);
    }
}

/// Every encoding of values, with slices of every encoding of columns.
TYPED_TEST(CudaPacked, KeepsItsPromisesInEveryEncoding) {
    using T = TypeParam;
    Random random(4);
    for (const std::int64_t different : {1, 3, 256, 257, 2000, -1, 0}) {  // -1: floats; 0: any
        SCOPED_TRACE(different);
        CsrMatrix<T> a = random_matrix<T>(random, 300'000, std::vector<std::int64_t>(16'000, 6));
        std::vector<T> values(static_cast<std::size_t>(std::max<std::int64_t>(different, 0)));
        for (T& value : values) value = random.number<T>(static_cast<int>(random.between(-9, 9)));
        for (std::int64_t row = 0; row < a.rows; ++row)
            for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
                const std::int64_t width = std::int64_t{1} << (row < 4'000 ? 7 : row < 8'000 ? 14 : 17);
                const std::int64_t column = row < 12'000 ? random.between(0, width) : row + 40 * (k - a.row_offsets[row]);
                a.column_indices[k] = static_cast<std::int32_t>(column);
                if (different > 0) a.values[k] = values[static_cast<std::size_t>(random.between(0, different - 1))];
                if (different < 0) a.values[k] = static_cast<float>(a.values[k]);
            }
        expect_products_kept<T>(a, random_vector<T>(random, a.columns));
    }
}

TYPED_TEST(CudaPacked, HasTheBitsOfTheCpuForStencilsAndPowerLaws) {
    using T = TypeParam;
    Random random(5);
    for (const char* name : {"stencil27_20", "poisson2d_100", "power_law_20000"}) {
        SCOPED_TRACE(name);
        const CsrMatrix<T> a = convert<T, double>(matrices::find_generator(name).value().make());
        const SpmvPlan<T> plan = packed_plan<T>(a);
        const SpmvPlan<T> on_cpu(a, Device::cpu());
        const std::vector<T> y(static_cast<std::size_t>(a.rows));
        for (const std::vector<T>& x : {random_vector<T>(random, a.columns), std::vector<T>(y.size(), T(1))})
            EXPECT_EQ(testing::differences<T>(product<T>(plan, 1, x, 0, y, Accuracy::exact),
                                              product<T>(on_cpu, 1, x, 0, y, Accuracy::exact)),
                      "");
    }
}

TYPED_TEST(CudaPacked, TakesOtherValuesInTheSamePattern) {
    using T = TypeParam;
    Random random(6);
    CsrMatrix<T> a = random_matrix<T>(random, 600, std::vector<std::int64_t>(3000, 7));
    a.row_offsets.back() += 5000;  // and a long row
    for (int k = 0; k < 5000; ++k) a.column_indices.push_back(k % 600);
    a.values.assign(a.column_indices.size(), T(3));
    const std::vector<T> x = random_vector<T>(random, a.columns);
    std::vector<T> values(a.values.size());
    for (T& value : values) value = random.number<T>();
    SpmvPlan<T> plan = packed_plan<T>(a);
    plan.update_values(values);
    CsrMatrix<T> b = a;
    b.values = values;
    const auto rows = testing::expected_rows<T>(b, x);
    const std::vector<T> y(static_cast<std::size_t>(a.rows));
    EXPECT_EQ(testing::differences<T>(product<T>(plan, 1, x, 0, y, Accuracy::exact), testing::rounded(rows)), "");
}

TYPED_TEST(CudaPacked, SolvesWithTheBitsOfCsr) {
    using T = TypeParam;
    const CsrMatrix<T> a = convert<T, double>(matrices::find_generator("convection_diffusion_60").value().make());
    const auto solve_with = [&](const SpmvPlan<T>& plan) {
        const auto m = make_preconditioner<T>(PreconditionerKind::jacobi, a.view(), Accuracy::exact);
        const std::vector<T> b(static_cast<std::size_t>(a.rows), T(1));
        std::vector<T> x(b.size());
        BicgstabOptions options;
        options.accuracy = Accuracy::exact;
        options.tolerance = 1e-6;
        bicgstab<T>(plan, *m, b, x, {}, options);
        return x;
    };
    const std::vector<T> from_csr = solve_with(SpmvPlan<T>(a, Device::cuda(0)));
    EXPECT_EQ(testing::differences<T>(solve_with(packed_plan<T>(a)), from_csr), "");
}

}  // namespace
}  // namespace solver
