#define SOLVER_NUMBER double
#define SOLVER_EXACT false
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/packed_spmv-inl.hpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "cpu/packed_spmv-inl.hpp"
