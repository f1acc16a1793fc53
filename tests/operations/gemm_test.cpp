#include "solver/gemm.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/devices.hpp"
#include "support/fenced.hpp"
#include "support/floating_point_environment.hpp"
#include "support/products.hpp"
#include "support/targets.hpp"
#include "support/values.hpp"

namespace solver {
namespace {

using testing::ExpectedSum;
using testing::for_each_target;
using testing::infinity;
using testing::nan_value;
using testing::Random;
using testing::same_bits;
using testing::Terms;

template <class T>
class Gemm : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, ValueTypes);

/// Where the elements of a matrix lie in memory. What lies between them is NaN.
enum class Layout { columns, rows, columns_with_gaps, rows_with_gaps };
constexpr Layout layouts[] = {Layout::columns, Layout::rows, Layout::columns_with_gaps, Layout::rows_with_gaps};

/// The layouts of A, B and C.
using Layouts = std::array<Layout, 3>;

const std::vector<Layouts>& all_layouts() {
    static const std::vector<Layouts> all = [] {
        std::vector<Layouts> made;
        for (const Layout a : layouts)
            for (const Layout b : layouts)
                for (const Layout c : layouts) made.push_back({a, b, c});
        return made;
    }();
    return all;
}

/// A few that every layout of every matrix occurs in.
const std::vector<Layouts> some_layouts = {{Layout::columns, Layout::columns, Layout::columns},
                                           {Layout::rows, Layout::columns_with_gaps, Layout::rows},
                                           {Layout::columns_with_gaps, Layout::rows_with_gaps, Layout::columns_with_gaps},
                                           {Layout::rows_with_gaps, Layout::rows, Layout::rows_with_gaps}};

/// Numbers by rows.
template <class T>
struct Matrix {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<T> values;

    Matrix() = default;
    Matrix(std::int64_t rows, std::int64_t columns, T value = 0)
        : rows(rows), columns(columns), values(static_cast<std::size_t>(rows * columns), value) {}

    T& at(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * columns + j)]; }
    T at(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i * columns + j)]; }
};

/// A matrix in memory, one element after where that was allocated.
template <class T>
class Stored {
public:
    Stored(const Matrix<T>& matrix, Layout layout) : view_{matrix.rows, matrix.columns, 1, 1, nullptr} {
        const bool by_rows = layout == Layout::rows || layout == Layout::rows_with_gaps;
        const bool gaps = layout == Layout::columns_with_gaps || layout == Layout::rows_with_gaps;
        std::int64_t& step = by_rows ? view_.row_stride : view_.column_stride;
        step = std::max<std::int64_t>(by_rows ? matrix.columns : matrix.rows, 1) + (gaps ? 3 : 0);
        memory_.assign(static_cast<std::size_t>(step * (by_rows ? matrix.rows : matrix.columns) + 2), nan_value<T>);
        view_.data = memory_.data() + 1;
        for (std::int64_t i = 0; i < matrix.rows; ++i)
            for (std::int64_t j = 0; j < matrix.columns; ++j) at(i, j) = matrix.at(i, j);
    }
    Stored(const Stored&) = delete;
    Stored& operator=(const Stored&) = delete;

    T& at(std::int64_t i, std::int64_t j) { return view_.data[i * view_.row_stride + j * view_.column_stride]; }
    const MutableDenseView<T>& view() const { return view_; }

    /// The elements by rows, all else still NaN.
    std::vector<T> elements() {
        std::vector<T> found;
        for (std::int64_t i = 0; i < view_.rows; ++i)
            for (std::int64_t j = 0; j < view_.columns; ++j) found.push_back(std::exchange(at(i, j), nan_value<T>));
        for (const T other : memory_) EXPECT_TRUE(same_bits(other, nan_value<T>)) << "written between the elements";
        return found;
    }

private:
    std::vector<T> memory_;
    MutableDenseView<T> view_;
};

/// alpha A B + beta C, in one way of doing it.
template <class T>
struct Problem {
    Matrix<T> a;
    Matrix<T> b;
    T alpha = 1;
    T beta = 0;
    Matrix<T> c;

    Problem(Matrix<T> a, Matrix<T> b) : a(std::move(a)), b(std::move(b)), c(this->a.rows, this->b.columns, nan_value<T>) {}

    std::vector<T> product(const Device& device, Accuracy accuracy, const Layouts& layout = some_layouts[0],
                           const GemmOptions& options = {}) const {
        const Stored<T> stored_a(a, layout[0]);
        const Stored<T> stored_b(b, layout[1]);
        Stored<T> stored_c(c, layout[2]);
        gemm(alpha, stored_a.view(), stored_b.view(), beta, stored_c.view(), accuracy, device, options);
        return stored_c.elements();
    }
};

template <class T>
ExpectedSum<T> expected_element(const Matrix<T>& a, const Matrix<T>& b, std::int64_t i, std::int64_t j) {
    ExpectedSum<T> sum;
    for (std::int64_t k = 0; k < a.columns; ++k) sum.add_product(a.at(i, k), b.at(k, j));
    return sum;
}

/// A B by rows.
template <class T>
std::vector<ExpectedSum<T>> expected_product(const Matrix<T>& a, const Matrix<T>& b) {
    std::vector<ExpectedSum<T>> sums;
    sums.reserve(static_cast<std::size_t>(a.rows * b.columns));
    for (std::int64_t i = 0; i < a.rows; ++i)
        for (std::int64_t j = 0; j < b.columns; ++j) sums.push_back(expected_element(a, b, i, j));
    return sums;
}

/// work(device) by 1 to 3 threads on every target of the processor, and on every CUDA device.
template <class Work>
void for_each_device(const Work& work) {
    for_each_target([&] {
        for (const int threads : {1, 2, 3}) {
            SCOPED_TRACE(::testing::Message() << threads << " threads");
            work(Device::cpu(threads));
        }
    });
    for (const Device& device : testing::cuda_devices()) {
        SCOPED_TRACE(to_string(device));
        work(device);
    }
}

/// The promises of every mode on every device, and the same bits again; on the processor for any number of threads.
template <class T>
void expect_kept(const Problem<T>& problem, const std::vector<ExpectedSum<T>>& sums,
                 const std::vector<Layouts>& layouts = some_layouts) {
    const auto expected = testing::affine<T>(sums, problem.alpha, problem.beta, problem.c.values);
    const std::vector<T> rounded = testing::rounded(expected);
    std::size_t next = 0;
    for (const Accuracy accuracy : all_accuracies) {
        for_each_target([&] {
            const std::vector<T> first = problem.product(Device::cpu(1), accuracy, layouts[next++ % layouts.size()]);
            EXPECT_EQ(testing::broken_promises<T>(first, expected, rounded, accuracy), "");
            for (const int threads : {1, 2, 3}) {
                const std::vector<T> again = problem.product(Device::cpu(threads), accuracy, layouts[next++ % layouts.size()]);
                if (accuracy == Accuracy::exact)
                    EXPECT_EQ(testing::differences<T>(again, rounded), "") << threads << " threads";
                else
                    EXPECT_EQ(testing::broken_promises<T>(again, expected, rounded, accuracy), "") << threads << " threads";
            }
        });
        for (const Device& device : testing::cuda_devices())
            for (const Layouts& layout : layouts) {
                const std::vector<T> found = problem.product(device, accuracy, layout);
                EXPECT_EQ(testing::broken_promises<T>(found, expected, rounded, accuracy), "") << to_string(device);
                EXPECT_EQ(testing::differences<T>(found, problem.product(device, accuracy, layout)), "") << "of two runs";
            }
    }
}

template <class T>
Matrix<T> random_matrix(Random& random, std::int64_t rows, std::int64_t columns, int exponents = 4) {
    Matrix<T> made(rows, columns);
    for (T& value : made.values) value = random.number<T>(static_cast<int>(random.between(-exponents, exponents)));
    return made;
}

template <class T>
Matrix<T> part_of(const Matrix<T>& whole, std::int64_t rows, std::int64_t columns) {
    Matrix<T> made(rows, columns);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j) made.at(i, j) = whole.at(i, j);
    return made;
}

TYPED_TEST(Gemm, KeepsItsPromisesForAnyNumbersOfRowsAndColumns) {
    using T = TypeParam;
    Random random(1);
    const Matrix<T> a = random_matrix<T>(random, 99, 6);
    const Matrix<T> b = random_matrix<T>(random, 6, 50);
    const auto sums = expected_product(a, b);
    const auto check = [&](std::int64_t rows, std::int64_t columns) {
        SCOPED_TRACE(::testing::Message() << rows << " x " << columns);
        std::vector<ExpectedSum<T>> expected;
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) expected.push_back(sums[static_cast<std::size_t>(i * 50 + j)]);
        expect_kept<T>({part_of(a, rows, 6), part_of(b, 6, columns)}, expected);
    };
    for (const std::int64_t rows :
         {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 23, 24, 25, 47, 48, 49, 95, 96, 97, 99})
        check(rows, rows % 7 + 1);
    for (const std::int64_t columns : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 23, 24, 25, 50})
        check(columns % 5 + 14, columns);
    check(0, 0);
    check(99, 50);
}

TYPED_TEST(Gemm, KeepsItsPromisesForAnyNumberOfProducts) {
    using T = TypeParam;
    Random random(2);
    for (const std::int64_t inner : {0, 1, 2, 3, 7, 31, 64, 255, 256, 257, 511, 512, 513, 1300}) {
        SCOPED_TRACE(inner);
        const Matrix<T> a = random_matrix<T>(random, 9, inner);
        const Matrix<T> b = random_matrix<T>(random, inner, 7);
        expect_kept<T>({a, b}, expected_product(a, b));
    }
}

TYPED_TEST(Gemm, KeepsItsPromisesInAllLayouts) {
    using T = TypeParam;
    Random random(3);
    const Matrix<T> a = random_matrix<T>(random, 29, 21);
    const Matrix<T> b = random_matrix<T>(random, 21, 19);
    Problem<T> problem(a, b);
    const auto sums = expected_product(a, b);
    problem.alpha = T(-0.3);
    problem.beta = 2;
    problem.c.values = testing::adversarial_addends(random, sums);
    const auto expected = testing::affine<T>(sums, problem.alpha, problem.beta, problem.c.values);
    const std::vector<T> rounded = testing::rounded(expected);
    for_each_device([&](const Device& device) {
        for (const Layouts& layout : all_layouts())
            for (const Accuracy accuracy : all_accuracies)
                EXPECT_EQ(testing::broken_promises<T>(problem.product(device, accuracy, layout), expected, rounded, accuracy),
                          "");
    });
}

/// Sampled elements of a product of many blocks, beta C included.
TYPED_TEST(Gemm, KeepsItsPromisesInManyBlocks) {
    using T = TypeParam;
    Random random(4);
    const Matrix<T> a = random_matrix<T>(random, 631, 35);
    const Matrix<T> b = random_matrix<T>(random, 35, 859);
    Problem<T> problem(a, b);
    problem.beta = -1;
    problem.c = random_matrix<T>(random, 631, 859, 12);
    std::vector<std::size_t> places;
    std::vector<ExpectedSum<T>> expected;
    for (int sample = 0; sample < 400; ++sample) {
        const std::int64_t i = sample < 20 ? 630 : random.between(0, 630);
        const std::int64_t j = sample % 20 == 0 ? 858 : random.between(0, 858);
        places.push_back(static_cast<std::size_t>(i * 859 + j));
        expected.push_back(expected_element(a, b, i, j).affine(T(1), T(-1), problem.c.at(i, j)));
    }
    const std::vector<T> rounded = testing::rounded(expected);
    for_each_device([&](const Device& device) {
        for (const Accuracy accuracy : all_accuracies) {
            const std::vector<T> product = problem.product(device, accuracy);
            std::vector<T> found;
            for (const std::size_t place : places) found.push_back(product[place]);
            EXPECT_EQ(testing::broken_promises<T>(found, expected, rounded, accuracy), "");
        }
    });
}

TYPED_TEST(Gemm, GivesTheSameBitsForAnyNumberOfThreadsOnTheProcessor) {
    using T = TypeParam;
    Random random(5);
    const Problem<T> problem(random_matrix<T>(random, 151, 317), random_matrix<T>(random, 317, 103));
    const auto expect_same = [&](Accuracy accuracy, const GemmOptions& options) {
        const std::vector<T> expected = problem.product(Device::cpu(1), accuracy, some_layouts[0], options);
        for (const int threads : {2, 3}) {
            const std::vector<T> found = problem.product(Device::cpu(threads), accuracy, some_layouts[0], options);
            EXPECT_EQ(testing::differences<T>(found, expected), "")
                << to_string(accuracy) << " " << to_string(options.summation);
        }
    };
    for_each_target([&] {
        for (const GemmSummation summation : all_gemm_summations) expect_same(Accuracy::fast, {summation, 48});
        for (const Accuracy accuracy : {Accuracy::compensated, Accuracy::exact}) expect_same(accuracy, {});
    });
}

/// Row i of A times column i of B is an adversarial sum, and one of its neighbours' class.
template <class T>
Problem<T> adversarial_diagonal(Random& random, std::int64_t size, std::size_t terms, std::size_t first_class,
                                std::size_t classes) {
    std::vector<Terms<T>> made;
    std::size_t inner = 0;
    for (std::int64_t i = 0; i < size; ++i) {
        const auto& kind = testing::adversarial_classes<T>()[first_class + static_cast<std::size_t>(i) % classes];
        made.push_back(kind.make(random, terms));
        inner = std::max(inner, made.back().size());
    }
    Problem<T> problem(Matrix<T>(size, static_cast<std::int64_t>(inner)), Matrix<T>(static_cast<std::int64_t>(inner), size));
    for (std::int64_t i = 0; i < size; ++i)
        for (std::size_t k = 0; k < made[i].size(); ++k) {
            problem.a.at(i, static_cast<std::int64_t>(k)) = made[i].a[k];
            problem.b.at(static_cast<std::int64_t>(k), i) = made[i].b[k];
        }
    return problem;
}

TYPED_TEST(Gemm, RoundsAdversarialSumsOnce) {
    using T = TypeParam;
    Random random(6);
    const auto classes = testing::adversarial_classes<T>();
    for (std::size_t kind = 0; kind < classes.size(); ++kind) {
        SCOPED_TRACE(classes[kind].name);
        const Problem<T> problem = adversarial_diagonal<T>(random, 20, 24, kind, 1);
        expect_kept(problem, expected_product(problem.a, problem.b));
    }
}

TYPED_TEST(Gemm, RoundsAdversarialSumsOfAllClassesOnce) {
    using T = TypeParam;
    Random random(7);
    const std::size_t classes = testing::adversarial_classes<T>().size();
    for (int trial = 0; trial < 4; ++trial) {
        const Problem<T> problem = adversarial_diagonal<T>(random, 31, 20 + 13 * static_cast<std::size_t>(trial), 0, classes);
        expect_kept(problem, expected_product(problem.a, problem.b));
    }
}

/// Rows and columns apart by up to 1e+-300 (float 1e+-30), and elements within them.
TYPED_TEST(Gemm, KeepsItsPromisesForEveryScaling) {
    using T = TypeParam;
    Random random(8);
    const int reach = std::is_same_v<T, float> ? 60 : 500;
    for (const int spread : {0, 3, reach}) {
        SCOPED_TRACE(spread);
        Matrix<T> a = random_matrix<T>(random, 33, 40, spread);
        Matrix<T> b = random_matrix<T>(random, 40, 21, spread);
        for (std::int64_t i = 0; i < a.rows; ++i) {
            const auto exponent = static_cast<int>(random.between(-reach, reach));
            for (std::int64_t k = 0; k < a.columns; ++k) a.at(i, k) = std::ldexp(a.at(i, k), exponent);
        }
        for (std::int64_t j = 0; j < b.columns; ++j) {
            const auto exponent = static_cast<int>(random.between(-reach, reach));
            for (std::int64_t k = 0; k < a.columns; ++k) b.at(k, j) = std::ldexp(b.at(k, j), exponent);
        }
        expect_kept<T>({a, b}, expected_product(a, b));
    }
}

/// Rows that sum to a tie but for errors far below: 1 + 2^-s + half an ulp, and 700 terms that are each just too small to be
/// seen beside 2^-s, in one direction together. Whoever believes to have lost less than that rounds the tie to even.
template <class T>
Matrix<T> chains_of_lost_errors() {
    constexpr int digits = std::numeric_limits<T>::digits;
    const int last = std::is_same_v<T, float> ? 100 : 60;
    Matrix<T> a(4 * last, 700);
    for (int row = 0; row < a.rows; ++row) {
        const int s = row / 4 + 1;
        const T sign = (row & 1) != 0 ? T(-1) : T(1);
        const T half_ulp = std::ldexp(T(1), -digits);
        a.at(row, 0) = sign < 0 ? 1 + 2 * half_ulp : T(1);  // odd or even, so that the tie goes the other way
        a.at(row, 1) = half_ulp;
        a.at(row, 2) = std::ldexp(T(1), -s);
        a.at(row, 699) = s < digits - 1 ? T(0) : -a.at(row, 2);
        const int lost = (row & 2) != 0 ? s + digits + 1 : s + 54;
        for (int k = 3; k < 699; ++k) a.at(row, k) = sign * std::ldexp(T(1) - std::ldexp(T(1), -9), -lost);
    }
    return a;
}

TYPED_TEST(Gemm, KnowsWhatChainsOfErrorsLose) {
    using T = TypeParam;
    const Matrix<T> a = chains_of_lost_errors<T>();
    Matrix<T> b(700, 5, T(1));
    for (std::int64_t k = 0; k < 700; ++k) {
        b.at(k, 1) = -4;
        b.at(k, 3) = k < 300 ? T(1) : T(0);
        b.at(k, 4) = T(0.5);
    }
    expect_kept<T>({a, b}, expected_product(a, b));
}

/// Rows of one strip that sum to a tie but for a last product, 2^-96, which vanishes beside what the others leave below an
/// anchor's ulp; that product decides. P is 2^7, so 2^-96 is far below 2^-96 P, from where on nothing can be lost.
TEST(GemmOfDoubles, KnowsThatWhatBreaksATieMayBeLost) {
    constexpr std::int64_t terms = 256;
    Random random(17);
    Matrix<double> a(40, terms);
    for (std::int64_t row = 0; row < a.rows; ++row) {
        std::int64_t sum = 0;  // in units of 2^-52
        for (std::int64_t k = 0; k + 2 < terms; ++k) {
            const std::int64_t value = random.between(std::int64_t{1} << 50, std::int64_t{1} << 51);
            a.at(row, k) = std::ldexp(static_cast<double>(value), -52);
            sum += value;
        }
        // The sum is between 64 and 128, where an ulp is 2^-46, 2^6 units.
        const std::int64_t half_ulp = 1 << 5, excess = sum % (2 * half_ulp);
        a.at(row, terms - 2) = std::ldexp(static_cast<double>(3 * half_ulp - excess), -52);
        a.at(row, terms - 1) = std::ldexp(row % 2 == 0 ? 1.0 : -1.0, -96);
    }
    const Matrix<double> ones(terms, 5, 1.0);
    expect_kept<double>({a, ones}, expected_product(a, ones));
}

/// Rows of one strip in which nearly every addition loses just less than half an ulp, always upwards: 0.62 of what the first
/// kernel allows for (the sum of 2^floor(log2 k) beside 1.05 times that of k). The sum without what is lost lies below a
/// midpoint, the true one above.
TEST(GemmOfDoubles, KnowsWhatAStripOfUnluckyRoundingsLoses) {
    constexpr std::int64_t terms = 256;
    // In units of 2^-100: just too large for what follows a 1 in a strip whose norms multiply to 16, half an ulp and an ulp
    // of 1.
    constexpr std::int64_t seen = std::int64_t{1} << 53, midpoint = std::int64_t{1} << 47, ulp = 2 * midpoint;
    constexpr std::int64_t distance = 76 * 256;
    const auto in_units = [](std::int64_t units) { return std::ldexp(static_cast<double>(units), -100); };
    Matrix<double> a(2, terms);
    a.at(0, 0) = 1;
    std::int64_t sum = 0, lost = 0;
    for (std::int64_t k = 1; k < terms - 1; ++k) {
        const int above = std::bit_width(static_cast<std::uint64_t>(sum + seen)) - 54;
        const std::int64_t half = std::int64_t{1} << std::max(above, 0);
        const std::int64_t term = seen - 1 - (sum + seen - half) % (2 * half);
        const auto rounded = static_cast<std::int64_t>(static_cast<double>(sum) + static_cast<double>(term));
        lost += sum + term - rounded;
        sum = rounded;
        a.at(0, k) = in_units(term);
    }
    a.at(0, terms - 1) = in_units((midpoint - distance - sum % ulp + ulp) % ulp);
    ASSERT_GT(lost, distance);
    for (std::int64_t k = 0; k < terms; ++k) a.at(1, k) = -a.at(0, k);
    const Matrix<double> ones(terms, 5, 1.0);
    expect_kept<double>({a, ones}, expected_product(a, ones));
}

/// (1 + e)^2 - (1 + e) = e + e^2, e = 2^-52, beside 2^44 - 2^44: products are multiples of 2^-104 alone, not of 1, as they
/// would be if the lowest bit of 1 + e were overlooked, and e^2 is lost.
TEST(GemmOfDoubles, KnowsTheLowestBitsOfItsElements) {
    constexpr double above_one = 1 + 0x1p-52;
    Matrix<double> a(40, 4), b(4, 5);
    for (std::int64_t row = 0; row < a.rows; ++row) {
        a.at(row, 0) = a.at(row, 1) = above_one;
        a.at(row, 2) = a.at(row, 3) = 0x1p22;
    }
    for (std::int64_t column = 0; column < b.columns; ++column) {
        b.at(0, column) = above_one;
        b.at(1, column) = -1;
        b.at(2, column) = 0x1p22;
        b.at(3, column) = -0x1p22;
    }
    expect_kept<double>({a, b}, expected_product(a, b));
}

/// A strip of unlucky roundings of floats, which are summed in double: 1 + 2^-24 - 200 u, then 253 products of just less than
/// u, which is half an ulp.
TEST(GemmOfFloats, KnowsWhatAStripOfUnluckyRoundingsLoses) {
    constexpr std::int64_t terms = 256;
    Matrix<float> a(2, terms, 0x1p-26f), b(terms, 5, 0x1p-27f - 0x1p-36f);
    for (std::int64_t j = 0; j < b.columns; ++j) {
        b.at(0, j) = 1;
        b.at(1, j) = 0x1p-12f;
        b.at(2, j) = 0x1p-25f;
    }
    a.at(0, 0) = 1;
    a.at(0, 1) = 0x1p-12f;
    a.at(0, 2) = -25 * 0x1p-25f;
    for (std::int64_t k = 0; k < terms; ++k) a.at(1, k) = -a.at(0, k);
    expect_kept<float>({a, b}, expected_product(a, b));
}

/// Every element a sum of three products of which each vanishes, by itself, in rounding.
TYPED_TEST(Gemm, AddsProductsThatUnderflow) {
    using T = TypeParam;
    const int half = (std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits) / 2;
    const Matrix<T> a(30, 3, std::ldexp(T(0.6), half));
    for (const T factor : {T(0.5), T(0.7), T(-0.6), T(1.6)}) {
        const Matrix<T> b(3, 20, std::ldexp(factor, half));
        expect_kept<T>({a, b}, expected_product(a, b));
    }
}

/// Integers, whose sums are exact, among them zeros and ties; rows and columns of zeros; the identity.
TYPED_TEST(Gemm, RoundsIntegersTiesAndZeros) {
    using T = TypeParam;
    Random random(9);
    for (const std::int64_t largest : {1, 3, 4000}) {
        SCOPED_TRACE(largest);
        Matrix<T> a(37, 70);
        Matrix<T> b(70, 26);
        for (T& value : a.values) value = static_cast<T>(random.between(-largest, largest));
        for (T& value : b.values) value = static_cast<T>(random.between(-largest, largest));
        for (std::int64_t k = 0; k < 70; ++k) a.at(5, k) = b.at(k, 7) = random.coin() ? T(0) : -T(0);
        expect_kept<T>({a, b}, expected_product(a, b));
    }
    Matrix<T> identity(40, 40);
    for (std::int64_t i = 0; i < 40; ++i) identity.at(i, i) = 1;
    const Matrix<T> b = random_matrix<T>(random, 40, 30);
    expect_kept<T>({identity, b}, expected_product(identity, b));
}

TYPED_TEST(Gemm, GivesInfAndNanWhereTheyBelong) {
    using T = TypeParam;
    Random random(10);
    const std::vector<T> specials = {
        infinity<T>, -infinity<T>, nan_value<T>, std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min(), -T(0)};
    for (const std::int64_t inner : {1, 5, 300}) {
        SCOPED_TRACE(inner);
        Matrix<T> a = random_matrix<T>(random, 30, inner);
        Matrix<T> b = random_matrix<T>(random, inner, 20);
        for (int place = 0; place < 12; ++place) {
            const auto special = [&] { return specials[static_cast<std::size_t>(random.between(0, 5))]; };
            a.at(random.between(0, 29), random.between(0, inner - 1)) = special();
            b.at(random.between(0, inner - 1), random.between(0, 19)) = special();
            a.at(random.between(0, 29), random.between(0, inner - 1)) = 0;
        }
        Problem<T> problem(a, b);
        const auto sums = expected_product(a, b);
        expect_kept(problem, sums);
        problem.alpha = -2;
        problem.beta = 1;
        problem.c = random_matrix<T>(random, 30, 20);
        problem.c.values[3] = infinity<T>;
        problem.c.values[33] = nan_value<T>;
        expect_kept(problem, sums);
    }
}

TYPED_TEST(Gemm, RoundsOnceForEveryAlphaAndBeta) {
    using T = TypeParam;
    Random random(11);
    const std::size_t finite_classes = testing::finite_adversarial_classes<T>().size();
    Problem<T> problem = adversarial_diagonal<T>(random, 17, 16, 0, finite_classes);
    const auto sums = expected_product(problem.a, problem.b);
    const std::vector<ExpectedSum<T>> nothing(sums.size());
    const std::vector<T> addends = testing::adversarial_addends(random, sums);
    Problem<T> unread(Matrix<T>(17, problem.a.columns, nan_value<T>), Matrix<T>(problem.b.rows, 17, nan_value<T>));
    for (const T alpha : testing::factors<T>())
        for (const T beta : testing::factors<T>()) {
            SCOPED_TRACE(::testing::Message() << "alpha " << alpha << ", beta " << beta);
            Problem<T>& used = alpha == 0 ? unread : problem;
            used.alpha = alpha;
            used.beta = beta;
            used.c.values.assign(addends.size(), nan_value<T>);
            if (beta != 0) used.c.values = addends;
            expect_kept(used, alpha == 0 ? nothing : sums);
        }
}

/// What the header says of a summation, with 1 % for what is not of first order: the error per u |a||b|.
double promised(GemmSummation summation, std::int64_t inner, std::int64_t block) {
    const auto n = static_cast<double>(inner);
    const auto b = static_cast<double>(std::min(block, inner));
    switch (summation) {
        case GemmSummation::automatic:
        case GemmSummation::plain:
            return 1.01 * n;
        case GemmSummation::kahan:
        case GemmSummation::doubly_compensated:
            return 1.01 * (b + 2);
        case GemmSummation::pairwise:
            return 1.01 * (b + std::ceil(std::log2(n / b)) + 1);
        case GemmSummation::dot2:
            return 1.01 * (block == 1 ? 1 : b + 1);
    }
    return 0;
}

TYPED_TEST(Gemm, AddsUpBlocksAsAccuratelyAsItsOptionsSay) {
    using T = TypeParam;
    Random random(12);
    const std::int64_t inner = 1000;
    for (const bool positive : {true, false}) {
        Matrix<T> a = random_matrix<T>(random, 11, inner, 1);
        Matrix<T> b = random_matrix<T>(random, inner, 9, 1);
        if (positive) {
            for (T& value : a.values) value = std::abs(value);
            for (T& value : b.values) value = std::abs(value);
        }
        const Problem<T> problem(a, b);
        const auto sums = expected_product(a, b);
        for_each_device([&](const Device& device) {
            for (const GemmSummation summation : all_gemm_summations)
                for (const std::int64_t block : {1, 16, 32, 64, 100, 256, 300, 999, 1000, 5000}) {
                    const auto found = problem.product(device, Accuracy::fast, some_layouts[0], {summation, block});
                    const double bound = promised(summation, inner, block) * double{unit_roundoff<T>};
                    for (std::size_t i = 0; i < sums.size(); ++i)
                        ASSERT_TRUE(sums[i].exact().within(found[i], bound * sums[i].magnitudes()))
                            << to_string(summation) << ", blocks of " << block << ", element " << i;
                }
        });
    }
}

TYPED_TEST(Gemm, KeepsTheRulesOfSpecialValuesWhicheverWayBlocksAreAddedUp) {
    using T = TypeParam;
    Matrix<T> a(4, 200, T(1));
    const Matrix<T> b(200, 1, T(1));
    a.at(0, 0) = a.at(1, 100) = a.at(2, 199) = infinity<T>;
    for (std::int64_t k = 0; k < 200; ++k) a.at(3, k) = k % 2 == 0 ? T(1) : T(-1);
    const Problem<T> problem(a, b);
    const std::vector<T> expected = {infinity<T>, infinity<T>, infinity<T>, T(0)};
    for_each_device([&](const Device& device) {
        for (const GemmSummation summation : all_gemm_summations)
            for (const std::int64_t block : {1, 8, 64})
                EXPECT_EQ(testing::differences<T>(problem.product(device, Accuracy::fast, some_layouts[0], {summation, block}),
                                                  expected),
                          "")
                    << to_string(summation) << ", blocks of " << block;
    });
}

TYPED_TEST(Gemm, NeverReadsBeyondTheEndOfAMatrix) {
    using T = TypeParam;
    using testing::Fenced;
    Random random(13);
    for (const std::int64_t rows : {1, 3, 16, 25, 49})
        for (const std::int64_t columns : {1, 4, 7, 13})
            for (const std::int64_t inner : {1, 5, 33}) {
                const Fenced<T> a(random_matrix<T>(random, rows, inner).values);
                const Fenced<T> b(random_matrix<T>(random, inner, columns).values);
                const Fenced<T> c(random_matrix<T>(random, rows, columns).values);
                const auto view = [](const Fenced<T>& of, std::int64_t m, std::int64_t n, bool by_rows) {
                    return MutableDenseView<T>{m, n, by_rows ? n : 1, by_rows ? 1 : m, of.view().data()};
                };
                for (int layout = 0; layout < 8; ++layout)
                    for_each_target([&] {
                        for (const Accuracy accuracy : all_accuracies)
                            gemm(T(0.5), view(a, rows, inner, (layout & 1) != 0), view(b, inner, columns, (layout & 2) != 0),
                                 T(1), view(c, rows, columns, (layout & 4) != 0), accuracy, Device::cpu(1));
                    });
            }
}

TYPED_TEST(Gemm, IsDeafToTheCallersFloatingPointEnvironment) {
    using T = TypeParam;
    Random random(14);
    Problem<T> problem = adversarial_diagonal<T>(random, 70, 30, 0, testing::adversarial_classes<T>().size());
    problem.c = random_matrix<T>(random, 70, 70);
    problem.beta = 1;
    const T three_eta = 3 * std::numeric_limits<T>::denorm_min();
    const auto results = [&] {
        std::vector<std::vector<T>> all;
        for (const T alpha : {T(1), three_eta, T(0)})
            for (const Accuracy accuracy : all_accuracies) {
                problem.alpha = alpha;
                all.push_back(problem.product(Device::cpu(3), accuracy));
            }
        return all;
    };
    for_each_target([&] {
        const auto expected = results();
        std::vector<std::vector<std::vector<T>>> found;
        testing::for_each_hostile_environment([&] { found.push_back(results()); });
        for (const auto& all : found)
            for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(testing::differences<T>(all[i], expected[i]), "") << i;
    });
}

template <class T>
void multiply(const DenseView<T>& a, const DenseView<T>& b, const MutableDenseView<T>& c, const GemmOptions& options = {}) {
    gemm(T(1), a, b, T(0), c, Accuracy::fast, Device::cpu(1), options);
}

TYPED_TEST(Gemm, SaysWhichSizesDoNotAgree) {
    using T = TypeParam;
    using ::testing::ThrowsMessage;
    std::vector<T> memory(100);
    T* const data = memory.data();
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 2, data}, {4, 5, 1, 4, data + 10}, {2, 5, 1, 2, data + 40});
        },
        ThrowsMessage<DimensionMismatch>("gemm: A is 2 x 3, B is 4 x 5; A needs as many columns as B has rows"));
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 2, data}, {3, 5, 1, 3, data + 10}, {5, 2, 1, 5, data + 40});
        },
        ThrowsMessage<DimensionMismatch>("gemm: C is 5 x 2, A is 2 x 3 and B is 3 x 5; C needs to be 2 x 5"));
    EXPECT_THAT(
        [&] {
            multiply<T>({-2, 3, 1, 2, data}, {3, 5, 1, 3, data + 10}, {-2, 5, 1, 5, data + 40});
        },
        ThrowsMessage<InvalidArgument>("gemm: A is -2 x 3; sizes are 0 or more"));
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 2, data}, {3, 5, 1, 3, nullptr}, {2, 5, 1, 2, data + 40});
        },
        ThrowsMessage<InvalidArgument>("gemm: B is 3 x 5 and has no data"));
}

TYPED_TEST(Gemm, SaysWhichStridesItCannotUse) {
    using T = TypeParam;
    using ::testing::HasSubstr;
    using ::testing::ThrowsMessage;
    std::vector<T> memory(200);
    T* const data = memory.data();
    const MutableDenseView<T> c{2, 5, 1, 2, data + 100};
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 1, data}, {3, 5, 1, 3, data + 20}, c);
        },
        ThrowsMessage<InvalidArgument>(
            "gemm: A is 2 x 3 with row_stride 1 and column_stride 1; one stride has to be 1 and the other at least the "
            "length of what it steps over: 2 by columns, 3 by rows"));
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 2, data}, {3, 5, 2, 6, data + 20}, c);
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("B is 3 x 5 with row_stride 2 and column_stride 6")));
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 2, data}, {3, 5, 1, 3, data + 20}, {2, 5, -5, 1, data + 100});
        },
        ThrowsMessage<InvalidArgument>(HasSubstr("C is 2 x 5 with row_stride -5 and column_stride 1")));
    EXPECT_THAT(
        [&] {
            multiply<T>({2, 3, 1, 2, data}, {3, 5, 1, 3, data + 20}, c, {GemmSummation::kahan, 0});
        },
        ThrowsMessage<InvalidArgument>("gemm: a block of 0 products; 1 or more are needed"));
    multiply<T>({1, 3, 1, 7, data}, {3, 1, 9, 1, data + 20}, {1, 1, 5, 1, data + 100});  // one row, one column: any distance
    multiply<T>({0, 3, 0, 0, nullptr}, {3, 5, 1, 3, data}, {0, 5, 0, 0, nullptr});       // nothing: any strides
}

TYPED_TEST(Gemm, RefusesACThatOverlapsAOrB) {
    using T = TypeParam;
    using ::testing::HasSubstr;
    using ::testing::ThrowsMessage;
    std::vector<T> memory(400);
    T* const data = memory.data();
    const auto refused = [&](const char* name, const DenseView<T>& a, const DenseView<T>& b, const MutableDenseView<T>& c) {
        EXPECT_THAT([&] { multiply<T>(a, b, c); },
                    ThrowsMessage<InvalidArgument>(HasSubstr(std::string("C overlaps ") + name + " in memory")));
    };
    const DenseView<T> a{4, 4, 1, 4, data};
    const DenseView<T> b{4, 4, 1, 4, data + 100};
    refused("A", a, b, {4, 4, 1, 4, data});
    refused("A", a, b, {4, 4, 1, 4, data + 15});
    refused("B", a, b, {4, 4, 1, 4, data + 85});
    refused("B", a, b, {4, 4, 4, 1, data + 100});
    multiply<T>(a, b, {4, 4, 1, 4, data + 16});
    multiply<T>(a, b, {4, 4, 1, 4, data + 84});

    // Blocks of one matrix of 20 x 20: the rows and columns that each begins at.
    for (const bool by_rows : {false, true}) {
        const auto block = [&](std::int64_t i, std::int64_t j) {
            return MutableDenseView<T>{5, 5, by_rows ? 20 : 1, by_rows ? 1 : 20, data + (by_rows ? 20 * i + j : i + 20 * j)};
        };
        for (const auto& [i, j] : {std::pair{5, 0}, {0, 5}, {15, 15}, {0, 15}, {15, 0}, {10, 3}})
            multiply<T>(block(0, 0), block(5, 5), block(i, j));
        for (const auto& [i, j] : {std::pair{4, 4}, {0, 4}, {4, 0}, {0, 0}}) {
            refused("A", block(0, 0), block(10, 10), block(i, j));
            refused("A", block(i, j), block(10, 10), block(0, 0));
            refused("B", block(15, 15), block(3, 6), block(3 + i, 6 - j));
        }
    }
}

TEST(GemmSummation, HasNamesThatReadBack) {
    for (const GemmSummation summation : all_gemm_summations)
        EXPECT_EQ(gemm_summation_from_text(to_string(summation)), summation);
    EXPECT_THAT([] { gemm_summation_from_text("Kahan"); },
                ::testing::ThrowsMessage<InvalidArgument>("summation 'Kahan' is not known; choose automatic, plain, kahan, "
                                                          "doubly-compensated, pairwise or dot2"));
}

}  // namespace
}  // namespace solver
