# targets_to_leave_out: Highway's vector targets but the best one that this machine has, and the baseline, with which the library
# still runs elsewhere.
try_run(native_target_ran native_target_compiled
  SOURCE_FROM_CONTENT native_target.cpp [[
#include <hwy/targets.h>
#include <cstdio>
int main() {
    const long long usable = hwy::SupportedTargets() & HWY_TARGETS;
    std::printf("0x%llx", static_cast<long long>(HWY_TARGETS) & ~(usable & -usable) & ~static_cast<long long>(HWY_STATIC_TARGET));
}
]]
  LINK_LIBRARIES hwy::hwy
  RUN_OUTPUT_VARIABLE targets_to_leave_out)
if(NOT native_target_compiled OR NOT native_target_ran EQUAL 0)
  message(FATAL_ERROR "SOLVER_NATIVE is ON, but a program that asks Highway for this machine's vector instructions did not run.")
endif()
