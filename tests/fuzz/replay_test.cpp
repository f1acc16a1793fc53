// Every input of the corpora once: what fuzzers found worth keeping, and whatever broke something before.

#include "fuzz/targets.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace solver::fuzz {
namespace {

class FuzzReplay : public ::testing::TestWithParam<Target> {};

TEST_P(FuzzReplay, BreaksNothing) {
    int count = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(SOLVER_SOURCE_FOLDER "/tests/fuzz/corpus/" + std::string(GetParam().name))) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        RecordProperty("input", entry.path().filename().string());  // named if it ends the process
        GetParam().run({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
        ++count;
    }
    EXPECT_GT(count, 5);
}

INSTANTIATE_TEST_SUITE_P(EveryTarget, FuzzReplay, ::testing::ValuesIn(targets),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace solver::fuzz
