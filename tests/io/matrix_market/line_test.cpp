#include "io/matrix_market/line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace solver::matrix_market {
namespace {

using ::testing::ThrowsMessage;

TEST(Line, TokensEndAtBlanksAndLineEnds) {
    const std::string line = " \t\r12 ab\tc\r\n";
    const char* const p = line.data();
    EXPECT_EQ(skip_blanks(p) - p, 3);
    EXPECT_EQ(token_end(p + 3) - p, 5);
    EXPECT_EQ(token_end(p + 6) - p, 8);
    EXPECT_EQ(token_end(p + 9) - p, 10);
    EXPECT_EQ(skip_blanks(p + 10) - p, 11);
    EXPECT_EQ(*skip_blanks(p + 10), '\n');
}

TEST(Line, ShowsATokenFitToPrint) {
    EXPECT_EQ(seen("12.5 3\n"), "'12.5'");
    EXPECT_EQ(seen("\n"), "the end of the line");
    EXPECT_EQ(seen("a\x01\xff z\n"), "'a\\x01\\xff'");
    EXPECT_EQ(seen((std::string(40, 'x') + "\n").data()), std::string("'").append(40, 'x') + "'");
    EXPECT_EQ(seen((std::string(41, 'x') + "\n").data()), std::string("'").append(40, 'x') + "...'");
}

TEST(Line, ReadsWholeNumbersUpToTheLargest) {
    const auto read = [](const std::string& text) {
        std::int64_t value = -1;
        const std::string line = text + "\n";
        const char* const end = parse_whole(line.data(), value);
        EXPECT_TRUE(end == nullptr || end == line.data() + text.size());
        return end == nullptr ? -1 : value;
    };
    EXPECT_EQ(read("0"), 0);
    EXPECT_EQ(read("007"), 7);
    EXPECT_EQ(read("999999999999999999"), 999999999999999999);
    EXPECT_EQ(read("1000000000000000000"), largest_whole + 1);
    EXPECT_EQ(read("18446744073709551617"), largest_whole + 1) << "2^64 + 1 must not come out as 1";
    EXPECT_EQ(read(std::string(1000, '9')), largest_whole + 1);
    for (const char* text : {"", "-1", "+1", "1.5", "1e3", "a", "1a", "0x1"}) EXPECT_EQ(read(text), -1) << text;
}

TEST(Line, SaysWhatFollowsWhereNothingShould) {
    const std::string blank = " \r\n", more = "  5\n";
    EXPECT_EQ(expect_line_end(blank.data(), "the sizes") - blank.data(), 2);
    EXPECT_THAT([&] { expect_line_end(more.data(), "the sizes"); },
                ThrowsMessage<LineError>("saw '5', expected the end of the line after the sizes"));
    try {
        expect_line_end(more.data(), "the sizes");
    } catch (const LineError& error) {
        EXPECT_EQ(error.where(), more.data() + 2);
    }
}

}  // namespace
}  // namespace solver::matrix_market
