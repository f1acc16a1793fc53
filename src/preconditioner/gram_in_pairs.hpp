#pragma once

/// Complete factors of the normal equations of ill-conditioned matrices, whose square double cannot hold.

#include "solver/device.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace solver {

/// A preconditioner near (A'A + D)^-1, A divided by the power of two `unit`: L H L' = P (A'A + D) P', H diagonal, found in
/// pairs of doubles and then rounded. A'A is formed in pairs, too: a sum of m products is off by at most some m^2 2^-106 of
/// their magnitudes' sum (Dot2), mostly by far less. D is 2^-96 of its diagonal. That serves condition numbers of A, its
/// columns scaled, to about 2^46 where m is some hundreds, while factors of what double holds of A'A serve 2^20. Row after row
/// (LDL: Davis, ACM TOMS 31(4), 2005), by one thread; in the order of P, which `order` gives. `pattern` is that of A'A, with
/// its diagonal. Equal bits on every machine.
///
/// Null where the factors would take more bytes than memory_limit, as PreconditionerOptions has it, or where a pivot is not
/// positive.
template <class T>
std::unique_ptr<Preconditioner<T>> make_gram_factors_in_pairs(const SpmvPlan<T>& a, const SpmvPlan<T>& transposed, double unit,
                                                              const CsrView<double>& pattern,
                                                              const std::vector<std::int32_t>& order, std::int64_t memory_limit,
                                                              const Device& host);

}  // namespace solver
