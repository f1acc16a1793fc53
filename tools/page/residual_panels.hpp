#pragma once

/// What solvers believed of their residuals beside what was true, a small picture each.

#include <string>
#include <string_view>
#include <vector>

namespace solver::page {

struct ResidualPoint {
    double iteration;
    double residual;  ///< relative to b
};

struct ResidualCurve {
    std::string name;
    std::string verdict;  ///< HTML: how it ended
    std::vector<ResidualPoint> believed;
    std::vector<ResidualPoint> truth;  ///< where it was computed
};

/// HTML: one picture a curve, all on the same axes, the others' beliefs faint behind it. The id is one that nothing else on the
/// page begins with. Residuals that are not positive numbers are left out; a long curve keeps its least and largest points.
std::string residual_panels(const std::vector<ResidualCurve>& curves, double tolerance, std::string_view id);

/// "Believed 3.3e-6 where 1.3e-4 is true" in the colours of the pictures; the believed number alone where it is right.
std::string belief_and_truth(double believed, double truth);

}  // namespace solver::page
