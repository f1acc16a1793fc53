#include "solver/cuda.hpp"
#include "solver/error.hpp"
#include "support/on_cuda.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace solver {
namespace {

using ::testing::ThrowsMessage;

/// 3 x 4 with rows of 2, 0 and 1 entries.
struct Arrays {
    std::vector<std::int64_t> offsets{0, 2, 2, 3};
    std::vector<std::int32_t> columns{0, 3, 1};
    std::vector<double> values{1, 2, 3};

    void check_on_device(std::int64_t nonzeros = 3) const { check_with_offsets(offsets, nonzeros); }

    /// With offsets of 32 bits.
    void check_narrow_on_device(std::int64_t nonzeros = 3) const {
        check_with_offsets(std::vector<std::int32_t>(offsets.begin(), offsets.end()), nonzeros);
    }

private:
    template <class Offset>
    void check_with_offsets(const std::vector<Offset>& given, std::int64_t nonzeros) const {
        const cuda::OwnedStream stream(0);
        const cuda::DeviceArray<Offset> device_offsets(0, std::span<const Offset>(given), "test", stream.get());
        const cuda::DeviceArray<std::int32_t> device_columns(0, std::span<const std::int32_t>(columns), "test", stream.get());
        const cuda::DeviceArray<double> device_values(0, std::span<const double>(values), "test", stream.get());
        cuda::check<double>({0, 3, 4, nonzeros, device_offsets.data(), device_columns.data(), device_values.data()},
                            stream.get());
    }
};

class CudaCheckMatrix : public testing::OnCuda {
protected:
    Arrays a_;
};

TEST_F(CudaCheckMatrix, AcceptsWhatIsWell) {
    EXPECT_NO_THROW(a_.check_on_device());
    EXPECT_NO_THROW(a_.check_narrow_on_device());
    a_ = {{0, 0, 0, 0}, {}, {}};
    EXPECT_NO_THROW(a_.check_on_device(0));
}

// Promise: cuda/csr.hpp, "Throws InvalidArgument, which names the first offender"
TEST_F(CudaCheckMatrix, NamesTheFirstRowWhoseOffsetsCannotBe) {
    constexpr const char* rest = "; they must rise from 0 to the number of entries, 3";
    const auto expect = [&](std::vector<std::int64_t> offsets, const std::string& problem) {
        a_.offsets = std::move(offsets);
        const auto refusal = ThrowsMessage<InvalidArgument>("matrix of 3 x 4 on cuda:0: " + problem + rest);
        EXPECT_THAT([&] { a_.check_on_device(); }, refusal);
        EXPECT_THAT([&] { a_.check_narrow_on_device(); }, refusal);
    };
    expect({1, 2, 2, 3}, "row 0 has offsets from 1 to 2");
    expect({0, 2, 1, 3}, "row 1 has offsets from 2 to 1");
    expect({0, 2, 2, 2}, "row 2 has offsets from 2 to 2");
    expect({0, 4, 2, 2}, "row 1 has offsets from 4 to 2");
}

// Promise: cuda/csr.hpp, "Throws InvalidArgument, which names the first offender"
// Promise: cuda/csr.hpp, "Reads the matrix once, on its device"
TEST_F(CudaCheckMatrix, NamesTheFirstColumnOutside) {
    const auto expect = [&](std::vector<std::int32_t> columns, const std::string& problem) {
        a_.columns = std::move(columns);
        EXPECT_THAT([&] { a_.check_on_device(); },
                    ThrowsMessage<InvalidArgument>("matrix of 3 x 4 on cuda:0: " + problem + "; columns are counted from 0"));
    };
    expect({0, 4, 4}, "entry 1 stands in column 4");
    expect({-1, 0, 0}, "entry 0 stands in column -1");
    expect({0, 0, std::numeric_limits<std::int32_t>::max()}, "entry 2 stands in column 2147483647");
}

}  // namespace
}  // namespace solver
