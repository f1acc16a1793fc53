/// libFuzzer's entry for the target that the build names.

#include "fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    solver::fuzz::SOLVER_FUZZ_TARGET({data, size});
    return 0;
}
