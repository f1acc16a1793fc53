#include "kernels/packed.hpp"

#include "matrices/generators.hpp"
#include "solver/bicgstab.hpp"
#include "solver/complex.hpp"
#include "solver/cuda.hpp"
#include "solver/spmv.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <tuple>

#include "support/complex_numbers.hpp"
#include "support/on_cuda.hpp"
#include "support/products.hpp"

namespace solver {
namespace {

using testing::ExpectedSum;
using testing::Random;
using testing::Terms;

template <class T>
using Span = std::span<const T>;

template <class T>
class CudaPacked : public testing::OnCuda {};
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

/// run(plan, accuracy) in every mode keeps its promise, by this plan and by one that has not multiplied yet with the same bits:
/// a plan remembers whether its first try was worth it.
template <class T, class Run>
void expect_kept(const CsrView<T>& a, const SpmvPlan<T>& plan, const std::vector<ExpectedSum<T>>& rows, const Run& run) {
    const std::vector<T> rounded = testing::rounded(rows);
    for (const Accuracy accuracy : all_accuracies) {
        const std::vector<T> found = run(plan, accuracy);
        EXPECT_EQ(testing::broken_promises<T>(found, rows, rounded, accuracy), "");
        EXPECT_EQ(testing::differences<T>(found, run(packed_plan(a), accuracy)), "") << "of two runs";
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
            expect_kept<T>(
                a, plan, testing::affine<T>(sums, alpha, beta, addend),
                [&](const SpmvPlan<T>& by, Accuracy accuracy) { return product<T>(by, alpha, x, beta, addend, accuracy); });
        }
    std::vector<T> x_low;
    for (const T element : x) x_low.push_back(std::isfinite(element) ? random.number<T>(-25) * element : T(0));
    expect_kept<T>(a, plan, testing::affine<T>(testing::expected_rows<T>(a, x, x_low), -1, 1, y),
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

/// To the bit.
template <class Number>
bool are_same(const Number& a, const Number& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}
/// Which ends in bytes that are nobody's.
bool are_same(const PackedSlice& a, const PackedSlice& b) {
    const auto members = [](const PackedSlice& s) {
        return std::tuple(s.first_step, s.first_offset, s.first_row, s.steps, s.common, s.offsets, s.rows, s.is_adjacent);
    };
    return members(a) == members(b);
}

template <class Element>
void expect_same_bytes(const char* what, const std::vector<Element>& host, const cuda::DeviceArray<Element>& device) {
    ASSERT_EQ(device.size(), static_cast<std::int64_t>(host.size())) << what;
    std::vector<Element> copy(host.size());
    device.copy_to(copy);
    for (std::size_t i = 0; i < host.size(); ++i)
        ASSERT_TRUE(are_same(copy[i], host[i])) << what << ", element " << i << " of " << host.size();
}

template <class T>
void expect_same_values(const PackedValues<T>& host, const cuda::PackedValuesOnDevice<T>& device) {
    ASSERT_EQ(device.encoding, host.encoding);
    expect_same_bytes("plain", host.plain, device.plain);
    expect_same_bytes("floats", host.floats, device.floats);
    expect_same_bytes("index8", host.index8, device.index8);
    expect_same_bytes("index16", host.index16, device.index16);
    expect_same_bytes("dictionary", host.dictionary, device.dictionary);
}

/// The device packs what the processor packs, byte by byte. Returns the latter.
template <class T>
PackedMatrix<T> expect_packed_alike(const CsrView<T>& a) {
    const cuda::DeviceCsrMatrix<T> on_device(0, a);
    const cuda::PackedOnDevice<T> device = cuda::pack(on_device.view(), nullptr);
    PackedMatrix<T> host = pack(a, cuda::packed_shape(a.rows, a.nonzeros()), 2);
    EXPECT_EQ(device.pattern->components, host.pattern->components);
    EXPECT_EQ(device.pattern->nonzeros, host.pattern->nonzeros);
    EXPECT_EQ(device.pattern->entries_in_slices, host.pattern->entries_in_slices);
    EXPECT_EQ(device.pattern->long_rows, host.pattern->long_rows);
    expect_same_bytes("slices", host.pattern->slices, device.pattern->slices);
    expect_same_bytes("row", host.pattern->row, device.pattern->row);
    expect_same_bytes("length", host.pattern->length, device.pattern->length);
    expect_same_bytes("base", host.pattern->base, device.pattern->base);
    expect_same_bytes("offsets", host.pattern->offsets, device.pattern->offsets);
    const auto& shares = device.pattern->shares;
    EXPECT_TRUE(std::equal(shares.begin(), shares.end(), host.pattern->shares.begin(), host.pattern->shares.end(),
                           are_same<PackedShare>))
        << "shares";
    expect_same_values(host.values, device.values);
    EXPECT_EQ(device.describe(nullptr).text, host.describe().text);
    return host;
}

TYPED_TEST(CudaPacked, PacksRowsOfAnyLengthsAsTheProcessorDoes) {
    using T = TypeParam;
    Random random(21);
    const auto lengths = [&](std::int64_t rows, const auto& of_row) {
        std::vector<std::int64_t> all;
        for (std::int64_t i = 0; i < rows; ++i) all.push_back(of_row(i));
        return all;
    };
    const std::vector<std::vector<std::int64_t>> shapes{
        {},
        {0},
        {1},
        {3000},
        {3, 300'000, 1},
        lengths(32, [](std::int64_t i) { return i % 2 * 4; }),  // half of the slots idle, and no more
        lengths(10'000, [](std::int64_t) { return 0; }),
        lengths(16'384, [](std::int64_t) { return 3; }),
        lengths(16'385, [](std::int64_t i) { return i % 2; }),
        lengths(40'000, [&](std::int64_t) { return random.between(0, random.between(1, 70)); }),
        lengths(40'000, [&](std::int64_t i) { return i < 17'000 ? 7 : random.between(0, 30); }),     // one window sorted
        lengths(20'000, [&](std::int64_t i) { return i % 400 == 0 ? random.between(17, 64) : 2; }),  // lonely rows
        lengths(20'000, [&](std::int64_t i) { return i % 100 == 0 ? 1 << random.between(4, 12) : 9; }),
    };
    for (std::size_t i = 0; i < shapes.size(); ++i)
        for (const std::int64_t columns : {40, 70'000}) {
            SCOPED_TRACE(::testing::Message() << "shape " << i << ", " << columns << " columns");
            expect_packed_alike<T>(random_matrix<T>(random, columns, shapes[i]));
        }
}

TYPED_TEST(CudaPacked, PacksMatricesWithRowOffsetsOf32Bits) {
    using T = TypeParam;
    Random random(22);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < 20'000; ++i) lengths.push_back(i % 5000 == 0 ? 3000 : random.between(0, 12));
    const CsrMatrix<T> a = random_matrix<T>(random, 70'000, lengths);
    expect_packed_alike<T>(testing::WithNarrowOffsets<T>(a).view());
}

/// Complex matrices in every encoding, and what is no pair of rows in the first, the last or a late one.
TYPED_TEST(CudaPacked, PacksPairsOfRowsAsTheProcessorDoes) {
    using T = TypeParam;
    Random random(23);
    for (const std::int64_t different : {1, 100, 2000, -1, 0})
        for (const std::int64_t columns : {120, 30'000, 200'000})
            for (const std::size_t rows : {1, 15, 16, 17, 8'192, 20'001}) {
                SCOPED_TRACE(::testing::Message() << different << " parts, " << rows << " x " << columns);
                std::vector<std::int64_t> lengths(rows);
                for (auto& length : lengths)
                    length = rows < 20                    ? 5
                             : rows % 3 != 0              ? random.between(0, random.between(1, 12))
                             : random.between(0, 15) == 0 ? 5
                                                          : 6;
                CsrMatrix<T> k = testing::random_pairs<T>(random, columns, lengths, different);
                EXPECT_EQ(expect_packed_alike<T>(k).pattern->components, 2);
                for (const std::int64_t entry : {std::int64_t{0}, k.nonzeros() / 2, k.nonzeros() - 1}) {
                    CsrMatrix<T> other = k;
                    other.values[entry] *= 3;
                    EXPECT_EQ(expect_packed_alike<T>(other).pattern->components, 1);
                }
            }
    // what ends in long rows is not paired; nor is what is real, or a stored zero
    EXPECT_EQ(expect_packed_alike<T>(testing::random_pairs<T>(random, 900, {500, 3, 3})).pattern->components, 1);
    const CsrMatrix<std::complex<T>> real{2, 2, {0, 1, 3}, {0, 0, 1}, {T(1), T(2), T(3)}};
    EXPECT_EQ(expect_packed_alike<T>(real_form(real.view())).pattern->components, 1);
    EXPECT_EQ(expect_packed_alike<T>(CsrMatrix<T>{2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, 0, 0, 1}}).pattern->components, 1);
}

/// Slices of one step each whose columns lie so far apart, from a first column on; and runs that end at the last column.
TYPED_TEST(CudaPacked, PacksColumnsAsTheProcessorDoesAtTheEdgesOfAllWidths) {
    using T = TypeParam;
    for (const std::int64_t width : {30, 31, 32, 255, 256, 65'535, 65'536, 99'000}) {
        CsrMatrix<T> a;
        a.rows = 96;
        a.columns = 100'000;
        for (std::int64_t row = 0; row < a.rows; ++row) {
            const std::int64_t column = row < 32   ? (row == 7 ? 500 + width : 500)
                                        : row < 64 ? a.columns - 64 + row
                                                   : width + row;
            a.column_indices.push_back(static_cast<std::int32_t>(column));
            if (row % 3 == 0 && row < 32) a.column_indices.push_back(3);
            a.row_offsets.push_back(static_cast<std::int64_t>(a.column_indices.size()));
        }
        a.values.assign(a.column_indices.size(), T(2));
        SCOPED_TRACE(width);
        expect_packed_alike<T>(a);
    }
}

template <class T>
CsrMatrix<T> with_values(Random& random, const std::vector<T>& values) {
    CsrMatrix<T> a = random_matrix<T>(random, 500, std::vector<std::int64_t>(80'000, 9));
    for (std::size_t k = 0; k < a.values.size(); ++k)
        a.values[k] = values[k < values.size() ? k : static_cast<std::size_t>(random.between(0, std::ssize(values) - 1))];
    return a;
}

TYPED_TEST(CudaPacked, PacksValuesOfEveryEncodingAsTheProcessorDoes) {
    using T = TypeParam;
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    using Limits = std::numeric_limits<T>;
    Random random(22);
    const std::vector<T> special{T(0),
                                 -T(0),
                                 Limits::denorm_min(),
                                 Limits::infinity(),
                                 -Limits::infinity(),
                                 Limits::quiet_NaN(),
                                 Limits::signaling_NaN(),
                                 std::bit_cast<T>(~Bits{0}),  // what the device's table marks empty places with
                                 std::bit_cast<T>(~Bits{0} - 1)};
    const std::map<std::size_t, ValueEncoding> expected{{9, ValueEncoding::dictionary8},
                                                        {256, ValueEncoding::dictionary8},
                                                        {257, ValueEncoding::dictionary16},
                                                        {65'536, ValueEncoding::dictionary16},
                                                        {65'537, ValueEncoding::plain}};
    for (const auto& [count, encoding] : expected)
        for (const bool has_special : {false, true}) {
            SCOPED_TRACE(::testing::Message() << count << " values, special ones: " << has_special);
            std::vector<T> values = has_special ? special : std::vector<T>{};
            const auto first = std::bit_cast<Bits>(T(1) / T(3));
            while (values.size() < count) values.push_back(std::bit_cast<T>(static_cast<Bits>(first + 3 * values.size())));
            EXPECT_EQ(expect_packed_alike<T>(with_values(random, values)).values.encoding, encoding);
        }
    if constexpr (std::is_same_v<T, double>) {
        std::vector<double> floats{-0.0, std::numeric_limits<float>::denorm_min(), -std::numeric_limits<double>::infinity(),
                                   std::bit_cast<double>(std::uint64_t{0xFFF8'ABCD'E000'0000})};
        while (floats.size() < 70'000) floats.push_back(random.number<float>(static_cast<int>(random.between(-100, 100))));
        EXPECT_EQ(expect_packed_alike<T>(with_values(random, floats)).values.encoding, ValueEncoding::floats);
        floats.back() = 0x1.0000001p0;
        EXPECT_EQ(expect_packed_alike<T>(with_values(random, floats)).values.encoding, ValueEncoding::plain);
    }
}

TYPED_TEST(CudaPacked, PacksStencilsAndPowerLawsAsTheProcessorDoes) {
    using T = TypeParam;
    for (const char* name : {"stencil27_30", "poisson2d_300", "power_law_30000", "dc2_like"}) {
        SCOPED_TRACE(name);
        expect_packed_alike<T>(convert<T, double>(matrices::find_generator(name).value().make()));
    }
}

TYPED_TEST(CudaPacked, IsChosenWhereItIsFasterAndProductsPayForIt) {
    using T = TypeParam;
    const auto description = [](const char* name, std::int64_t products) {
        const CsrMatrix<T> a = convert<T, double>(matrices::find_generator(name).value().make());
        return SpmvPlan<T>(a, Device::cuda(0), SpmvOptions{.expected_products = products}).describe();
    };
    EXPECT_EQ(description("stencil27_52", 1).storage, SpmvStorage::csr);
    EXPECT_EQ(description("stencil27_52", 1000).storage, SpmvStorage::packed);
    const SpmvDescription small = description("stencil27_30", 1000);
    EXPECT_EQ(small.storage, SpmvStorage::csr);
    EXPECT_NE(small.text.find("27000 rows"), std::string::npos) << small.text;
    const SpmvDescription uneven = description("power_law_300000", 1000);
    EXPECT_EQ(uneven.storage, SpmvStorage::csr);
    EXPECT_NE(uneven.text.find("apart from the others"), std::string::npos) << uneven.text;
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

/// What the first four entries tell of a row is wrong in these: they are far smaller than the others, far larger, or nothing;
/// with values that are few small integers, as they are in stencils, and with any.
TYPED_TEST(CudaPacked, KeepsItsPromisesWhateverTheFirstEntriesOfARowSay) {
    using T = TypeParam;
    Random random(7);
    for (const bool integers : {true, false}) {
        CsrMatrix<T> a = random_matrix<T>(random, 2'000, std::vector<std::int64_t>(3'000, 9));
        std::vector<T> x = random_vector<T>(random, a.columns);
        for (std::int64_t i = 0; i < a.columns; ++i)
            x[i] = i % 4 == 0 ? T(0) : std::ldexp(x[i], i % 4 == 1 ? -40 : i % 4 == 2 ? 20 : 0);
        for (std::int64_t row = 0; row < a.rows; ++row)
            for (std::int64_t k = 0; k < 9; ++k) {
                const std::int64_t kind = k < 4 ? row % 4 : row / 4 % 4;  // the columns' magnitude
                const std::int64_t entry = a.row_offsets[row] + k;
                a.column_indices[entry] = static_cast<std::int32_t>(4 * random.between(0, 499) + kind);
                if (integers) a.values[entry] = static_cast<T>(random.between(-3, 3));
            }
        expect_products_kept<T>(a, x);
    }
}

/// 1 + half an ulp +- x for every power of 2 as x, the smallest number included: the x decides, which no double holds beside 1.
TYPED_TEST(CudaPacked, SeesWhatBreaksATieHoweverSmallItIs) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    std::vector<T> x{T(1), std::ldexp(T(1), -Limits::digits)};
    for (T power = x[1] / 2; power != 0; power /= 2) x.push_back(power);
    CsrMatrix<T> a;
    a.columns = static_cast<std::int64_t>(x.size());
    for (std::int32_t small = 2; small < a.columns; ++small)
        for (const T sign : {T(1), T(-1)})
            for (const std::vector<std::int32_t>& columns : {std::vector{0, 1, small}, {small, 0, 1}, {0, 0, 0, 1, 0, small}}) {
                for (const std::int32_t column : columns) {
                    a.column_indices.push_back(column);
                    a.values.push_back(column == small ? sign : T(1));
                }
                a.row_offsets.push_back(a.nonzeros());
                ++a.rows;
            }
    expect_products_kept<T>(a, x);
}

/// Every row cancels to 0, which its values do not prove at the first try: such products go without it for some time, and try
/// it again. Their results are those of others.
TYPED_TEST(CudaPacked, GoesWithoutItsFirstTryAndComesBackToIt) {
    using T = TypeParam;
    Random random(8);
    CsrMatrix<T> a = random_matrix<T>(random, 4'000, std::vector<std::int64_t>(4'000, 2));
    for (std::int64_t k = 1; k < a.nonzeros(); k += 2) a.values[k] = -a.values[k - 1];
    const SpmvPlan<T> plan = packed_plan<T>(a);
    const std::vector<T> ones(static_cast<std::size_t>(a.columns), T(1));
    const std::vector<T> x = random_vector<T>(random, a.columns);
    const std::vector<T> rounded = testing::rounded(testing::expected_rows<T>(a, x));
    for (int product_number = 0; product_number < 60; ++product_number) {
        const bool cancels = product_number < 20;
        const std::vector<T> found = product<T>(plan, 1, cancels ? ones : x, 0, ones, Accuracy::exact);
        EXPECT_EQ(testing::differences<T>(found, cancels ? std::vector<T>(ones.size()) : rounded), "") << product_number;
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
    for (const char* name : {"stencil27_20", "poisson2d_100", "power_law_20000", "cancelling_20000"}) {
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

// Promise: spmv.hpp, "On a CUDA device, copies of the plan get them too."
// Promise: spmv.hpp, "Empty on a CUDA device."
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
    const SpmvPlan<T> copy = plan;
    plan.update_values(values);
    CsrMatrix<T> b = a;
    b.values = values;
    const auto rows = testing::expected_rows<T>(b, x);
    const std::vector<T> y(static_cast<std::size_t>(a.rows));
    EXPECT_EQ(testing::differences<T>(product<T>(plan, 1, x, 0, y, Accuracy::exact), testing::rounded(rows)), "");
    EXPECT_EQ(testing::differences<T>(product<T>(copy, 1, x, 0, y, Accuracy::exact), testing::rounded(rows)), "");
    EXPECT_TRUE(plan.boundaries().empty());
}

template <class T>
void expect_pairs_kept(const CsrMatrix<T>& k, Span<T> x) {
    const std::string text = packed_plan<T>(k).describe().text;
    ASSERT_NE(text.find("complex pairs of values"), std::string::npos) << text;
    expect_products_kept<T>(k, x);
}

TYPED_TEST(CudaPacked, KeepsItsPromisesForPairedRows) {
    using T = TypeParam;
    Random random(31);
    for (std::size_t rows = 1; rows <= 18; ++rows) {
        const auto k = testing::random_pairs<T>(random, 40, std::vector<std::int64_t>(rows, 5));
        expect_pairs_kept<T>(k, random_vector<T>(random, k.columns));
    }
    for (const std::int64_t different : {1, 3, 100, 257, 2000, -1, 0})
        for (const std::int64_t columns : {120, 30'000, 200'000})
            for (const std::size_t rows : {6'000, 6'001}) {
                SCOPED_TRACE(::testing::Message() << different << " parts, " << rows << " x " << columns);
                std::vector<std::int64_t> lengths(rows);
                for (auto& length : lengths)
                    length = rows % 3 != 0 ? random.between(0, 12) : random.between(0, 15) == 0 ? 5 : 6;
                const auto k = testing::random_pairs<T>(random, columns, lengths, different);
                expect_pairs_kept<T>(k, random_vector<T>(random, k.columns));
            }
}

TYPED_TEST(CudaPacked, KeepsItsPromisesForAdversarialPairedRows) {
    using T = TypeParam;
    Random random(32);
    auto [k, x] = testing::adversarial_pairs<T>(random);
    expect_pairs_kept<T>(k, x);
    for (std::size_t i = 0; i < x.size(); i += 2) std::swap(x[i], x[i + 1]);
    expect_pairs_kept<T>(k, x);
}

/// A part that is zero is no entry.
TYPED_TEST(CudaPacked, NeverLetsInfOrNanMeetAPartOfAPairThatIsZero) {
    using T = TypeParam;
    constexpr T inf = std::numeric_limits<T>::infinity();
    Random random(33);
    for (const T special : {inf, -inf, std::numeric_limits<T>::quiet_NaN()}) {
        std::vector<std::int64_t> lengths(3'001);
        for (auto& length : lengths) length = random.between(0, 9);
        const CsrMatrix<T> k = testing::random_pairs<T>(random, 50, lengths, 20);
        std::vector<T> x = random_vector<T>(random, k.columns);
        x[6] = x[31] = special;  // a real and an imaginary part
        expect_pairs_kept<T>(k, x);
    }
}

/// Values that still are pairs, and others, in any order.
TYPED_TEST(CudaPacked, TakesOtherValuesForPairedRows) {
    using T = TypeParam;
    Random random(34);
    const auto k = testing::random_pairs<T>(random, 500, std::vector<std::int64_t>(2000, 7));
    const auto x = random_vector<T>(random, k.columns);
    const std::vector<T> y(static_cast<std::size_t>(k.rows));
    auto twice = k, any = k;
    for (T& value : twice.values) value *= 2;
    for (T& value : any.values) value = random.number<T>();
    SpmvPlan<T> plan = packed_plan<T>(k);
    for (const CsrMatrix<T>& other : {twice, any, k}) {
        plan.update_values(other.values);
        const auto rounded = testing::rounded(testing::expected_rows<T>(other, x));
        EXPECT_EQ(testing::differences<T>(product<T>(plan, 1, x, 0, y, Accuracy::exact), rounded), "");
    }
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
