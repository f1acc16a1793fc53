#pragma once

/// Preconditioners M ~ A, applied as z = M^-1 r.

#include "solver/accuracy.hpp"
#include "solver/device.hpp"
#include "solver/views.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace solver {

namespace cuda {
template <class T>
class DevicePreconditioner;
}

template <class T>
class SpmvPlan;

/// A level of a multigrid hierarchy.
struct LevelSummary {
    std::int64_t rows = 0;
    std::int64_t nonzeros = 0;  ///< of the level's matrix
    int unknowns_per_node = 1;  ///< successive rows that are aggregated together
};

/// The entries of all levels' matrices by those of the finest; 0 where there are no levels.
inline double operator_complexity(std::span<const LevelSummary> levels) {
    double entries = 0;
    for (const LevelSummary& level : levels) entries += static_cast<double>(level.nonzeros);
    return levels.empty() ? 0 : entries / static_cast<double>(levels.front().nonzeros);
}

/// What an iterative method needs of a preconditioner. Implement it to bring your own.
template <class T>
class Preconditioner {
    static_assert(std::floating_point<T>,
                  "numbers are real: give the real form of a complex matrix, SpmvPlan<std::complex<T>>::real(), and real_view "
                  "of vectors, or call `solve`, which takes complex ones (complex.hpp)");

public:
    virtual ~Preconditioner() = default;

    /// z = M^-1 r in the accuracy asked for. r and z have as many elements as A has rows and do not overlap.
    virtual void apply(std::span<const T> r, std::span<T> z, Accuracy accuracy) const = 0;

    /// Whether M = I, so that a method may take r for z and need not call apply.
    virtual bool is_identity() const { return false; }

    /// Whether M is symmetric where A is, as conjugate gradients need it. Whether it is positive definite, too, shows on the
    /// way (SolveStatus::indefinite); Jacobi's is where A is, for then A has a positive diagonal.
    virtual bool is_symmetric() const { return false; }

    /// Of complex numbers whose parts take turns: whether M is its own transpose, not conjugated, where A is, as cocg needs it.
    virtual bool is_complex_symmetric() const { return false; }

    /// How many numbers the factors hold; 0 where there are none.
    virtual std::int64_t factor_entries() const { return 0; }

    /// Depends on every bit of the factors: equal hashes, equal preconditioners. 0 where there are none.
    virtual std::uint64_t factor_hash() const { return 0; }

    /// The smallest magnitude of a pivot of complete factors by the largest: below some multiple of the unit roundoff, A is
    /// singular as far as this precision can tell. 1 where there are no such factors.
    virtual double pivot_ratio() const { return 1; }

    /// The levels of multigrid, the finest first; none elsewhere.
    virtual std::vector<LevelSummary> levels() const { return {}; }

    /// A copy of the preconditioner in the memory of a CUDA device (solver/cuda/preconditioner.hpp), equal bits in exact;
    /// independent of this object from then on. Null where there is no such thing, as it is unless overridden: then a method
    /// that runs on the device calls apply and copies r and z. Throws ResourceLimit where the device has not enough memory.
    virtual std::unique_ptr<cuda::DevicePreconditioner<T>> on_device(int device) const;
};

enum class PreconditionerKind {
    none,    ///< M = I
    jacobi,  ///< M = diag(A): z_i = RN(r_i / a_ii); of complex numbers each part of the quotient, rounded once in every mode
    ilu0,  ///< M = L U with the pattern of A (Meijerink, van der Vorst, Math. Comp. 31, 1977; Saad, sec. 10.3.2), natural order
    isai,  ///< M^-1 = V W, sparse approximate inverses of ILU(0)'s U and L: two products (Anzt, Huckle, Braeckle, Dongarra
           ///< 2018)
    ilut,  ///< M = L U with a threshold (Saad, Numer. Linear Algebra Appl. 1, 1994), of the prepared matrix (preparation.hpp)
    /// M = L U, complete, with partial pivoting (KLU: Davis, Palamadai Natarajan, ACM TOMS 37, 2010; by dense blocks where an
    /// eighth of all elements or more are stored and n is 256 or more), of the prepared matrix.
    klu,
    amg,    ///< one V-cycle of smoothed aggregation (Vanek, Mandel, Brezina, Computing 56, 1996; docs/multigrid.md)
    schur,  ///< block triangular, for saddle points, by the Schur complement of rows with positive diagonal (docs/multigrid.md)
};

/// "none", "jacobi", "ilu0", "isai", "ilut", "klu", "amg" or "schur".
std::string_view to_string(PreconditionerKind kind);

/// The inverse of to_string. Throws InvalidArgument that lists the choices.
PreconditionerKind preconditioner_from_text(std::string_view text);

/// As preconditioner_from_text, but nothing for "auto", which is listed first.
std::optional<PreconditionerKind> preconditioner_or_auto_from_text(std::string_view text);

/// What multigrid may be told.
struct AmgOptions {
    /// Of a connection, by the strongest of its row, to be aggregated along: from 0 to 1, and where none is given 1/2 where A
    /// is symmetric and a node one unknown, else 1/4.
    std::optional<double> strength_threshold = {};
    int smoother_degree = 2;  ///< products with A in a smoothing, before and after each correction; 1 to 20

    /// Rows b k to b k + b - 1 are unknowns of one node, as displacements of elasticity are; 1 to 100. 0: looked for in the
    /// pattern, up to 6.
    int unknowns_per_node = 0;

    /// Vectors that A maps to nearly nothing, which coarse levels then represent: of elasticity the rigid-body modes. One after
    /// another, each of as many numbers as A has rows; at most 20. None: the constants, of each unknown of a node apart. Not
    /// owned; read while the preconditioner is made.
    std::span<const double> near_null_space = {};
};

/// What the kinds that have a choice may be told.
struct PreconditionerOptions {
    double drop_tolerance = 1e-3;   ///< ILUT: entries below this times the mean magnitude of their row of A are dropped
    double fill_factor = 10;        ///< ILUT: at most this times the mean number of entries of a row in each row of L and of U
    std::int64_t memory_limit = 0;  ///< ILUT, KLU, multigrid, Schur: bytes they may take; 0: half of what the process may use
    AmgOptions amg = {};

    /// ILU(0), ISAI, ILUT, KLU: the block of each row, by any numbers; equal ones are of one block, wherever its rows stand.
    /// Entries of A between rows of different blocks are left out (block Jacobi: Saad, Iterative Methods, 2nd ed., sec. 12.2),
    /// so that M is block diagonal, and each block is factored as if it stood alone, with limits of its own. What is refused of
    /// a block is refused in its name. One for each row of A, or of the complex matrix whose real form A is
    /// (`complex_numbers`). None: all rows are one block. `solve` looks at them where a kind is named. Not owned; read while
    /// the preconditioner is made.
    std::span<const std::int32_t> block_of_row = {};

    /// A is the real form of a complex matrix (complex.hpp), and jacobi divides by complex numbers: by entries (2i, 2i) and
    /// (2i + 1, 2i), real and imaginary part. `solve` sets it where KrylovOptions::complex_scalars is set. Without imaginary
    /// parts on the whole diagonal every bit is as in real quotients. The other kinds take A as real.
    bool complex_numbers = false;

    /// Told, in a few words, what making is about to do where that may take a while: "amg, level 3: 20412 rows". Not
    /// owned; read while the preconditioner is made.
    const std::function<void(const std::string&)>* progress = nullptr;
};

/// Builds the preconditioner of A, which it does not refer to afterwards.
///
/// For a CUDA device the factors are made on the host, by all processors, and that is where apply() works, too, since its
/// vectors are there: the same bits in exact, and no copies. What the device uses is made by on_device().
///
/// ILU(0): every entry is a sum in the accuracy asked for (exact: rounded once), entries of L divided by the pivot afterwards.
/// Throws DimensionMismatch where A is not square or `block_of_row` has not an element for each row, and InvalidArgument that
/// names the row (counted from 1) where a diagonal entry is missing, or zero (Jacobi), or where a pivot is zero or an entry not
/// finite (ILU(0), which may fill a stored zero in). Multigrid is made in double, in a fixed order: the same levels on every
/// machine and in every accuracy; its cycle runs in single precision where A's entries lie in its range. It throws
/// InvalidArgument that names the row where a diagonal entry is missing or zero, or an entry not finite, and ResourceLimit
/// where levels would take more than the memory limit. The Schur complement is approximated in double, in a fixed
/// order. With schur InvalidArgument is thrown where no diagonal entry or each one is positive, where A is complex, and, naming
/// it, where the complement's diagonal is not negative in a row, and ResourceLimit where the complement would have more than
/// ten times the entries of A.
template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(PreconditionerKind kind, const CsrView<T>& a, Accuracy accuracy,
                                                       const Device& device = Device::best(),
                                                       const PreconditionerOptions& options = {});

/// Of the matrix that a plan has, for the plan's device. Where it lies on a CUDA device with sorted rows, multigrid's levels
/// are made there, with the same bits, and nothing is copied to the host; the other kinds read plan.matrix().
template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(PreconditionerKind kind, const SpmvPlan<T>& plan, Accuracy accuracy,
                                                       const PreconditionerOptions& options = {});

}  // namespace solver
