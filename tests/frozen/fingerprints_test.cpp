// Whether exact still gives the bits that it gave when they were written down.

#include "frozen/fingerprints.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/devices.hpp"
#include "support/targets.hpp"

namespace solver::frozen {
namespace {

/// The names whose bits have changed; those of `found` alone are asked for.
std::vector<std::string> changed(const std::vector<Fingerprint>& found) {
    const auto frozen = frozen_fingerprints();
    std::vector<std::string> names;
    for (const Fingerprint& fingerprint : found)
        if (std::find(frozen.begin(), frozen.end(), fingerprint) == frozen.end()) names.push_back(fingerprint.name);
    return names;
}

constexpr const char* advice = "bits that were promised have changed: docs/reproducibility.md says what to do";

// Promise: reproducibility.md, "In `exact` all results have the same bits"
// Promise: reproducibility.md, "`frozen_fingerprints_test` compares"
// Promise: accuracy.hpp, "The same bits on every machine, device"
// Promise: preparation.hpp, "Everything here is integer arithmetic"
// Promise: reduce.hpp, "The same bits everywhere."
// Promise: reproducibility.md, "A correctly rounded result is a property"
// Promise: reproducibility.md, "`sum_expansion`, `dot_expansion`"
// Promise: reproducibility.md, "`spmv`, `residual` of a sparse matrix"
// Promise: reproducibility.md, "`gemv`, dense `residual`"
// Promise: reproducibility.md, "`gemm`, every layout"
// Promise: reproducibility.md, "preconditioners none, Jacobi, ILU(0), ISAI"
// Promise: reproducibility.md, "`krylov_solve` by every method, `lsmr`"
// Promise: reproducibility.md, "sums of repeated entries, `convert`"
// Promise: reproducibility.md, "`sum`, `dot`, `norm2` | run_to_run, any_threads"
// Promise: reproducibility.md, "triangular solves, sparse and dense"
TEST(FrozenFingerprints, AreKeptForOneThreadAndForSeveral) {
    for (const int threads : {1, 3})
        EXPECT_EQ(changed(fingerprints(Device::cpu(threads))), std::vector<std::string>()) << advice;
}

// Promise: reproducibility.md, "In `exact` all results have the same bits"
// Promise: accuracy.hpp, "The same bits on every machine, device"
TEST(FrozenFingerprints, AreKeptByEveryInstructionSet) {
    testing::for_each_target([] {
        Record record(Accuracy::exact);
        record_reductions(record, Device::cpu(2));
        record_products(record, Device::cpu(2));
        record_dense_products(record, Device::cpu(2));
        record_triangular_solves(record, Device::cpu(2));
        EXPECT_EQ(changed(record.fingerprints()), std::vector<std::string>()) << advice;
    });
}

// Promise: reproducibility.md, "In `exact` all results have the same bits"
TEST(FrozenFingerprints, AreKeptByEveryCudaDevice) {
    for (const Device& device : testing::cuda_devices())
        EXPECT_EQ(changed(fingerprints(device)), std::vector<std::string>()) << advice;
}

// Promise: reproducibility.md, "In `fast` and `compensated` they are the same from run to run"
// Promise: reproducibility.md, "`fast` and `compensated` add up in trees that are"
// Promise: accuracy.hpp, "The same bits from run to run"
// Promise: accuracy.hpp, "Same bits as for fast."
// Promise: reproducibility.md, "`spmv`, `residual` of a sparse matrix"
// Promise: reproducibility.md, "`gemv`, dense `residual`"
// Promise: reproducibility.md, "`gemm`, every layout"
// Promise: reproducibility.md, "preconditioners none, Jacobi, ILU(0), ISAI"
// Promise: reproducibility.md, "`krylov_solve` by every method, `lsmr`"
TEST(Fingerprints, OfFastAndCompensatedAreThoseOfTheRunBefore) {
    for (const Accuracy accuracy : {Accuracy::fast, Accuracy::compensated})
        for (const int threads : {1, 3})
            EXPECT_TRUE(fingerprints(Device::cpu(threads), accuracy) == fingerprints(Device::cpu(threads), accuracy))
                << to_string(accuracy) << ", " << threads;
}

// Promise: reproducibility.md, "`tests/frozen/fingerprints.txt` holds a hash"
TEST(FrozenFingerprints, HoldEveryOperationOnceAndNothingElse) {
    std::vector<std::string> found, frozen;
    for (const Fingerprint& fingerprint : fingerprints(Device::cpu(2))) found.push_back(fingerprint.name);
    for (const Fingerprint& fingerprint : frozen_fingerprints()) frozen.push_back(fingerprint.name);
    EXPECT_EQ(found, frozen);
    EXPECT_EQ(std::set<std::string>(found.begin(), found.end()).size(), found.size());
}

}  // namespace
}  // namespace solver::frozen
