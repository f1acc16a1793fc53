#pragma once

#include <string>

namespace solver::bench {

/// The peers of scaling on the processor that are there, with their versions.
std::string peers_of_scaling();

}  // namespace solver::bench
