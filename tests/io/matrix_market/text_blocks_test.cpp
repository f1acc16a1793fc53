#include "io/matrix_market/text_blocks.hpp"

#include "solver/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.hpp"

namespace solver::matrix_market {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class TextBlocksTest : public ::testing::Test {
protected:
    std::filesystem::path file(const std::string& text) const {
        std::ofstream(folder_.path() / "a.txt", std::ios::binary) << text;
        return folder_.path() / "a.txt";
    }

private:
    testing::TemporaryFolder folder_;
};

/// All blocks put together, whose numbers and lines must follow one another.
std::string joined(TextBlocks& blocks, int& count) {
    std::string text;
    std::int64_t line = 1;
    TextBlock block;
    for (count = 0; blocks.next(block); ++count) {
        const std::string part(block.begin, block.end);
        EXPECT_EQ(block.number, count);
        EXPECT_EQ(block.first_line, line);
        EXPECT_EQ(block.lines, std::count(part.begin(), part.end(), '\n'));
        EXPECT_EQ(part.back(), '\n');
        line += block.lines;
        text += part;
    }
    EXPECT_TRUE(blocks.at_end());
    return text;
}

TEST_F(TextBlocksTest, GiveTheWholeTextInWholeLines) {
    for (const std::size_t size : {0, 1, 17, 262143, 262144, 262145, 524288, 1000003}) {
        std::string text;
        while (text.size() < size) text += "line " + std::to_string(text.size() % 977) + '\n';
        text.resize(size);
        TextBlocks blocks(file(text));
        int count = 0;
        const std::string found = joined(blocks, count);
        if (!text.empty() && text.back() != '\n') text += '\n';
        EXPECT_EQ(found, text) << size;
        EXPECT_GE(count, static_cast<int>(size / TextBlocks::block_size));
    }
}

TEST_F(TextBlocksTest, TakeALineOfOneBlockButNotALongerOne) {
    int count = 0;
    TextBlocks fitting(file(std::string(TextBlocks::block_size - 1, 'x') + "\nend"));
    EXPECT_EQ(joined(fitting, count).size(), TextBlocks::block_size + 4);
    TextBlocks too_long(file("first\n" + std::string(2 * TextBlocks::block_size, 'x') + "\n"));
    TextBlock block;
    ASSERT_TRUE(too_long.next(block));
    EXPECT_EQ(std::string(block.begin, block.end), "first\n");
    EXPECT_THAT([&] { too_long.next(block); },
                ThrowsMessage<FileError>(HasSubstr(":2: the line has more than 262144 characters")));
    EXPECT_EQ(block.number, 1);
    EXPECT_FALSE(too_long.next(block)) << "after a failure nothing follows";
}

TEST_F(TextBlocksTest, StopWhenTold) {
    TextBlocks blocks(file(std::string(600000, '\n')));
    TextBlock block;
    ASSERT_TRUE(blocks.next(block));
    EXPECT_FALSE(blocks.at_end());
    blocks.stop();
    EXPECT_TRUE(blocks.at_end());
    EXPECT_FALSE(blocks.next(block));
}

}  // namespace
}  // namespace solver::matrix_market
