#pragma once

/// What complete factors would take, known without ordering the whole matrix.

#include "solver/preparation.hpp"
#include "solver/views.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace solver::preparation {

/// The pattern of a square matrix, wherever it lies.
class PatternRows {
public:
    virtual ~PatternRows() = default;
    virtual std::int64_t rows() const = 0;
    virtual std::int64_t row_length(std::int64_t row) = 0;

    /// The columns of a row's entries, until the next call at least.
    virtual std::span<const std::int32_t> columns_of(std::int64_t row) = 0;
};

/// An estimate for a square matrix, from parts of it: the rows that a breadth-first search from the middle row meets first are
/// ordered by AMD, so many and eight times as many; operations and entries are taken to go on growing with the power of the
/// number of rows that lies between the two (Lipton, Rose, Tarjan, SIAM J. Numer. Anal. 16, 1979: operations like n^1.5 for
/// planar meshes, like n^2 in space). Costs the time of a few products for large matrices; a matrix that is not much larger
/// than the parts is ordered as a whole. Depends on the pattern alone. Columns are sorted within each row or not.
/// Looks at few rows of a large matrix. Where `is_enough` is true of what the small part alone tells, as if nothing grew but
/// the number of rows, that is the answer: most of the time goes into the large part.
using IsEnough = std::function<bool(const FillPrediction& least)>;
FillPrediction estimate_fill(PatternRows& a, const IsEnough& is_enough = {});
template <class T>
FillPrediction estimate_fill(const CsrView<T>& a, const IsEnough& is_enough = {});

/// What the small part alone tells, as if nothing grew but the number of rows: mostly less than complete factors take. Nothing
/// for a matrix that is not much larger than the part.
template <class T>
std::optional<FillPrediction> least_fill(const CsrView<T>& a);

/// From the estimate for a real form what is true of factors found in complex arithmetic: half of the operations.
inline FillPrediction in_complex_arithmetic(const FillPrediction& of_real_form) {
    return {of_real_form.factor_entries, of_real_form.flops / 2};
}

}  // namespace solver::preparation
