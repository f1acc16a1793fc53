#pragma once

/// Small solves on a GPU while the matrix is read.

#include "options.hpp"

#include <thread>

namespace solver::command {

/// Solves small systems on the device of these options, as they ask, so that the driver has loaded most of the kernels, which
/// takes it some 30 ms, by the time the matrix is there. Nothing where the device is the processor. Ends within a few
/// iterations when the thread is destroyed. What goes wrong here is told of when it goes wrong in earnest. The options must
/// outlive it.
template <class T>
std::jthread rehearse(const Options& options);

}  // namespace solver::command
