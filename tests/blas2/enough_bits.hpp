#pragma once

/// How wide the oracle's numbers are.

#include "support/oracle.hpp"

#include <stdexcept>

namespace solver::blas2 {

/// What make(bits) returns for an oracle of a few hundred bits, enough for nearly everything; where they do not suffice, which
/// the oracle notices, for one that holds every sum of products of doubles.
template <class Make>
auto with_enough_bits(const Make& make) {
    constexpr int usual_bits = 384;
    try {
        return make(usual_bits);
    } catch (const std::logic_error&) {
        return make(testing::Oracle::every_double);
    }
}

}  // namespace solver::blas2
