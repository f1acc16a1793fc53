#define SOLVER_NUMBER float
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/gemm/gemm-inl.hpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include "cpu/gemm/gemm-inl.hpp"
