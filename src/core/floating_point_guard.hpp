#pragma once

/// The floating-point environment that the contracts assume.

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace solver::cpu {

/// While it lives, this thread rounds to nearest and honours subnormals; afterwards it is as the caller had it. A program's
/// start-up code
/// (-ffast-math links one) or a user may have set flush-to-zero or another rounding. Stands at every entry and in every worker.
class FloatingPointGuard {
public:
    FloatingPointGuard(const FloatingPointGuard&) = delete;
    FloatingPointGuard& operator=(const FloatingPointGuard&) = delete;

#if defined(__SSE2__)
    FloatingPointGuard() : saved_(_mm_getcsr()) { _mm_setcsr(0x1F80); }  // all exceptions masked, nearest, no FTZ, no DAZ
    ~FloatingPointGuard() { _mm_setcsr(saved_); }

private:
    unsigned saved_;
#else
    FloatingPointGuard() {
        std::fegetenv(&saved_);
        std::fesetenv(FE_DFL_ENV);
    }
    ~FloatingPointGuard() { std::fesetenv(&saved_); }

private:
    std::fenv_t saved_;
#endif
};

}  // namespace solver::cpu
