#include "core/readable_bytes.hpp"

#include <gtest/gtest.h>

namespace solver {
namespace {

constexpr std::size_t mebibyte = 1 << 20;
constexpr std::size_t gibibyte = 1 << 30;

TEST(ReadableBytes, AreMebibytesRoundedUpBelowAGibibyte) {
    EXPECT_EQ(readable_bytes(0), "0 MiB");
    EXPECT_EQ(readable_bytes(1), "1 MiB");
    EXPECT_EQ(readable_bytes(mebibyte), "1 MiB");
    EXPECT_EQ(readable_bytes(mebibyte + 1), "2 MiB");
    EXPECT_EQ(readable_bytes(12 * mebibyte), "12 MiB");
    EXPECT_EQ(readable_bytes(gibibyte - mebibyte), "1023 MiB");
}

TEST(ReadableBytes, AreHundredthsOfGibibytesFromOneOn) {
    EXPECT_EQ(readable_bytes(gibibyte), "1.00 GiB");
    EXPECT_EQ(readable_bytes(gibibyte + gibibyte / 16), "1.06 GiB");
    EXPECT_EQ(readable_bytes(3 * gibibyte + gibibyte / 4), "3.25 GiB");
    EXPECT_EQ(readable_bytes(2 * gibibyte - 1), "2.00 GiB");
    EXPECT_EQ(readable_bytes(139 * gibibyte + gibibyte / 10 * 8), "139.80 GiB");
    EXPECT_EQ(readable_bytes(~std::size_t{0}), "17179869184.00 GiB");
}

}  // namespace
}  // namespace solver
