#pragma once

/// One computation by everybody who makes it on a machine, the processor or a CUDA device: what a contest is made of.

#include "report.hpp"

#include <vector>

namespace solver::bench {

/// Holds its operands and one result in the machine's memory. Whoever has been asked for the error of a result leaves NaN in
/// its place: what is not computed cannot pass.
class Operation {
public:
    virtual ~Operation() = default;

    /// The library.
    virtual std::vector<Competitor> ours() = 0;
    /// The fastest is what all are compared with.
    virtual std::vector<Competitor> peers() { return {}; }
    /// Who is timed beside them, but is no peer: other algorithms, analyses, conversions.
    virtual std::vector<Competitor> others() { return {}; }
};

/// Everybody comes into the contest.
void enter(Contest& contest, Operation& operation);

}  // namespace solver::bench
