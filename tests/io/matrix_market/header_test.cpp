#include "io/matrix_market/header.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.hpp"

namespace solver::matrix_market {
namespace {

/// The header of a file with this text, and what is left of its first block.
struct Read {
    explicit Read(const std::string& text) {
        const testing::TemporaryFolder folder;
        std::ofstream(folder.path() / "a.mtx", std::ios::binary) << text;
        TextBlocks blocks(folder.path() / "a.mtx");
        TextBlock block;
        try {
            header = read_header(blocks, block);
            rest.assign(block.begin, block.end);
            next_line = block.first_line;
            lines = block.lines;
        } catch (const FileError& error) {
            refusal = std::string(error.what()).substr(blocks.path().size());
        }
    }

    Header header;
    std::string rest;
    std::int64_t next_line = 0;
    std::int64_t lines = 0;
    std::string refusal;
};

TEST(Header, KnowsFormatFieldSymmetryAndSizes) {
    const Read read("%%MatrixMarket Matrix COORDINATE Integer Skew-Symmetric \r\n% a comment\n\n%\n 7\t7 12 \r\n2 1 5\n3 1 6");
    EXPECT_EQ(read.refusal, "");
    EXPECT_EQ(read.header.format, Format::coordinate);
    EXPECT_EQ(read.header.field, Field::integer);
    EXPECT_EQ(read.header.symmetry, Symmetry::skew_symmetric);
    EXPECT_EQ(read.header.rows, 7);
    EXPECT_EQ(read.header.columns, 7);
    EXPECT_EQ(read.header.entries, 12);
    EXPECT_EQ(read.header.size_line, 5);
    EXPECT_EQ(read.rest, "2 1 5\n3 1 6\n");
    EXPECT_EQ(read.next_line, 6);
    EXPECT_EQ(read.lines, 2);
}

// As some editors write it; within a file it is no blank.
TEST(Header, MayFollowTheByteOrderMarkOfUtf8) {
    const std::string mark = "\xEF\xBB\xBF", banner = "%%MatrixMarket matrix array real general\n";
    EXPECT_EQ(Read(mark + banner + "2 3\n").refusal, "");
    EXPECT_EQ(Read(mark + banner + "2 3\n").header.columns, 3);
    EXPECT_NE(Read(mark + mark + banner + "2 3\n").refusal, "");
    EXPECT_NE(Read(banner + mark + "2 3\n").refusal, "");
}

TEST(Header, CountsWhatAnArrayStores) {
    const auto entries = [](const std::string& symmetry, const std::string& sizes) {
        return Read("%%MatrixMarket matrix array real " + symmetry + "\n" + sizes + "\n").header.entries;
    };
    EXPECT_EQ(entries("general", "3 5"), 15);
    EXPECT_EQ(entries("symmetric", "5 5"), 15);
    EXPECT_EQ(entries("skew-symmetric", "5 5"), 10);
    EXPECT_EQ(entries("general", "0 5"), 0);
    EXPECT_EQ(entries("general", "2147483647 2147483647"), 2147483647LL * 2147483647LL);
}

TEST(Header, SaysInWhichLineWhatIsWrong) {
    const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";
    const std::pair<std::string, const char*> broken[] = {
        {"", ": the file is empty"},
        {"%MatrixMarket matrix coordinate real general\n", ":1: saw '%MatrixMarket', expected '%%MatrixMarket matrix"},
        {"%%MatrixMarket vector coordinate real general\n", ":1: saw 'vector', expected the object to be matrix"},
        {"%%MatrixMarket matrix coordinate real hermitian\n", ":1: a hermitian matrix is complex"},
        {"%%MatrixMarket matrix array pattern general\n", ":1: an array of patterns has no values"},
        {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n", ":1: a pattern has no signs"},
        {"%%MatrixMarket matrix coordinate real general 1\n", ":1: saw '1', expected the end of the line after the banner"},
        {coordinate, "the file ends before the line with the sizes"},
        {coordinate + "% only\n\n", "the file ends before the line with the sizes"},
        {coordinate + "\n3 4\n", ":3: saw the end of the line, expected three whole numbers: rows, columns, entries"},
        {coordinate + "3 -4 5\n", ":2: saw '-4', expected three whole numbers"},
        {coordinate + "3 4 5 6\n", ":2: saw '6', expected the end of the line after rows, columns, entries"},
        {coordinate + "2147483648 4 5\n", ":2: saw '2147483648' rows, at most 2147483647 are supported"},
        {"%%MatrixMarket matrix coordinate real symmetric\n3 4 5\n", ":2: the matrix is 3 x 4; one with a symmetry"},
        {"%%MatrixMarket matrix array real general\n3 4 5\n", ":2: saw '5', expected the end of the line after rows, columns"},
    };
    for (const auto& [text, message] : broken) EXPECT_THAT(Read(text).refusal, ::testing::HasSubstr(message)) << text;
}

}  // namespace
}  // namespace solver::matrix_market
