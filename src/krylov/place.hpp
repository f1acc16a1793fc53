#pragma once

/// Where a Krylov method runs: on the processor, or on a CUDA device.

#include "krylov/pauses.hpp"
#include "krylov/run.hpp"
#include "solver/cuda/linear_operator.hpp"
#include "solver/device.hpp"
#include "solver/krylov.hpp"
#include "solver/linear_operator.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace solver {

/// What a call is given besides A and M.
template <class Wide>
struct KrylovCall {
    std::span<const Unknown<Wide>> unknowns;
    const KrylovOptions& options;
    const Pauses& pauses;
    std::int64_t first = 0;  ///< the number of the first unknown
};

/// A ready for solves at one place, with all that is kept from one solve to the next.
template <class Wide, class Value>
class KrylovPlace {
public:
    KrylovPlace() = default;
    KrylovPlace(const KrylovPlace&) = delete;
    KrylovPlace& operator=(const KrylovPlace&) = delete;
    virtual ~KrylovPlace() = default;

    virtual std::vector<SolveResult> run(KrylovMethod method, const Preconditioner<Value>& m, const KrylovCall<Wide>& call) = 0;
};

/// `a` is A in Wide, `in_value` in Value: both must outlive the place. Each is a source of its own.
template <class Wide, class Value>
std::unique_ptr<KrylovPlace<Wide, Value>> krylov_on_processor(const SpmvPlan<Wide>& a, const SpmvPlan<Value>& in_value);
template <class Wide, class Value>
std::unique_ptr<KrylovPlace<Wide, Value>> krylov_on_device(const SpmvPlan<Wide>& a, const SpmvPlan<Value>& in_value);

/// A single call for one unknown, where A is an operator.
template <class T>
SolveResult solve_operator_on_processor(KrylovMethod method, const LinearOperator<T>& a, const Preconditioner<T>& m,
                                        const KrylovCall<T>& call, const Device& processor);
template <class T>
SolveResult solve_operator_on_device(KrylovMethod method, const cuda::LinearOperator<T>& a, const Preconditioner<T>& m,
                                     const KrylovCall<T>& call, int device, cuda::Stream stream);

}  // namespace solver
