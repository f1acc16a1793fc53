#pragma once

/// From what is known at run time to the template that does it.

#include "gemm_tiled.cuh"
#include "gemm_tiled_sums.cuh"

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

/// Calls launch(major of A, major of B, problem), the first two as constants, for the task or its transpose.
template <class S, class Launch>
void with_majors(const GemmTask<S>& task, std::int64_t block, Launch&& launch) {
    using Inner = std::integral_constant<Major, Major::inner>;
    using Outer = std::integral_constant<Major, Major::outer>;
    const bool row_major_result = task.c.column_stride == 1;
    const GemmTask<S> t = row_major_result ? task : transposed(task);
    const DenseView<S> b = t.b.transposed();
    const Problem<S> problem{operand(t.a), operand(b), t.alpha, t.beta, t.c.data, t.c.row_stride, block};
    const auto with_a = [&](auto major_a) {
        if (major(b) == Major::inner)
            launch(major_a, Inner(), problem);
        else
            launch(major_a, Outer(), problem);
    };
    if (major(t.a) == Major::inner)
        with_a(Inner());
    else
        with_a(Outer());
}

/// Calls launch(std::type_identity<Sums>()) with the sums of type T of `count` elements that `summation` names, but plain ones.
template <class T, int count, class Launch>
void with_compensated_sums(GemmSummation summation, Launch&& launch) {
    switch (summation) {
        case GemmSummation::kahan:
            return launch(std::type_identity<KahanSums<T, count>>());
        case GemmSummation::doubly_compensated:
            return launch(std::type_identity<DoublyCompensatedSums<T, count>>());
        case GemmSummation::pairwise:
            return launch(std::type_identity<PairwiseSums<T, count>>());
        case GemmSummation::dot2:
            return launch(std::type_identity<TwofoldSums<T, count>>());
        case GemmSummation::automatic:
        case GemmSummation::plain:
            break;
    }
}

}  // namespace solver::cuda::tiled
