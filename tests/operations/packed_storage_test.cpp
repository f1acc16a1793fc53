#include "packed/matrix.hpp"

#include "operations/packed_choice.hpp"
#include "solver/complex.hpp"
#include "solver/csr_matrix.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <map>

#include "support/adversarial.hpp"
#include "support/complex_numbers.hpp"
#include "support/less_memory.hpp"

namespace solver {
namespace {

using testing::Random;

constexpr PackedShape shapes[] = {{.height = 8, .window = 64, .longest_row = 40, .share_entries = 64},
                                  {.height = 32, .window = 4096, .longest_row = 256, .share_entries = 4096}};

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
CsrMatrix<T> matrix_of(std::int64_t columns, const std::vector<std::vector<std::int32_t>>& rows) {
    CsrMatrix<T> a;
    a.rows = static_cast<std::int64_t>(rows.size());
    a.columns = columns;
    for (const auto& row : rows) {
        a.column_indices.insert(a.column_indices.end(), row.begin(), row.end());
        a.values.resize(a.column_indices.size(), T(1));
        a.row_offsets.push_back(a.nonzeros());
    }
    return a;
}

template <class T>
CsrMatrix<T> random_matrix(Random& random, std::int64_t columns, const std::vector<std::int64_t>& lengths) {
    std::vector<std::vector<std::int32_t>> rows;
    for (const std::int64_t length : lengths) {
        rows.emplace_back();
        for (std::int64_t k = 0; k < length; ++k)
            rows.back().push_back(static_cast<std::int32_t>(random.between(0, columns - 1)));
    }
    CsrMatrix<T> a = matrix_of<T>(columns, rows);
    for (T& value : a.values) value = random.number<T>();
    return a;
}

/// The column in a slot, read from the bytes themselves.
std::int32_t column_in(const PackedPattern& pattern, const PackedSlice& slice, std::int64_t k, int lane) {
    const std::int32_t base = pattern.base[slice.first_step + k];
    const std::int64_t slot = k * pattern.shape.height + lane;
    const auto read = [&]<class U>(U offset) {
        std::memcpy(&offset, pattern.offsets.data() + slice.first_offset + slot * static_cast<std::int64_t>(sizeof(U)),
                    sizeof(U));
        return base + static_cast<std::int32_t>(offset);
    };
    switch (slice.offsets) {
        case ColumnOffsets::none:
            return base + lane;
        case ColumnOffsets::bits8:
            return read(std::uint8_t{});
        case ColumnOffsets::bits16:
            return read(std::uint16_t{});
        case ColumnOffsets::bits32:
            return read(std::uint32_t{});
    }
    return -1;
}

/// Every entry must be found once, in its order, to the bit; idle slots must name columns that exist.
template <class T>
void expect_lossless(const CsrMatrix<T>& a, const PackedMatrix<T>& packed) {
    const PackedPattern& pattern = *packed.pattern;
    std::vector<std::int64_t> found(static_cast<std::size_t>(a.rows));
    for (std::size_t s = 0; s < pattern.slices.size(); ++s) {
        const PackedSlice& slice = pattern.slices[s];
        for (int lane = 0; lane < pattern.shape.height; ++lane) {
            const std::size_t place = s * static_cast<std::size_t>(pattern.shape.height) + static_cast<std::size_t>(lane);
            const std::int64_t row = pattern.row[place];
            const std::int64_t length = pattern.length[place];
            if (lane < slice.rows) {
                ASSERT_EQ(length, a.view().row_length(row)) << "row " << row;
                if (slice.is_adjacent != 0) {
                    ASSERT_EQ(row, slice.first_row + lane);
                }
                found[row] += length + 1;
            } else {
                ASSERT_EQ(length, 0);
            }
            for (std::int64_t k = 0; k < slice.steps; ++k) {
                const std::int32_t column = column_in(pattern, slice, k, lane);
                if (k >= length) {
                    ASSERT_TRUE(0 <= column && column < a.columns) << "an idle slot of row " << row;
                    continue;
                }
                const std::int64_t entry = a.row_offsets[row] + k;
                const T value = packed.values.at((slice.first_step + k) * pattern.shape.height + lane);
                ASSERT_EQ(column, a.column_indices[entry]) << "row " << row << ", entry " << k;
                ASSERT_EQ(std::bit_cast<Bits<T>>(value), std::bit_cast<Bits<T>>(a.values[entry]))
                    << "row " << row << ", entry " << k;
            }
        }
    }
    for (const PackedShare& share : pattern.shares) {
        if (share.part == 0) {
            ASSERT_EQ(share.begin, 0);
            ++found[share.row];
        }
        ASSERT_LE(share.parts, 64);
        ASSERT_LT(share.begin, share.end);
        found[share.row] += share.end - share.begin;
        if (share.part == share.parts - 1) {
            ASSERT_EQ(share.end, a.view().row_length(share.row));
        }
    }
    for (std::int64_t row = 0; row < a.rows; ++row) ASSERT_EQ(found[row], a.view().row_length(row) + 1) << "row " << row;
    EXPECT_LE(packed.bytes(), most_packed_bytes(a.view(), pattern.shape));
}

template <class T>
PackedMatrix<T> packed_without_loss(const CsrMatrix<T>& a, const PackedShape& shape = shapes[0]) {
    PackedMatrix<T> packed = pack(a.view(), shape, 3);
    expect_lossless(a, packed);
    return packed;
}

template <class T>
class PackedStorage : public ::testing::Test {};
using ValueTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(PackedStorage, ValueTypes);

// Promise: spmv.hpp, "a copy beside it, regrouped and compressed"
TYPED_TEST(PackedStorage, LosesNothingOfRowsOfAnyLengths) {
    using T = TypeParam;
    Random random(1);
    for (const PackedShape& shape : shapes)
        for (int trial = 0; trial < 40; ++trial) {
            std::vector<std::int64_t> lengths(static_cast<std::size_t>(random.between(0, 300)));
            for (auto& length : lengths) length = random.between(0, trial % 3 == 0 ? 6 : 60);
            if (trial % 4 == 0 && !lengths.empty()) lengths[lengths.size() / 2] = 9000;
            packed_without_loss(random_matrix<T>(random, trial % 2 == 0 ? 500 : 100000, lengths), shape);
        }
}

TYPED_TEST(PackedStorage, TakesMatricesWithoutRowsColumnsOrEntriesAndSingleRows) {
    using T = TypeParam;
    Random random(2);
    for (const PackedShape& shape : shapes) {
        packed_without_loss(matrix_of<T>(5, {}), shape);
        packed_without_loss(matrix_of<T>(0, {{}, {}, {}}), shape);
        packed_without_loss(matrix_of<T>(3, std::vector<std::vector<std::int32_t>>(100)), shape);
        for (const std::int64_t length : {0, 1, 16, 17, 40, 41, 256, 257, 5000, 1000000})
            packed_without_loss(random_matrix<T>(random, 5000, {length}), shape);
    }
}

TYPED_TEST(PackedStorage, DoesNotDependOnTheNumberOfThreads) {
    using T = TypeParam;
    Random random(3);
    std::vector<std::int64_t> lengths(5000);
    for (auto& length : lengths) length = random.between(0, random.between(1, 50));
    const CsrMatrix<T> a = random_matrix<T>(random, 70000, lengths);
    const auto one = pack(a.view(), shapes[0], 1);
    const auto seven = pack(a.view(), shapes[0], 7);
    EXPECT_EQ(one.pattern->row, seven.pattern->row);
    EXPECT_EQ(one.pattern->base, seven.pattern->base);
    EXPECT_EQ(one.pattern->offsets, seven.pattern->offsets);
    EXPECT_EQ(one.values.plain, seven.values.plain);
}

/// Eight rows whose columns lie `width` apart at most.
template <class T>
ColumnOffsets offsets_for(std::int32_t width) {
    std::vector<std::vector<std::int32_t>> rows(8, {7, 100});
    rows[3][1] = 100 + width;
    const auto packed = packed_without_loss(matrix_of<T>(200000, rows));
    EXPECT_EQ(packed.pattern->slices.size(), 1U);
    return packed.pattern->slices[0].offsets;
}

TYPED_TEST(PackedStorage, TakesTheNarrowestColumnsThatFit) {
    using T = TypeParam;
    EXPECT_EQ(offsets_for<T>(255), ColumnOffsets::bits8);
    EXPECT_EQ(offsets_for<T>(256), ColumnOffsets::bits16);
    EXPECT_EQ(offsets_for<T>(65535), ColumnOffsets::bits16);
    EXPECT_EQ(offsets_for<T>(65536), ColumnOffsets::bits32);
}

/// Columns base, base + 1, ...: also where a row has ended, unless its lane would read beyond the last column.
TYPED_TEST(PackedStorage, FindsRunsOfColumns) {
    using T = TypeParam;
    for (const bool at_the_edge : {false, true}) {
        std::vector<std::vector<std::int32_t>> rows;
        for (std::int32_t i = 0; i < 8; ++i) rows.push_back({i, 20 + i});
        rows[7].pop_back();
        const auto packed = packed_without_loss(matrix_of<T>(at_the_edge ? 27 : 28, rows));
        EXPECT_EQ(packed.pattern->slices[0].offsets, at_the_edge ? ColumnOffsets::bits8 : ColumnOffsets::none);
    }
}

/// So many different values, each of them at least 16 times.
template <class T>
CsrMatrix<T> with_different_values(std::int64_t count) {
    const std::int64_t rows = std::max<std::int64_t>(2 * count, 100);
    CsrMatrix<T> a =
        matrix_of<T>(8, std::vector<std::vector<std::int32_t>>(static_cast<std::size_t>(rows), {0, 1, 2, 3, 4, 5, 6, 7}));
    const auto first = std::bit_cast<Bits<T>>(T(1) / T(3));  // no double among them is a float
    for (std::size_t k = 0; k < a.values.size(); ++k)
        a.values[k] = std::bit_cast<T>(static_cast<Bits<T>>(first + k % static_cast<std::size_t>(count)));
    return a;
}

TYPED_TEST(PackedStorage, TakesTheSmallestDictionaryThatHoldsAllValues) {
    using T = TypeParam;
    const std::map<std::int64_t, ValueEncoding> expected{{1, ValueEncoding::dictionary8},
                                                         {256, ValueEncoding::dictionary8},
                                                         {257, ValueEncoding::dictionary16},
                                                         {65536, ValueEncoding::dictionary16},
                                                         {65537, ValueEncoding::plain}};
    for (const auto& [count, encoding] : expected) {
        SCOPED_TRACE(count);
        const auto packed = packed_without_loss(with_different_values<T>(count));
        EXPECT_EQ(packed.values.encoding, encoding);
        if (encoding != ValueEncoding::plain) {
            EXPECT_EQ(packed.values.dictionary.size(), static_cast<std::size_t>(count));
        }
    }
}

TYPED_TEST(PackedStorage, KeepsEveryBitOfSpecialValues) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    CsrMatrix<T> a = with_different_values<T>(200);
    const T payload = std::bit_cast<T>(std::bit_cast<Bits<T>>(Limits::quiet_NaN()) | Bits<T>{0x1234});
    const T special[] = {T(0),
                         -T(0),
                         Limits::denorm_min(),
                         -Limits::denorm_min(),
                         Limits::infinity(),
                         -Limits::infinity(),
                         Limits::quiet_NaN(),
                         -Limits::quiet_NaN(),
                         payload,
                         Limits::signaling_NaN(),
                         Limits::max(),
                         Limits::min()};
    for (std::size_t k = 0; k < std::size(special); ++k) a.values[37 * k] = special[k];
    EXPECT_EQ(packed_without_loss(a).values.encoding, ValueEncoding::dictionary8);
    a = with_different_values<T>(65537);
    for (std::size_t k = 0; k < std::size(special); ++k) a.values[37 * k] = special[k];
    EXPECT_EQ(packed_without_loss(a).values.encoding, ValueEncoding::plain);
}

TEST(PackedStorageOfDoubles, KeepsFloatsAsFloatsUnlessOneBitIsLost) {
    Random random(4);
    CsrMatrix<double> a = random_matrix<double>(random, 50, std::vector<std::int64_t>(400, 9));
    for (double& value : a.values) value = random.number<float>(static_cast<int>(random.between(-100, 100)));
    a.values[5] = -0.0;
    a.values[6] = std::numeric_limits<float>::denorm_min();
    a.values[7] = -std::numeric_limits<double>::infinity();
    EXPECT_EQ(packed_without_loss(a).values.encoding, ValueEncoding::floats);
    for (const double one_bit_more : {0x1.0000001p0, 0x1p-150, 0x1p128, std::numeric_limits<double>::signaling_NaN(),
                                      std::bit_cast<double>(std::uint64_t{0x7FF8000000000001})}) {
        CsrMatrix<double> b = a;
        b.values[8] = one_bit_more;
        EXPECT_EQ(packed_without_loss(b).values.encoding, ValueEncoding::plain);
    }
}

TEST(LastDigit, IsThePowerOfTwoThatANumberIsAnOddMultipleOf) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    EXPECT_EQ(last_digit(1), 1);
    EXPECT_EQ(last_digit(-3), 1);
    EXPECT_EQ(last_digit(6), 2);
    EXPECT_EQ(last_digit(-0.75), 0.25);
    EXPECT_EQ(last_digit(1 + 0x1p-52), 0x1p-52);
    EXPECT_EQ(last_digit(std::numeric_limits<double>::max()), 0x1p971);
    EXPECT_EQ(last_digit(std::numeric_limits<double>::min()), std::numeric_limits<double>::min());
    EXPECT_EQ(last_digit(-6 * std::numeric_limits<double>::denorm_min()), 2 * std::numeric_limits<double>::denorm_min());
    for (const double nothing : {0.0, -0.0, inf, -inf, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_EQ(last_digit(nothing), inf);
}

TEST(PackedStorageOfDoubles, KnowsWhatItsValuesAreMultiplesOf) {
    CsrMatrix<double> a = with_different_values<double>(5);
    for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] = k % 2 == 0 ? 0.75 : -6;
    a.values[3] = std::numeric_limits<double>::infinity();
    a.values[4] = 0;
    EXPECT_EQ(packed_without_loss(a).values.unit, 0.25) << "by a dictionary";
    for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] = 0.5 * static_cast<double>(k + 1);
    EXPECT_EQ(packed_without_loss(a).values.encoding, ValueEncoding::floats);
    EXPECT_EQ(packed_without_loss(a).values.unit, 0.5) << "as floats";
    EXPECT_EQ(packed_without_loss(with_different_values<double>(65537)).values.unit, 0) << "many values of 53 bits";
}

TYPED_TEST(PackedStorage, SharesThePatternWithOtherValues) {
    using T = TypeParam;
    Random random(5);
    CsrMatrix<T> a = with_different_values<T>(10);
    PackedMatrix<T> packed = packed_without_loss(a);
    EXPECT_EQ(packed.values.encoding, ValueEncoding::dictionary8);
    for (T& value : a.values) value = random.number<T>();
    packed.values = pack_values(*packed.pattern, a.view(), 2);
    expect_lossless(a, packed);
}

// Promise: spmv.hpp, "for people: which encodings, and why"
// Promise: spmv.hpp, "which one product reads of the matrix"
TYPED_TEST(PackedStorage, SaysWhatItDid) {
    using T = TypeParam;
    const auto packed = packed_without_loss(with_different_values<T>(10));
    const PackedDescription description = packed.describe();
    EXPECT_NE(description.text.find("1 bytes, since only 10 differ"), std::string::npos) << description.text;
    EXPECT_LT(description.bytes_a_nonzero, 4);
    EXPECT_EQ(description.share_in_slices, 1);
}

/// Matrices of one pattern: what the description counts differs by the slots' codes alone.
TYPED_TEST(PackedStorage, SaysHowManyBytesAValueTakes) {
    using T = TypeParam;
    Random random(8);
    CsrMatrix<T> a = with_different_values<T>(300);
    const auto bytes_of_values = [&](const std::string& expected) {
        const PackedMatrix<T> packed = packed_without_loss(a);
        const PackedDescription description = packed.describe();
        EXPECT_NE(description.text.find("values " + expected), std::string::npos) << description.text;
        const auto slots = static_cast<double>(packed.pattern->slots());
        return description.bytes_a_nonzero * static_cast<double>(a.nonzeros()) / slots;
    };
    const double coded = bytes_of_values("2 bytes, since only 300 differ;");
    for (std::size_t k = 0; k < a.values.size(); ++k) a.values[k] = a.values[k % 10];
    EXPECT_NEAR(bytes_of_values("1 bytes, since only 10 differ;"), coded - 1, 1e-12);
    for (T& value : a.values) value = random.number<T>();
    EXPECT_NEAR(bytes_of_values("as they are, "), coded - 2 + sizeof(T), 1e-12);
}

/// Of the same entries, those of a byte's code and those that are stored as they are: bytes differ by the slots' values and the
/// dictionary alone.
/// Rows of 1 and 2 entries in turn, whose order costs too many slots, and rows of 3: the former are sorted, the latter are not.
TYPED_TEST(PackedStorage, TellsWhichSlicesHaveRowsSideBySide) {
    using T = TypeParam;
    Random random(8);
    std::vector<std::int64_t> lengths;
    for (int i = 0; i < 64; ++i) lengths.push_back(i % 2 == 0 ? 1 : 4);
    lengths.insert(lengths.end(), 70, 3);
    const PackedMatrix<T> packed = packed_without_loss(random_matrix<T>(random, 200, lengths));
    std::vector<int> found;
    for (const PackedSlice& slice : packed.pattern->slices) found.push_back(slice.is_adjacent);
    EXPECT_EQ(found, (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0}));  // the last has 6 rows
}

/// What stands behind the end of a row may be read: its last column again, and the code 0.
TYPED_TEST(PackedStorage, FillsIdleSlotsWithWhatMayBeRead) {
    using T = TypeParam;
    CsrMatrix<T> a = matrix_of<T>(300, {{5, 9}, {7}, {}, {280, 4, 6}});
    a.values = {T(1), T(2), T(1), T(2), T(1), T(2)};
    const PackedMatrix<T> packed = packed_without_loss(a);
    const PackedSlice& slice = packed.pattern->slices.front();
    ASSERT_EQ(packed.values.encoding, ValueEncoding::dictionary8);
    ASSERT_EQ(slice.steps, 3);
    for (std::int64_t k = 0; k < slice.steps; ++k)
        for (int lane = 0; lane < packed.pattern->shape.height; ++lane) {
            const std::int32_t length = packed.pattern->length[static_cast<std::size_t>(lane)];
            if (k < length) continue;
            EXPECT_EQ(packed.values.index8[static_cast<std::size_t>(k * packed.pattern->shape.height + lane)], 0);
            const std::int32_t column = column_in(*packed.pattern, slice, k, lane);
            if (length > 0) {
                EXPECT_EQ(column, a.column_indices[a.row_offsets[packed.pattern->row[static_cast<std::size_t>(lane)] + 1] - 1]);
            }
            EXPECT_LT(column, a.columns);
        }
}

TYPED_TEST(PackedStorage, CountsItsBytes) {
    using T = TypeParam;
    Random random(6);
    CsrMatrix<T> a = with_different_values<T>(10);
    const PackedMatrix<T> coded = packed_without_loss(a);
    for (T& value : a.values) value = random.number<T>();
    PackedMatrix<T> plain = coded;
    plain.values = pack_values(*coded.pattern, a.view(), 2);
    ASSERT_EQ(plain.values.encoding, ValueEncoding::plain);
    const auto size = static_cast<std::int64_t>(sizeof(T));
    EXPECT_EQ(plain.bytes() - coded.bytes(), coded.pattern->slots() * (size - 1) - 10 * size);
    const PackedPattern& pattern = *coded.pattern;
    const std::size_t of_slices =
        pattern.slices.size() * sizeof(PackedSlice) + 4 * pattern.row.size() + 2 * pattern.length.size();
    const std::size_t of_steps = 4 * pattern.base.size() + pattern.offsets.size() + pattern.shares.size() * sizeof(PackedShare);
    EXPECT_EQ(coded.bytes(), static_cast<std::int64_t>(of_slices + of_steps) + coded.pattern->slots() + 10 * size);
}

/// Ten entries more in a long row are ten numbers and columns more.
TYPED_TEST(PackedStorage, CountsTheBytesOfLongRows) {
    using T = TypeParam;
    const auto bytes_with = [](std::int64_t length) {
        Random random(7);
        std::vector<std::int64_t> lengths(100, 5);
        lengths.back() = length;
        const PackedMatrix<T> packed = packed_without_loss(random_matrix<T>(random, 200, lengths));
        EXPECT_EQ(packed.pattern->long_rows, 1);
        return packed.describe().bytes_a_nonzero * static_cast<double>(packed.pattern->nonzeros);
    };
    const auto entry = static_cast<double>(sizeof(T) + sizeof(std::int32_t));
    EXPECT_NEAR(bytes_with(70) - bytes_with(60), 10 * entry, 1e-9);
}

/// Every entry of the complex matrix must be found once, in its order, to the bit.
template <class T>
void expect_pairs(const CsrMatrix<std::complex<T>>& a, const PackedMatrix<T>& packed) {
    const PackedPattern& pattern = *packed.pattern;
    ASSERT_EQ(pattern.components, 2);
    ASSERT_EQ(pattern.rows, a.rows);
    ASSERT_EQ(pattern.long_rows, 0);
    std::int64_t entries = 0;
    for (std::size_t s = 0; s < pattern.slices.size(); ++s) {
        const PackedSlice& slice = pattern.slices[s];
        for (int lane = 0; lane < slice.rows; ++lane) {
            const std::size_t place = s * static_cast<std::size_t>(pattern.shape.height) + static_cast<std::size_t>(lane);
            const std::int64_t first = a.row_offsets[pattern.row[place]];
            ASSERT_EQ(pattern.length[place], a.row_offsets[pattern.row[place] + 1] - first);
            for (std::int64_t k = 0; k < pattern.length[place]; ++k, ++entries) {
                const std::int64_t code = 2 * ((slice.first_step + k) * pattern.shape.height + lane);
                const std::complex<T> found(packed.values.at(code), packed.values.at(code + 1));
                ASSERT_EQ(column_in(pattern, slice, k, lane), a.column_indices[first + k]);
                ASSERT_TRUE(testing::same_bits(found, a.values[first + k])) << found << a.values[first + k];
            }
        }
    }
    EXPECT_EQ(entries, a.nonzeros());
}

TYPED_TEST(PackedStorage, PairsTheRowsOfComplexMatrices) {
    using T = TypeParam;
    Random random(9);
    for (const PackedShape& shape : shapes)
        for (const std::int64_t rows : {1, 3, 4, 5, 16, 17, 500})
            for (const std::int64_t columns : {40, 100000}) {
                const auto a = testing::complex_matrix<T>(random, rows, columns, 5);
                const CsrMatrix<T> k = real_form(a.view());
                const auto exact_form = complex_pairs(k.view(), 2);  // without entries that are 0
                if (!exact_form && a.nonzeros() < 9) continue;       // many parts of few are zero
                ASSERT_TRUE(exact_form.has_value());
                const PackedMatrix<T> packed = pack(k.view(), shape, 3);
                expect_pairs(*exact_form, packed);
                EXPECT_EQ(real_form(exact_form->view()).values, k.values);
                EXPECT_EQ(real_form(exact_form->view()).column_indices, k.column_indices);
                EXPECT_LE(packed.bytes(), most_packed_bytes(k.view(), shape));
            }
}

/// A complex matrix of 40 rows whose entries have both parts, in its real form.
template <class T>
CsrMatrix<T> paired_rows(std::int64_t length = 6) {
    CsrMatrix<std::complex<T>> a{40, 200, {0}, {}, {}};
    for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t k = 0; k < length; ++k) {
            a.column_indices.push_back(static_cast<std::int32_t>(i + k));
            a.values.emplace_back(static_cast<T>(i + 1), static_cast<T>(-k - 1));
        }
        a.row_offsets.push_back(a.nonzeros());
    }
    return real_form(a.view());
}

TYPED_TEST(PackedStorage, PairsNothingElse) {
    using T = TypeParam;
    const auto components = [](const CsrMatrix<T>& k) { return pack(k.view(), shapes[0], 2).pattern->components; };
    const CsrMatrix<T> k = paired_rows<T>();
    EXPECT_EQ(components(k), 2);
    for (const std::size_t entry : {0, 1, 12, 13, 478, 479}) {  // of the first pair of rows and of the last
        CsrMatrix<T> other = k;
        other.values[entry] = std::nextafter(other.values[entry], T(0));
        EXPECT_EQ(components(other), 1) << "one bit differs in entry " << entry;
        other.values[entry] = -k.values[entry];
        EXPECT_EQ(components(other), 1) << "a sign differs in entry " << entry;
        other = k;
        other.column_indices[entry] = 399;
        EXPECT_EQ(components(other), 1) << "a column differs in entry " << entry;
    }
    CsrMatrix<T> zeros = k;
    zeros.values[0] = zeros.values[13] = 0;
    EXPECT_EQ(components(zeros), 1) << "a stored zero is an entry";
    zeros = k;
    zeros.values[1] = 0;
    zeros.values[12] = -T(0);
    EXPECT_EQ(components(zeros), 1) << "a stored zero is an entry";
    CsrMatrix<T> longer = k;
    longer.column_indices.push_back(0);
    longer.values.push_back(1);
    ++longer.row_offsets.back();
    EXPECT_EQ(components(longer), 1) << "the last row has an entry more";
    CsrMatrix<T> odd = k;
    ++odd.columns;
    EXPECT_EQ(components(odd), 1) << "an odd number of columns";
    odd = k;
    odd.row_offsets.push_back(odd.nonzeros());
    ++odd.rows;
    EXPECT_EQ(components(odd), 1) << "an odd number of rows";
    EXPECT_EQ(components(paired_rows<T>(20)), 2);
    EXPECT_EQ(components(paired_rows<T>(21)), 1) << "rows of more than half of longest_row";
}

TYPED_TEST(PackedStorage, PairsRowsWhereAQuarterOfTheEntriesHasBothParts) {
    using T = TypeParam;
    for (const std::int64_t with_both : {9, 10}) {
        CsrMatrix<std::complex<T>> a{40, 40, {0}, {}, {}};
        for (std::int32_t i = 0; i < 40; ++i) {
            a.column_indices.push_back(i);
            a.values.emplace_back(T(i % 3 == 0 && i >= with_both ? 0 : 2), T(i < with_both || i % 3 == 0 ? 3 : 0));
            a.row_offsets.push_back(a.nonzeros());
        }
        const PackedMatrix<T> packed = pack(real_form(a.view()).view(), shapes[0], 2);
        EXPECT_EQ(packed.pattern->components, with_both == 10 ? 2 : 1);
        if (with_both == 10) expect_pairs(a, packed);
    }
}

/// Both are one number in a column; a matrix may have them side by side.
TYPED_TEST(PackedStorage, PairsRowsWithSeveralEntriesInAColumn) {
    using T = TypeParam;
    const CsrMatrix<T> k{2, 2, {0, 4, 8}, {0, 1, 0, 1, 0, 1, 0, 1}, {1, -2, 3, -4, 2, 1, 4, 3}};
    expect_pairs<T>({1, 1, {0, 2}, {0, 0}, {{1, 2}, {3, 4}}}, pack(k.view(), shapes[0], 1));
    const CsrMatrix<T> real_parts{2, 4, {0, 4, 8}, {0, 0, 2, 3, 1, 1, 2, 3}, {1, 2, 3, -4, 1, 2, 4, 3}};
    expect_pairs<T>({1, 2, {0, 3}, {0, 0, 1}, {{1, 0}, {2, 0}, {3, 4}}}, pack(real_parts.view(), shapes[0], 1));
}

TYPED_TEST(PackedStorage, KeepsEveryBitOfPairs) {
    using T = TypeParam;
    using Limits = std::numeric_limits<T>;
    CsrMatrix<std::complex<T>> a{6, 3, {0}, {}, {}};
    const T payload = std::bit_cast<T>(std::bit_cast<Bits<T>>(Limits::quiet_NaN()) | Bits<T>{0x1234});
    for (const T re : {Limits::infinity(), -Limits::quiet_NaN(), payload, Limits::denorm_min(), -Limits::max(), T(1)}) {
        a.column_indices.push_back(1);
        a.values.emplace_back(re, -Limits::denorm_min());
        a.column_indices.push_back(2);
        a.values.emplace_back(T(-1), re);
        a.row_offsets.push_back(a.nonzeros());
    }
    expect_pairs(a, pack(real_form(a.view()).view(), shapes[0], 1));
}

TYPED_TEST(PackedStorage, GivesPairsOtherValuesOrGivesThemUp) {
    using T = TypeParam;
    CsrMatrix<T> k = paired_rows<T>();
    const PackedMatrix<T> packed = pack(k.view(), shapes[0], 2);
    for (T& value : k.values) value *= T(1.1);
    const PackedMatrix<T> other = repack(packed, k.view(), shapes[0], 2);
    EXPECT_EQ(other.pattern, packed.pattern);
    expect_pairs(*complex_pairs(k.view(), 1), other);
    k.values[3] += T(1);
    const PackedMatrix<T> single = repack(packed, k.view(), shapes[0], 2);
    EXPECT_EQ(single.pattern->components, 1);
    expect_lossless(k, single);
    expect_lossless(k, repack(single, k.view(), shapes[0], 2));
}

TYPED_TEST(PackedStorage, SaysThatRowsArePairedAndCountsTheirBytes) {
    using T = TypeParam;
    const CsrMatrix<T> k = paired_rows<T>();
    const PackedMatrix<T> packed = pack(k.view(), shapes[0], 2);
    const PackedDescription description = packed.describe();
    EXPECT_NE(description.text.find("complex pairs of values 1 bytes, since only 46 differ"), std::string::npos)
        << description.text;
    EXPECT_NE(description.text.find("slices of 4 complex rows, 0.0 % of their slots idle"), std::string::npos)
        << description.text;
    EXPECT_EQ(description.share_in_slices, 1);
    // a slice of 4 rows and 6 steps: itself, a base a step, and two codes an entry; columns are runs
    EXPECT_DOUBLE_EQ(description.bytes_a_nonzero * static_cast<double>(k.nonzeros()), 10 * (32 + 6 * 4 + 4 * 6 * 2));
}

TEST(StorageChoice, PacksFromTheProductsAndRowsOnThatTheDeviceAsksFor) {
    Random random(1);
    const CsrMatrix<double> a = random_matrix<double>(random, 3000, std::vector<std::int64_t>(3000, 10));
    const auto choice = [&](std::int64_t least_products, std::int64_t least_rows, SpmvStorage storage) {
        return choose_storage(a.view(), {.storage = storage, .expected_products = 100},
                              {shapes[1], least_products, least_rows, std::int64_t{1} << 40, nullptr});
    };
    EXPECT_EQ(choice(100, 3000, SpmvStorage::automatic).storage, SpmvStorage::packed);
    EXPECT_EQ(choice(101, 3000, SpmvStorage::automatic).storage, SpmvStorage::csr);
    EXPECT_EQ(choice(100, 3001, SpmvStorage::automatic).storage, SpmvStorage::csr);
    EXPECT_EQ(choice(100, 3001, SpmvStorage::automatic).reason, "3000 rows, and packed ones keep a GPU busy from 3001 on");
    EXPECT_EQ(choice(101, 3001, SpmvStorage::packed).storage, SpmvStorage::packed) << "as asked for";
}

// Promise: spmv.hpp, "0: a quarter of the memory"
TEST(PackingTerms, AllowAQuarterOfTheMemoryThatTheProcessMayUse) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers take more memory than this leaves them";
#endif
    const testing::LessMemory limit(std::int64_t{1} << 30);
    ASSERT_TRUE(limit.is_set());
    EXPECT_EQ(packing_terms_on_cpu(1000).memory_limit, std::int64_t{1} << 28);
}

}  // namespace
}  // namespace solver
