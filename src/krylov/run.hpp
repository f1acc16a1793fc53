#pragma once

/// A Krylov method for any number of right-hand sides, arguments checked.

#include "krylov/pauses.hpp"
#include "solver/dense_matrix.hpp"
#include "solver/krylov.hpp"
#include "solver/preconditioner.hpp"
#include "solver/spmv.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace solver {

/// One right-hand side and where its solution goes; x_low empty for none.
template <class T>
struct Unknown {
    std::span<const T> b;
    std::span<T> x;
    std::span<T> x_low = {};
    bool on_device = false;  ///< they lie in the memory of the plan's device, not in the host's
};

template <class Wide, class Value>
class KrylovPlace;

/// A where it is iterated on, ready for solves by any method with any preconditioner: what is expensive to make (norms of its
/// columns; on a CUDA device analyses of A, vectors, streams) is kept from one solve to the next. The iteration runs in Value,
/// x and b - A x are in Wide.
template <class Wide, class Value = Wide>
class KrylovSystem {
public:
    /// `a_in_value` is A rounded to Value, or A itself. Both must outlive the system. Throws where they are not the same matrix
    /// on the same device, or where rounding overflows.
    KrylovSystem(const SpmvPlan<Wide>& a, const SpmvPlan<Value>& a_in_value);
    KrylovSystem(const KrylovSystem&) = delete;
    KrylovSystem& operator=(const KrylovSystem&) = delete;
    ~KrylovSystem();

    std::vector<SolveResult> run(KrylovMethod method, const Preconditioner<Value>& m, std::span<const Unknown<Wide>> unknowns,
                                 const KrylovOptions& options, const Pauses& pauses);

private:
    const SpmvPlan<Wide>& a_;
    const SpmvPlan<Value>& a_in_value_;
    std::unique_ptr<KrylovPlace<Wide, Value>> place_;  ///< made when first used
};

/// Throws where these are not the same matrix on the same device, rounded to float in one of them.
void check_rounded(const SpmvPlan<double>& plan, const SpmvPlan<float>& plan_single);

/// Throws where the options cannot be meant.
void check_options(std::string_view caller, const KrylovOptions& options);

/// Throws ResourceLimit where so many solves at once on the processor may want more vectors than there is memory for.
void check_memory(KrylovMethod method, const KrylovOptions& options, bool preconditioned, std::int64_t rows,
                  std::size_t bytes_an_element, std::size_t columns);

/// Throws where the method needs a symmetric preconditioner and this one is not known to be.
void check_symmetry(KrylovMethod method, bool m_is_symmetric);

/// Throws where scalars are to be complex and the rows are not those of a real form.
void check_complex_scalars(KrylovMethod method, const KrylovOptions& options, std::int64_t rows);

/// Throws where two of these, the vectors of one column or of all, have memory in common.
template <class T>
void check_apart(std::string_view caller, std::span<const T> b, std::span<const T> x, std::span<const T> x_low);

/// What the public functions check, and the spans that they make. Messages begin with the caller's name.
template <class T>
Unknown<T> checked_unknown(std::int64_t rows, std::span<const T> b, std::span<T> x, std::span<T> x_low,
                           const KrylovOptions& options, std::string_view caller);
template <class T>
Unknown<T> checked_unknown(const SpmvPlan<T>& a, std::span<const T> b, std::span<T> x, std::span<T> x_low,
                           const KrylovOptions& options, std::string_view caller = "solve");
template <class T>
std::vector<Unknown<T>> checked_unknowns(const SpmvPlan<T>& a, const DenseMatrix<T>& b, DenseMatrix<T>& x,
                                         DenseMatrix<T>* x_low, const KrylovOptions& options,
                                         std::string_view caller = "solve");

}  // namespace solver
