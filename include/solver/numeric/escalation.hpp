#pragma once

/// What adds up, and what if it cannot decide? One table for every mode, type and place; all loops ask it.
///
/// `exact` goes through up to four stages. A first try is cheap and may leave sums open; the sum itself decides nearly all;
/// what is still open is summed again by a filter that sees farther; a sum without rounding decides the rest. Since only what
/// is proven counts, and the correctly rounded result is unique, the stages can be seen in the time alone.

#include "solver/accuracy.hpp"
#include "solver/numeric/accumulators.hpp"
#include "solver/numeric/anchored.hpp"
#include "solver/numeric/anchored_pair.hpp"
#include "solver/numeric/bounded_float.hpp"
#include "solver/numeric/filtered.hpp"
#include "solver/numeric/filtered_expansion.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace solver {

/// No filter at this stage.
struct NoFilter {};

/// When a first try is left out, since its neighbours, or the next product with its matrix, will be much like one that failed.
struct SkipRule {
    static constexpr int any = std::numeric_limits<int>::max();  ///< a single one is too many

    int one_in = 1;  ///< a try fails that leaves more than one sum in so many open; 1: none fails
    int next = 0;    ///< how many are left out after one that failed

    /// Whether a try failed that left so many sums open.
    template <class Count>
    SOLVER_HD constexpr bool applies(Count open, Count all) const noexcept {
        return open > all / static_cast<Count>(one_in);
    }
};

/// The filters of `exact`: what is tried first, what adds up, what sums again what these left open.
template <class F, class S, class A>
struct Stages {
    using First = F;
    using Sum = S;
    using Again = A;
    static constexpr SkipRule skip{};
};

// Where sums are formed. What is known beforehand, what is scarce and what a second look costs differ from place to place.

struct Anywhere {};       ///< no place of its own: entries of ILU(0), shares of several processes, dot products of Krylov steps
struct FloatsOnly {};     ///< devices whose doubles are slow
struct RowsOnCpu {};      ///< of CSR, dense and triangular matrices: side by side in vector lanes, or lanes along one row
struct SlicesOnCpu {};    ///< of packed matrices
struct TermsOnCpu {};     ///< sums and dot products
struct BlocksOnCpu {};    ///< of a dense product
struct RowsOnGpu {};      ///< of CSR and dense matrices, a row by one or more threads
struct TilesOnGpu {};     ///< of CSR matrices: rows whose products lie in shared memory
struct SegmentsOnGpu {};  ///< of CSR matrices: long rows by several blocks
struct SlicesOnGpu {};    ///< of packed matrices
struct TrianglesOnGpu {};
struct TermsOnGpu {};     ///< sums, dot products and norms
struct StepsOnGpu {};     ///< norms in the kernels of Krylov methods
struct ElementsOnGpu {};  ///< of a dense product that residues do not serve

/// The table. What no filter decides goes to the last resort: a Superaccumulator, in products on a GPU DigitwiseSum, which
/// needs no memory, among several processes SumDigits. A place without a line of its own has that of Anywhere.
template <class T, class Place>
struct Escalation : Escalation<T, Anywhere> {};

template <>
struct Escalation<double, Anywhere> : Stages<NoFilter, FilteredTriple<double>, NoFilter> {};
template <>
struct Escalation<float, Anywhere> : Stages<NoFilter, FilteredFloat, NoFilter> {};
template <>
struct Escalation<float, FloatsOnly> : Stages<NoFilter, FilteredTriple<float>, NoFilter> {};

/// A pair takes half of the operations. Six terms, for rows whose products are exact, take 0.6 of a superaccumulator's time.
/// The rule counts groups of rows: ones times a stencil leave nearly all of them open.
template <>
struct Escalation<double, RowsOnCpu> : Stages<FilteredPair<double>, FilteredTriple<double>, FilteredExpansion<double>> {
    static constexpr SkipRule skip{2, 31};
};

/// A plain sum beside one of magnitudes: 4 operations a product in place of 10. It cannot decide ties, of which sums of few
/// digits, as of stencils, have so many that one open row ends the tries for a while.
template <>
struct Escalation<float, RowsOnCpu> : Stages<CountedBoundedFloat, FilteredFloat, NoFilter> {
    static constexpr SkipRule skip{SkipRule::any, 31};
};
template <>
struct Escalation<float, SlicesOnCpu> : Escalation<float, RowsOnCpu> {
    static constexpr std::size_t deferred_row_cost = 1;  ///< not asked: one open row is too many
};

/// A slice's rows are of one length, so that their first steps can set an anchor: 4 operations a product. A row left open waits
/// for others to be summed again with them, which costs as much as `deferred_row_cost` steps of its whole slice: a try whose
/// open rows cost more than the slice itself failed as well. The rule counts vectors of rows.
template <>
struct Escalation<double, SlicesOnCpu> : Stages<AnchoredPair, FilteredTriple<double>, FilteredExpansion<double>> {
    static constexpr SkipRule skip{2, 7};
    static constexpr std::size_t deferred_row_cost = 10;
};

/// Memory is slower than three terms. Six take 0.6 of a superaccumulator's time.
template <>
struct Escalation<double, TermsOnCpu> : Stages<NoFilter, FilteredTriple<double>, FilteredExpansion<double>> {};

/// The first try is always made: the kernel's own sum, anchored strip by strip (cpu/gemm/tiles-inl.hpp). In a block with more
/// than one open element in 16 the sum is made of all, else the last resort decides those alone.
template <class T>
struct Escalation<T, BlocksOnCpu> : Escalation<T, Anywhere> {
    static constexpr SkipRule one_by_one{16};
};

/// Three terms hide behind memory. What they leave open cancels: six terms, where all products are exact and alpha is 1 or -1.
template <>
struct Escalation<double, RowsOnGpu> : Stages<NoFilter, FilteredTriple<double>, FilteredExpansion<double>> {};
template <>
struct Escalation<float, RowsOnGpu> : Stages<NoFilter, FilteredFloat, FilteredTriple<double>> {};

/// Products wait in shared memory, so that a second look at them is cheap, and a first one takes few registers. The rule counts
/// products of the whole matrix, for each tile by itself.
template <>
struct Escalation<double, TilesOnGpu> : Stages<FilteredPair<double>, FilteredTriple<double>, FilteredExpansion<double>> {
    static constexpr SkipRule skip{SkipRule::any, 15};
};
template <>
struct Escalation<float, TilesOnGpu> : Stages<CountedBoundedFloat, FilteredFloat, FilteredTriple<double>> {
    static constexpr SkipRule skip{SkipRule::any, 15};
};

/// A long row that a first try left open is summed again by one block alone, which is dear: rows of more than a million entries
/// are never tried.
template <class T>
struct Escalation<T, SegmentsOnGpu> : Escalation<T, TilesOnGpu> {
    static constexpr SkipRule skip{SkipRule::any, 255};
};

/// As on a processor, in a kernel of few registers; rows left open are listed for the next kernel. The rule looks at slices and
/// counts products of the whole matrix.
template <>
struct Escalation<double, SlicesOnGpu> : Stages<AnchoredPair, FilteredTriple<double>, FilteredExpansion<double>> {
    static constexpr SkipRule skip{16, 15};
};
template <>
struct Escalation<float, SlicesOnGpu> : Stages<BoundedFloat, FilteredFloat, FilteredTriple<double>> {
    static constexpr SkipRule skip{16, 15};
};

/// Later rows wait: a pair is done soonest when the last element arrives, and one that watches itself knows where nothing was
/// lost. With factors of stencils half of all rows are ties.
template <>
struct Escalation<double, TrianglesOnGpu> : Stages<NoFilter, FilteredWatchedPair<double>, FilteredTriple<double>> {};

/// A thread sees several terms before it adds them, which sets the anchor.
template <>
struct Escalation<double, TermsOnGpu> : Stages<NoFilter, AnchoredTriple, NoFilter> {};

/// Squares do not cancel: a pair is enough, at half of the operations of three terms.
template <>
struct Escalation<double, StepsOnGpu> : Stages<NoFilter, FilteredPair<double>, NoFilter> {};

/// A loop of steps on a GPU has no last resort, and is left for a step that needs one. Where more than one step in so many
/// needed it, not counting the first ones, another loop is taken, which launches it in every step.
struct CarefulSteps {
    static constexpr std::int64_t one_in = 8;
    static constexpr std::int64_t free = 64;  ///< steps, of which one in one_in may need it before this is asked
};

/// A tile's sums are many: pairs, and the elements that they leave open by a warp or a block each in three terms.
template <>
struct Escalation<double, ElementsOnGpu> : Stages<NoFilter, FilteredPair<double>, FilteredTriple<double>> {};
template <>
struct Escalation<float, ElementsOnGpu> : Stages<NoFilter, FilteredFloat, FilteredTriple<double>> {};

/// What to try before A at a place; A itself where there is nothing.
template <class A, class Place>
using FirstTry = std::conditional_t<std::is_same_v<A, typename Escalation<typename A::value_type, Place>::Sum> &&
                                        !std::is_same_v<typename Escalation<typename A::value_type, Place>::First, NoFilter>,
                                    typename Escalation<typename A::value_type, Place>::First, A>;

/// What sums of values of type T are added up in, by mode.
template <class T, Accuracy accuracy, class Place = Anywhere>
struct AccumulatorOf;
template <class T, class Place>
struct AccumulatorOf<T, Accuracy::fast, Place> : std::type_identity<Plain<T>> {};
template <class Place>
struct AccumulatorOf<double, Accuracy::compensated, Place> : std::type_identity<Dot2<double>> {};
template <class Place>
struct AccumulatorOf<float, Accuracy::compensated, Place> : std::type_identity<FloatInDouble> {};
template <>
struct AccumulatorOf<float, Accuracy::compensated, FloatsOnly> : std::type_identity<Dot2<float>> {};
template <class T, class Place>
struct AccumulatorOf<T, Accuracy::exact, Place> : std::type_identity<typename Escalation<T, Place>::Sum> {};

/// Calls work(mode), whose `mode.value` is the accuracy as a constant, and returns what that gives.
template <class Work>
decltype(auto) with_accuracy(Accuracy accuracy, const Work& work) {
    switch (accuracy) {
        case Accuracy::fast:
            return work(std::integral_constant<Accuracy, Accuracy::fast>());
        case Accuracy::compensated:
            return work(std::integral_constant<Accuracy, Accuracy::compensated>());
        case Accuracy::exact:
            break;
    }
    return work(std::integral_constant<Accuracy, Accuracy::exact>());
}

}  // namespace solver
