#include "io/matrix_market/decimal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <string>

namespace solver::matrix_market {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Decimal split(const std::string& text) {
    static std::string line;
    line = text + "\n";
    return split_decimal(line.data());
}

TEST(Decimal, IsTakenApart) {
    const Decimal d = split("-012.340e-5");
    EXPECT_TRUE(d.negative && d.exact && !d.whole && !d.fortran);
    EXPECT_EQ(d.digits, 12340u);
    EXPECT_EQ(d.exponent, -8);
    EXPECT_EQ(d.end - d.begin, 11);
    EXPECT_TRUE(split("17").whole);
    EXPECT_FALSE(split("17.").whole);
    EXPECT_FALSE(split("17e0").whole);
    EXPECT_TRUE(split("1D+2").fortran && split("1d2").fortran);
    EXPECT_EQ(split("+.5").digits, 5u);
    EXPECT_EQ(split("+.5").exponent, -1);
    EXPECT_TRUE(split("1234567890123456789").exact);
    EXPECT_FALSE(split("12345678901234567890").exact);
    EXPECT_EQ(split("1e999999999999").exponent, 999999999) << "no overflow";
}

TEST(Decimal, IsRefusedWhereItIsNone) {
    for (const char* text : {"", "-", ".", "e5", "1e", "1e+", "nan", "inf", "0x1p3", "1,5", "1.5.2", "--1", "1_0"})
        EXPECT_THAT([&] { split(text); }, ThrowsMessage<LineError>(HasSubstr("expected a finite decimal number"))) << text;
}

template <class T>
class Nearest : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Nearest, Precisions);

float by_c_library(const char* text, float) { return std::strtof(text, nullptr); }
double by_c_library(const char* text, double) { return std::strtod(text, nullptr); }

template <class T>
void expect_nearest(const std::string& text) {
    const T expected = by_c_library(text.data(), T());
    const T found = nearest<T>(split(text));
    EXPECT_EQ(found, expected) << text;
    EXPECT_EQ(std::signbit(found), std::signbit(expected)) << text;
}

/// Ties, neighbours of ties and of 2^53, both sides of the short cut, zeros, the least numbers.
TYPED_TEST(Nearest, IsThatOfTheCLibrary) {
    for (const char* text : {"0",
                             "-0",
                             "0e99999",
                             "1",
                             "-1.5",
                             "9007199254740992",
                             "9007199254740993",
                             "9007199254740995",
                             "16777217",
                             "16777219",
                             "16777216.999999",
                             "1e22",
                             "1e23",
                             "1e-22",
                             "1e-23",
                             "123456789e22",
                             "8.5e-22",
                             "1.00000005960464477539062",
                             "1.000000059604644775390625",
                             "1.00000005960464477539063",
                             "1.00000017881393432617187499",
                             "4.9e-324",
                             "2.4e-324",
                             "1.4e-45",
                             "0.7e-45",
                             "0.71e-45",
                             "1e-400",
                             "-1e-99999999999",
                             "3.4028235e38",
                             "2.2250738585072011e-308"})
        expect_nearest<TypeParam>(text);
}

TYPED_TEST(Nearest, IsThatOfTheCLibraryForRandomText) {
    std::mt19937_64 random(1);
    for (int trial = 0; trial < 20000; ++trial) {
        std::string text = std::to_string(random() >> random() % 64);
        text.insert(text.begin() + static_cast<std::ptrdiff_t>(random() % (text.size() + 1)), '.');
        text += 'e';
        text += std::to_string(static_cast<int>(random() % 61) - 43);
        expect_nearest<TypeParam>(text);
    }
}

TYPED_TEST(Nearest, KnowsFortransExponents) {
    EXPECT_EQ(nearest<TypeParam>(split("1.5D+1")), TypeParam(15));
    EXPECT_EQ(nearest<TypeParam>(split("-123456789012345678901234567890d-25")), TypeParam(-12345.67890123456789012345));
}

TYPED_TEST(Nearest, SaysWhichRangeANumberIsBeyond) {
    const bool single = std::is_same_v<TypeParam, float>;
    EXPECT_THAT([&] { nearest<TypeParam>(split(single ? "-3.5e38" : "1.8e308")); },
                ThrowsMessage<LineError>(HasSubstr(single ? "'-3.5e38' is beyond the range of single precision, 3.4e+38"
                                                          : "'1.8e308' is beyond the range of double precision, 1.8e+308")));
    EXPECT_THROW(nearest<TypeParam>(split(std::string("1").append(400, '0'))), LineError);
    EXPECT_THROW(nearest<TypeParam>(split(std::string("-1.").append(500, '0') + "e309")), LineError);
    EXPECT_EQ(nearest<TypeParam>(split(std::string("0.").append(400, '0').append("1"))), TypeParam(0));
}

}  // namespace
}  // namespace solver::matrix_market
