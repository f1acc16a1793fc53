#define SOLVER_NUMBER double
#define SOLVER_EXACT true
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/packed_spmv-inl.hpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "cpu/packed_spmv-inl.hpp"
