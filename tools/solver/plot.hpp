#pragma once

/// Residuals over iterations as a picture, drawn by gnuplot. (page.hpp: as a page)

#include "options.hpp"
#include "outcome.hpp"

#include <string>

namespace solver::command {

/// Writes options.plot, .svg or .png: the recursive residual of each run (of the right-hand side that went worst) as a line,
/// its true residuals where they were computed as points, Eigen's as it sees them in the middle of each iteration, the
/// tolerance. Throws NotSupported where there is no gnuplot, and Error with what gnuplot said where it fails.
void plot(const Options& options, const Outcome& outcome);

/// What gnuplot is given.
std::string plot_script(const Options& options, const Outcome& outcome);

}  // namespace solver::command
