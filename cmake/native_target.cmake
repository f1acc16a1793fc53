# native_target: the best of Highway's vector targets that this machine has.
try_run(native_target_ran native_target_compiled
  SOURCE_FROM_CONTENT native_target.cpp [[
#include <hwy/targets.h>
#include <cstdio>
int main() {
    const long long usable = hwy::SupportedTargets() & HWY_TARGETS;
    std::printf("0x%llx", usable & -usable);
}
]]
  LINK_LIBRARIES hwy::hwy
  RUN_OUTPUT_VARIABLE native_target)
if(NOT native_target_compiled OR NOT native_target_ran EQUAL 0)
  message(FATAL_ERROR "SOLVER_NATIVE is ON, but a program that asks Highway for this machine's vector instructions did not run.")
endif()
