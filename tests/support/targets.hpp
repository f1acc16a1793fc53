#pragma once

/// Every instruction set that this machine can run, one after the other.

#include <hwy/highway.h>

#include <gtest/gtest.h>

namespace solver::testing {

/// Calls work() with the library held to each of Highway's targets in turn, and names the target in what fails.
template <class Work>
void for_each_target(const Work& work) {
    struct Reset {
        ~Reset() { choose(0); }
        static void choose(std::int64_t targets) {
            hwy::SetSupportedTargetsForTest(targets);
            hwy::GetChosenTarget().Update(hwy::SupportedTargets());
        }
    };
    const Reset reset;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        SCOPED_TRACE(hwy::TargetName(target));
        Reset::choose(target);
        work();
    }
}

}  // namespace solver::testing
