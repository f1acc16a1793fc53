#pragma once

/// A caller who has set flush-to-zero and another rounding, as -ffast-math start-up code and some libraries do.

#include <gtest/gtest.h>

#include <vector>

#include "support/expected.hpp"
#include "support/targets.hpp"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace solver::testing {

/// Calls work() under FTZ, DAZ and every other rounding mode, and expects to find them as they were.
template <class Work>
void for_each_hostile_environment(const Work& work) {
#if defined(__SSE2__)
    constexpr unsigned ftz_and_daz = 0x8040;
    constexpr unsigned defaults = 0x1F80;
    constexpr unsigned flags = 0x3F;
    struct Reset {
        ~Reset() { _mm_setcsr(defaults); }
    };
    for (const unsigned rounding : {0x0000U, 0x2000U, 0x4000U, 0x6000U}) {  // nearest, down, up, towards zero
        unsigned found;
        {
            const Reset reset;
            _mm_setcsr(defaults | ftz_and_daz | rounding);
            work();
            found = _mm_getcsr();
        }
        EXPECT_EQ(found & ~flags, defaults | ftz_and_daz | rounding) << "the caller's environment was not restored";
    }
#else
    GTEST_SKIP() << "written for x86";
#endif
}

/// results(), vectors of T, has the same bits in every hostile environment on every target.
template <class T, class Results>
void expect_deaf_to_the_environment(const Results& results) {
    for_each_target([&] {
        const std::vector<std::vector<T>> expected = results();
        std::vector<std::vector<std::vector<T>>> found;
        for_each_hostile_environment([&] { found.push_back(results()); });
        for (const auto& all : found) {
            ASSERT_EQ(all.size(), expected.size());
            for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(differences<T>(all[i], expected[i]), "") << i;
        }
    });
}

}  // namespace solver::testing
