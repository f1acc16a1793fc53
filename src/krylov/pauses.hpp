#pragma once

/// What a callback is told, and when its answer counts.

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

/// Tells of an iteration whoever wants to know of it. Whether the callback wants to go on.
template <class Result>
bool report(const Iteration& record, const KrylovOptions& options, Result& result) {
    if (options.keep_history) {
        result.history.push_back(record);
        result.history.back().iterate = nullptr;
    }
    return !options.callback || options.callback(record);
}

}  // namespace solver
