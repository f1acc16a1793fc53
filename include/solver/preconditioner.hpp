#pragma once

/// Preconditioners M ~ A, applied as z = M^-1 r.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/views.hpp"

#include <memory>
#include <span>
#include <string_view>

namespace solver {

/// What an iterative method needs of a preconditioner. Implement it to bring your own.
template <class T>
class Preconditioner {
public:
    virtual ~Preconditioner() = default;

    /// z = M^-1 r in the accuracy asked for. r and z have as many elements as A has rows and do not overlap.
    virtual void apply(std::span<const T> r, std::span<T> z, Accuracy accuracy) const = 0;
};

enum class PreconditionerKind {
    none,    ///< M = I
    jacobi,  ///< M = diag(A): z_i = RN(r_i / a_ii)
    ilu0,  ///< M = L U with the pattern of A (Meijerink, van der Vorst, Math. Comp. 31, 1977; Saad, sec. 10.3.2), natural order
};

/// "none", "jacobi" or "ilu0".
std::string_view to_string(PreconditionerKind kind);

/// The inverse of to_string. Throws InvalidArgument that lists the choices.
PreconditionerKind preconditioner_from_text(std::string_view text);

/// Builds the preconditioner of A, which it does not refer to afterwards.
///
/// ILU(0): every entry is a sum in the accuracy asked for (exact: rounded once), entries of L divided by the pivot afterwards.
/// Throws DimensionMismatch where A is not square, and InvalidArgument that names the row (counted from 1) where a diagonal
/// entry is missing, or zero (Jacobi), or where a pivot is zero or an entry not finite (ILU(0), which may fill a stored zero
/// in).
template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(PreconditionerKind kind, const CsrView<T>& a, Accuracy accuracy,
                                                       const Device& device = Device::best());

}  // namespace solver
