#pragma once

/// A sum, a dot product or a norm by everybody on one machine.

#include "inputs.hpp"
#include "operation.hpp"
#include "options.hpp"

#include <memory>

namespace solver::bench {

/// Of the options' subject, on the machine that they name; `exact` is the result correctly rounded. The data must outlive it.
template <class T>
std::unique_ptr<Operation> make_reduction(const Options& options, const Factors<T>& data, T exact);

}  // namespace solver::bench
