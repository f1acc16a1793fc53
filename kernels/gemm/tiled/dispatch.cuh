#pragma once

/// From what is known at run time to the template that does it.

#include "gemm/tiled/sums.cuh"
#include "gemm/tiled/tiled.cuh"

#include <type_traits>

namespace solver::cuda::tiled {

/// The depth of all tiles along k.
inline constexpr int tile_depth = 16;

/// Blocks of products that are multiples of tile_depth (or any, when they are added up plainly).
void multiply_whole_tiles(const GemmTask<float>& task, const GemmOptions& options, Stream stream);
void multiply_whole_tiles(const GemmTask<double>& task, const GemmOptions& options, Stream stream);
/// Products and sums in double, added up plainly.
void multiply_whole_tiles_in_double(const GemmTask<float>& task, Stream stream);
/// Blocks of any length, not added up plainly.
void multiply_any_block(const GemmTask<float>& task, const GemmOptions& options, Stream stream);
void multiply_any_block(const GemmTask<double>& task, const GemmOptions& options, Stream stream);

/// Calls launch(major of A, major of B), constants, for A with rows, B with columns as their outer indices.
template <class S, class Launch>
void with_majors(const DenseView<S>& a, const DenseView<S>& b, Launch&& launch) {
    using Inner = std::integral_constant<Major, Major::inner>;
    using Outer = std::integral_constant<Major, Major::outer>;
    const auto with_a = [&](auto major_a) {
        if (b.row_stride == 1)
            launch(major_a, Inner());
        else
            launch(major_a, Outer());
    };
    if (a.column_stride == 1)
        with_a(Inner());
    else
        with_a(Outer());
}

template <class S>
Operands<S> operands_of(const DenseView<S>& a, const DenseView<S>& b, std::int64_t block) {
    return {operand(a), operand(b.transposed()), block};
}

/// Calls launch(major of A, major of B, operands, result) for the task or its transpose, whichever has C row-major.
template <class S, class Launch>
void with_row_major_result(const GemmTask<S>& task, std::int64_t block, Launch&& launch) {
    const GemmTask<S> t = task.c.column_stride == 1 ? task : transposed(task);
    with_majors(t.a, t.b, [&](auto major_a, auto major_b) {
        launch(major_a, major_b, operands_of(t.a, t.b, block), ScaledResult<S>{t.alpha, t.beta, t.c.data, t.c.row_stride});
    });
}

/// Calls launch(std::type_identity<Sums>()) with the sums of `count` elements that `summation` names, if it is Kahan's or
/// doubly compensated. Totals lie in `Store`.
template <class T, int count, class Store, class Launch>
void with_compensated_sums(GemmSummation summation, Launch&& launch) {
    if (summation == GemmSummation::kahan) launch(std::type_identity<CompensatedSums<T, count, Store, false>>());
    if (summation == GemmSummation::doubly_compensated) launch(std::type_identity<CompensatedSums<T, count, Store, true>>());
}

/// Calls launch with the sums that `summation` names, if they are of those that keep more than a total.
template <class T, int count, class Launch>
void with_larger_sums(GemmSummation summation, Launch&& launch) {
    if (summation == GemmSummation::pairwise) launch(std::type_identity<PairwiseSums<T, count>>());
    if (summation == GemmSummation::dot2) launch(std::type_identity<TwofoldSums<T, count>>());
}

}  // namespace solver::cuda::tiled
