#pragma once

/// When a callback's answer counts.

#include "solver/krylov.hpp"

#include <cstdint>
#include <functional>
#include <limits>

namespace solver {

/// The first iteration after this one at which the callback, which is told of all, is asked whether to go on.
using Pauses = std::function<std::int64_t(std::int64_t)>;

/// As the options say: never where there is nobody to ask.
inline Pauses pauses_of(const KrylovOptions& options) {
    if (!options.callback) return [](std::int64_t) { return std::numeric_limits<std::int64_t>::max(); };
    return [interval = options.callback_interval](std::int64_t iteration) { return (iteration / interval + 1) * interval; };
}

}  // namespace solver
