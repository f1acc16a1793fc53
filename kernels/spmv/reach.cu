#include "reach.hpp"
#include "runtime/check.cuh"
#include "solver/cuda/accumulators.cuh"
#include "solver/cuda/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace solver::cuda {
namespace {

constexpr int reach_threads = 256;

/// Rows that have not been met have the mark 0. Marks of rings come again: all neighbours of the older one have been met long
/// since, so that looking at it anew finds nothing.
__device__ std::uint8_t mark_of_ring(std::int64_t distance) { return static_cast<std::uint8_t>(1 + distance % 255); }

/// A thread looks at so many, one after another: a ring takes as long as what is found by one thread, and there are many rings.
constexpr int marks_a_word = 4;
__host__ __device__ constexpr std::int64_t words_of_marks(std::int64_t rows) {
    return (rows + marks_a_word - 1) / marks_a_word;
}

/// Some entries of A: every step-th from begin to end.
struct Entries {
    std::int64_t begin, end;
    int step;
};

/// Whether there is any that had no mark.
template <class T>
__device__ bool mark_columns(const DeviceCsrView<T>& a, const Entries& entries, std::uint8_t new_mark, std::uint8_t* marks) {
    bool found = false;
    for (std::int64_t k = entries.begin; k < entries.end; k += entries.step) {
        std::uint8_t& mark = marks[a.column_indices[k]];
        if (mark != 0) continue;
        mark = new_mark;  // as all who come here write
        found = true;
    }
    return found;
}

/// Those of a row for each lane of a warp, or none: short rows by their lanes, a long one by all.
template <class T>
__device__ bool mark_neighbours(const DeviceCsrView<T>& a, std::int64_t row, bool is_wanted, std::uint8_t new_mark,
                                std::uint8_t* marks) {
    constexpr unsigned all = ~0u;
    const std::int64_t begin = is_wanted ? a.row_offsets[row] : 0, end = is_wanted ? a.row_offsets[row + 1] : 0;
    const bool is_long = end - begin > warp_size;
    bool found = !is_long && mark_columns(a, {begin, end, 1}, new_mark, marks);
    for (unsigned left = __ballot_sync(all, is_long); left != 0; left &= left - 1) {
        const int owner = __ffs(static_cast<int>(left)) - 1;
        const std::int64_t first = __shfl_sync(all, begin, owner) + threadIdx.x % warp_size;
        found = mark_columns(a, {first, __shfl_sync(all, end, owner), warp_size}, new_mark, marks) || found;
    }
    return found;
}

/// Of the rows whose marks are in the words of a warp's lanes, those of a ring.
template <class T>
__device__ bool mark_neighbours_of_words(const DeviceCsrView<T>& a, std::int64_t first_row, std::uint32_t word,
                                         std::int64_t distance, std::uint8_t* marks) {
    constexpr std::uint32_t in_every_byte = 0x01010101;
    const std::uint32_t is_in_ring = __vcmpeq4(word, mark_of_ring(distance) * in_every_byte);
    if (!__any_sync(~0u, is_in_ring != 0)) return false;
    bool found = false;
    for (int i = 0; i < marks_a_word; ++i)
        found =
            mark_neighbours(a, first_row + i, (is_in_ring >> (8 * i) & 1u) != 0, mark_of_ring(distance + 1), marks) || found;
    return found;
}

/// Marks what the rows at this distance lead to and nobody has met, and notes in has_ring whether there is any.
template <class T>
__global__ void mark_next_ring(DeviceCsrView<T> a, std::int64_t distance, std::uint8_t* marks, std::uint8_t* has_ring) {
    if (has_ring[distance] == 0) return;
    const auto* const words = reinterpret_cast<const std::uint32_t*>(marks);  // most marks are of other rings
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * reach_threads, end = words_of_marks(a.rows);
    bool found = false;
    const auto lane = static_cast<int>(threadIdx.x % warp_size);
    std::int64_t w = static_cast<std::int64_t>(blockIdx.x) * reach_threads + threadIdx.x;
    for (; w - lane < end; w += step)  // by whole warps
        found = mark_neighbours_of_words(a, marks_a_word * w, w < end ? words[w] : 0, distance, marks) || found;
    if (found) has_ring[distance + 1] = 1;
}

}  // namespace

template <class T>
bool has_rows_beyond(const DeviceCsrView<T>& a, std::int64_t steps, Stream stream) {
    constexpr const char* purpose = "the distances of rows";
    if (steps >= a.rows) return false;  // no row is farther
    const CurrentDevice current(a.device);
    DeviceArray<std::uint8_t> marks(a.device, marks_a_word * words_of_marks(a.rows), purpose),
        has_ring(a.device, steps + 2, purpose);
    marks.fill_with_zeros(stream);
    has_ring.fill_with_zeros(stream);
    constexpr std::uint8_t first = 1;
    marks.copy_from(std::span(&first, 1), stream);
    has_ring.copy_from(std::span(&first, 1), stream);
    const auto blocks = static_cast<unsigned>(
        std::clamp<std::int64_t>((words_of_marks(a.rows) + reach_threads - 1) / reach_threads, 1, 1 << 12));
    for (std::int64_t distance = 0; distance <= steps; ++distance)
        mark_next_ring<<<blocks, reach_threads, 0, stream>>>(a, distance, marks.data(), has_ring.data());
    check_launch("mark_next_ring");
    std::uint8_t found = 0;
    has_ring.part(steps + 1, 1).copy_to(std::span(&found, 1), stream);
    return found != 0;
}

template bool has_rows_beyond(const DeviceCsrView<float>&, std::int64_t, Stream);
template bool has_rows_beyond(const DeviceCsrView<double>&, std::int64_t, Stream);

}  // namespace solver::cuda
