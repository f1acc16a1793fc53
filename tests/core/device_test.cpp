#include "solver/device.hpp"

#include "core/machine.hpp"
#include "solver/cuda.hpp"
#include "solver/error.hpp"
#include "solver/gemv.hpp"
#include "solver/triangular_solve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/environment.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace solver {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

// Promise: device.hpp, "0 threads means one for each processor"
// Promise: device.hpp, "Throws InvalidArgument if threads is negative"
// Promise: device.hpp, ""cpu" or "cuda:0"."
// Promise: solver.h, "0, as at the beginning: one for each"
// Promise: device.hpp, "0 on a CPU"
// Promise: device.hpp, "This machine's processor."
// Promise: error.hpp, "A value outside its range, an unknown name"
TEST(Device, CountsTheProcessorsThatMayBeUsed) {
    EXPECT_GE(Device::cpu().threads(), 1);
    EXPECT_EQ(Device::cpu().threads(), available_processors());
    EXPECT_EQ(Device::cpu(3).threads(), 3);
    EXPECT_EQ(to_string(Device::cpu(3)), "cpu");
    EXPECT_THAT([] { Device::cpu(-1); },
                ThrowsMessage<InvalidArgument>("device cpu: -1 threads asked for; 1 to 4096 are possible, 0 means all"));
    EXPECT_EQ(Device::cpu(4096).threads(), 4096);
    EXPECT_THROW(Device::cpu(4097), InvalidArgument);
    EXPECT_EQ(Device::cpu().index(), 0);
}

// Promise: device.hpp, "What a report says of a device."
// Promise: device.hpp, "as its maker calls it:"
// Promise: device.hpp, ""NVIDIA H200", or the processor"
TEST(Device, TellsTheProcessorsNameAndMemory) {
    const DeviceDescription found = describe(Device::cpu());
    EXPECT_THAT(found.name, AllOf(Not(""), Not(HasSubstr(": "))));  // the value alone of a line "name: value"
    EXPECT_GT(found.memory_bytes, std::int64_t{1} << 20);
    std::ifstream file("/proc/cpuinfo");
    const std::string cpuinfo{std::istreambuf_iterator<char>(file), {}};
    if (cpuinfo.find("model name") != std::string::npos) {
        EXPECT_THAT(cpuinfo, HasSubstr(": " + found.name + "\n"));
    }
}

// Promise: device.hpp, "CUDA device `index`, counted from 0."
TEST(Device, RefusesNegativeIndices) {
    EXPECT_THAT([] { Device::cuda(-1); }, ThrowsMessage<InvalidArgument>("device cuda:-1: CUDA devices are counted from 0"));
}

// Promise: device.hpp, "Throws NotSupported that says why"
// Promise: cuda/runtime.hpp, "0 where there is no device, no driver"
// Promise: device.hpp, "What there is of CUDA in this library and on this machine, in one line:"
// Promise: cuda/runtime.hpp, "0 without CUDA"
// Promise: cuda/runtime.hpp, "the driver's words for why there are no devices"
// Promise: cuda.hpp, "Plain C++: needs no header of CUDA."
// Promise: error.hpp, "Something this build, device or version cannot do."
// Promise: cuda/runtime.hpp, "0 where there is no driver"
TEST(Device, SaysWhyThereIsNoCudaDeviceAndWhatHelps) {
    const cuda::Platform platform = cuda::platform();
    if (platform.devices > 0) GTEST_SKIP() << "there is a CUDA device";
    const char* reason = !platform.built_in             ? "this library was built without CUDA"
                         : platform.driver_version == 0 ? "no NVIDIA driver was found on this machine"
                                                        : "the NVIDIA driver";
    EXPECT_THAT([] { Device::cuda(3); }, ThrowsMessage<NotSupported>(AllOf(StartsWith("device cuda:3: "), HasSubstr(reason))));
    EXPECT_THAT(describe_cuda(), HasSubstr(platform.built_in ? "built with 1" : "not built in"));
    EXPECT_EQ(Device::best().kind(), Device::Kind::cpu);
    EXPECT_EQ(Device::best().threads(), Device::cpu().threads());
    EXPECT_THROW(cuda::DeviceArray<double>(0, 1, "a test"), Error);
    EXPECT_EQ(cuda::device_count(), 0);
    EXPECT_EQ(platform.runtime_version > 0, platform.built_in);
    EXPECT_EQ(platform.problem.empty(), !platform.built_in) << platform.problem;
}

// Promise: accuracy.hpp, ""fast", "compensated" or "exact"."
// Promise: accuracy.hpp, "The inverse of to_string."
// Promise: accuracy.hpp, "Throws InvalidArgument that lists the choices."
TEST(AccuracyNames, ReadBackWhatTheyWrite) {
    for (const Accuracy accuracy : all_accuracies) EXPECT_EQ(accuracy_from_text(to_string(accuracy)), accuracy);
    EXPECT_THAT([] { accuracy_from_text("Exact"); },
                ThrowsMessage<InvalidArgument>("accuracy 'Exact' is not known; choose fast, compensated or exact"));
}

class CudaDevice : public ::testing::Test {
protected:
    void SetUp() override {
        if (cuda::device_count() == 0) GTEST_SKIP() << "no CUDA device";
    }
};

// Promise: device.hpp, "CUDA device 0 where there is one"
// Promise: device.hpp, ""cpu" or "cuda:0"."
// Promise: device.hpp, "1 or more; beside a CUDA device"
// Promise: device.hpp, ""built with 13.0; the driver knows 13.0"
// Promise: device.hpp, "the CUDA device;"
TEST_F(CudaDevice, IsTheBestThereIs) {
    EXPECT_EQ(to_string(Device::best()), "cuda:0");
    EXPECT_EQ(to_string(Device::cuda()), "cuda:0");
    EXPECT_GE(Device::cuda().threads(), 1);
    const DeviceDescription found = describe(Device::cuda());
    EXPECT_THAT(describe_cuda(), HasSubstr("cuda:0 " + found.name));
    EXPECT_GT(found.memory_bytes, std::int64_t{1} << 30);
}

// Promise: device.hpp, "Says where a device adds up floats"
// Promise: cuda/runtime.hpp, "by that number, or by SOLVER_FLOAT_SUMS"
TEST_F(CudaDevice, SaysWhatItAddsFloatsUpIn) {
    constexpr const char* words = "expansions of floats";
    EXPECT_GE(cuda::describe(0).floats_per_double, 1);
    {
        const testing::EnvironmentVariable variable("SOLVER_FLOAT_SUMS", "float");
        EXPECT_EQ(cuda::describe(0).float_sums, cuda::FloatSums::in_float);
        EXPECT_THAT(describe_cuda(), HasSubstr(words));
    }
    const testing::EnvironmentVariable variable("SOLVER_FLOAT_SUMS", "double");
    EXPECT_EQ(cuda::describe(0).float_sums, cuda::FloatSums::in_double);
    EXPECT_THAT(describe_cuda(), Not(HasSubstr(words)));
}

// Promise: device.hpp, "CUDA device `index`, counted from 0."
TEST_F(CudaDevice, BeyondTheLastIsRefused) {
    const int count = cuda::device_count();
    const std::string devices =
        count == 1 ? "this machine has 1 CUDA device, cuda:0"
                   : "this machine has " + std::to_string(count) + " CUDA devices, cuda:0 to cuda:" + std::to_string(count - 1);
    EXPECT_THAT([&] { Device::cuda(count); },
                ThrowsMessage<NotSupported>(StartsWith("device cuda:" + std::to_string(count) + ": " + devices)));
}

// Promise: gemv.hpp, "On the processor only:"
// Promise: gemv.hpp, "NotSupported on a CUDA device"
// Promise: triangular_solve.hpp, "NotSupported on a CUDA device."
// Promise: triangular_solve.hpp, "On the processor only:"
TEST_F(CudaDevice, HasNoDenseKernelAndSaysSo) {
    const std::vector<double> element{2};
    std::vector<double> y(1);
    const DenseView<double> a{1, 1, 1, 1, element.data()};
    EXPECT_THAT(
        [&] { gemv(1, a, element, 0, y, Accuracy::exact, Device::cuda()); },
        ThrowsMessage<NotSupported>("gemv: there is no kernel for CUDA devices, and cuda:0 was asked for; use Device::cpu()"));
    EXPECT_THAT(
        [&] {
            triangular_solve(a, Triangle::lower, Diagonal::stored, std::span(element), std::span(y), Accuracy::exact,
                             Device::cuda());
        },
        ThrowsMessage<NotSupported>(HasSubstr("there is no kernel for CUDA devices")));
    gemv(1, a, element, 0, y, Accuracy::exact);  // by default where there is one
    EXPECT_EQ(y[0], 4);
}

// Promise: cuda/memory.hpp, "`purpose` is for the message"
// Promise: cuda/memory.hpp, "The first host.size() elements, from and to the host."
// Promise: cuda/memory.hpp, "Throw DimensionMismatch where there are not as many."
// Promise: cuda/runtime.hpp, "NotSupported in a library built without CUDA"
// Promise: cuda/memory.hpp, ""the values of a matrix"."
TEST_F(CudaDevice, SaysHowMuchMemoryIsNeededAndFree) {
    EXPECT_THAT(
        [] { cuda::DeviceArray<double>(0, std::int64_t{1} << 50, "an enormous vector"); },
        ThrowsMessage<ResourceLimit>(AllOf(
            StartsWith("cuda:0 has too little memory for an enormous vector: 8388608.00 GiB needed, "), HasSubstr(" free"))));
    const std::vector<double> x(1000, 1.0);  // and goes on
    cuda::DeviceArray<double> copy(0, std::span<const double>(x), "a small vector");
    std::vector<double> back(x.size());
    copy.copy_to(back);
    EXPECT_EQ(back, x);
    back.push_back(0);
    EXPECT_THAT([&] { copy.copy_to(back); },
                ThrowsMessage<DimensionMismatch>("copy between host and cuda:0: the host has 1001 elements, the device 1000"));
}

}  // namespace
}  // namespace solver
