#include "facts.hpp"
#include "runtime/check.cuh"
#include "solver/cuda/accumulators.cuh"

#include <algorithm>
#include <bit>

namespace solver::cuda {
namespace {

constexpr int facts_threads = 256;

struct Found {
    unsigned long long nonzeros, balanced_rows, zero_sums, positive_sums, negative_sums, empty_rows;
    unsigned not_finite, zeros_on_diagonal, not_positive, not_sorted, not_symmetric, not_nearly_symmetric,
        not_complex_symmetric;
    unsigned long long lower_less_upper;           ///< entries below the diagonal less those above, modulo 2^64
    unsigned long long largest_row, smallest_row;  ///< as doubles the bits, which rise with them; of the smallest inverted
};

__device__ void note(unsigned& flag, bool seen) {
    if (seen) atomicExch(&flag, 1u);
}

/// Adds what the lanes of a warp have, once: a million additions to one place take a millisecond.
__device__ void add(unsigned long long& sum, std::int64_t mine) {
    for (int step = warp_size / 2; step > 0; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
    if (threadIdx.x % warp_size == 0) atomicAdd(&sum, static_cast<unsigned long long>(mine));
}

/// The largest of all.
__device__ void raise(unsigned long long& largest, unsigned long long mine) {
    for (int step = warp_size / 2; step > 0; step /= 2) {
        const unsigned long long other = __shfl_down_sync(~0u, mine, step);
        mine = other > mine ? other : mine;
    }
    if (threadIdx.x % warp_size == 0) atomicMax(&largest, mine);
}

template <class T>
__global__ void watch_rows(DeviceCsrView<T> a, T* norms, Found* found) {
    RowWatch<T> watch;
    bool sorted = true;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * facts_threads;
    for (std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * facts_threads + threadIdx.x; row < a.rows; row += step) {
        T norm = 0;
        std::int32_t last = -1;
        watch.begin_row();
        for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) {
            const std::int32_t column = a.column_indices[k];
            watch.see(column == row, a.values[k]);
            norm = add_rn(norm, magnitude(a.values[k]));
            sorted = sorted && last < column;
            last = column;
        }
        watch.end_row();
        norms[row] = norm;
    }
    const RowFacts& facts = watch.facts();
    add(found->nonzeros, facts.nonzeros);
    add(found->balanced_rows, facts.balanced_rows);
    add(found->zero_sums, facts.zero_sums);
    add(found->positive_sums, facts.positive_sums);
    add(found->negative_sums, facts.negative_sums);
    add(found->empty_rows, facts.empty_rows);
    note(found->not_finite, !facts.is_finite);
    note(found->zeros_on_diagonal, facts.zeros_on_diagonal);
    note(found->not_positive, !facts.positive_diagonal);
    note(found->not_sorted, !sorted);
    const auto bits = [](double size) { return static_cast<unsigned long long>(__double_as_longlong(size)); };
    raise(found->largest_row, bits(facts.largest_row));
    raise(found->smallest_row, facts.smallest_row > 0 ? ~bits(facts.smallest_row) : 0);
}

/// Where a_ij is stored, or -1.
template <class T>
__device__ std::int64_t place_of(const DeviceCsrView<T>& a, std::int64_t i, std::int64_t j) {
    std::int64_t low = a.row_offsets[i];
    std::int64_t high = a.row_offsets[i + 1];
    const std::int64_t end = high;
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (a.column_indices[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && a.column_indices[low] == j ? low : -1;
}

/// Calls task(row, k) for the entries of 32 rows, the lanes of a warp side by side: a long row keeps no lane waiting.
template <class T, class Task>
__device__ void for_each_entry(const DeviceCsrView<T>& a, std::int64_t first_row, const Task& task) {
    constexpr unsigned all = ~0u;
    const auto lane = static_cast<int>(threadIdx.x) % warp_size;
    const std::int64_t begin_of_mine = a.row_offsets[min(first_row + lane, a.rows)];
    const std::int64_t end = a.row_offsets[min(first_row + warp_size, a.rows)];
    for (std::int64_t at = __shfl_sync(all, begin_of_mine, 0); at < end; at += warp_size) {
        const std::int64_t k = at + lane;
        int row = 0;  // the last that begins at k or before
        for (int step = warp_size / 2; step > 0; step /= 2)
            if (__shfl_sync(all, begin_of_mine, row + step) <= k) row += step;
        if (k < end) task(first_row + row, k);
    }
}

/// Of sorted rows: all entries below the diagonal stand above it, and there are as many.
template <class T>
__global__ void find_asymmetry(DeviceCsrView<T> a, Found* found) {
    if (found->not_sorted != 0) return;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * facts_threads;
    const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * facts_threads + threadIdx.x) / warp_size * warp_size;
    std::int64_t difference = 0;
    bool not_symmetric = false, not_nearly_symmetric = false, not_complex_symmetric = false;
    const auto entry = [&](std::int64_t i) {
        const std::int64_t place = place_of(a, i, i);
        return place < 0 ? T(0) : a.values[place];
    };
    const auto look = [&](std::int64_t row, std::int64_t k) {
        const std::int32_t column = a.column_indices[k];
        difference += column < row ? 1 : column > row ? -1 : 0;
        if (column >= row) return;
        const std::int64_t mirrored = place_of(a, column, row);
        const auto size = [&] { return diagonal_size(entry(row), entry(column)); };
        const auto has_value = [&](OwnTranspose kind) {
            return mirrored >= 0 && is_mirrored(kind, row, column, a.values[k], a.values[mirrored], size);
        };
        not_symmetric = not_symmetric || !has_value(OwnTranspose::of_reals);
        not_nearly_symmetric = not_nearly_symmetric || !has_value(OwnTranspose::of_rounded_reals);
        not_complex_symmetric = not_complex_symmetric || !has_value(OwnTranspose::of_complex_numbers);
    };
    const volatile Found& known = *found;
    for (std::int64_t row = first; row < a.rows; row += step) {
        const bool is_decided = known.not_nearly_symmetric != 0 && known.not_complex_symmetric != 0;
        if (__any_sync(~0u, is_decided)) break;  // by the whole warp
        for_each_entry(a, row, look);
        note(found->not_symmetric, not_symmetric && known.not_symmetric == 0);
        note(found->not_nearly_symmetric, not_nearly_symmetric && known.not_nearly_symmetric == 0);
        note(found->not_complex_symmetric, not_complex_symmetric && known.not_complex_symmetric == 0);
    }
    add(found->lower_less_upper, difference);
}

template <class T>
__global__ void find_diagonal(DeviceCsrView<T> a, T* diagonal, unsigned* is_unusual) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * facts_threads + threadIdx.x;
    if (row >= a.rows) return;
    T found = 0;
    int count = 0;
    for (std::int64_t k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k)
        if (a.column_indices[k] == row) {
            found = a.values[k];
            ++count;
        }
    diagonal[row] = found;
    note(*is_unusual, count != 1 || found == T(0));
}

}  // namespace

template <class T>
bool copy_diagonal(const DeviceCsrView<T>& a, T* diagonal, Stream stream) {
    if (a.rows == 0) return true;
    const CurrentDevice current(a.device);
    DeviceArray<unsigned> place(a.device, 1, "whether a diagonal is unusual");
    place.fill_with_zeros(stream);
    find_diagonal<<<static_cast<unsigned>((a.rows + facts_threads - 1) / facts_threads), facts_threads, 0, stream>>>(
        a, diagonal, place.data());
    check_launch("find_diagonal");
    unsigned is_unusual = 0;
    place.copy_to(std::span(&is_unusual, 1), stream);
    return is_unusual == 0;
}

template <class T>
FactsOnDevice facts_of(const DeviceCsrView<T>& a, T* norms, Stream stream) {
    const CurrentDevice current(a.device);
    DeviceArray<Found> place(a.device, 1, "facts of a matrix");
    place.fill_with_zeros(stream);
    const auto blocks =
        static_cast<unsigned>(std::clamp<std::int64_t>((a.rows + facts_threads - 1) / facts_threads, 1, 1 << 12));
    watch_rows<<<blocks, facts_threads, 0, stream>>>(a, norms, place.data());
    check_launch("watch_rows");
    if (a.rows == a.columns) {
        find_asymmetry<<<blocks, facts_threads, 0, stream>>>(a, place.data());
        check_launch("find_asymmetry");
    }
    Found found{};
    place.copy_to(std::span(&found, 1), stream);
    const bool may_be = a.rows == a.columns && found.not_sorted == 0 && found.lower_less_upper == 0;
    return {{.nonzeros = static_cast<std::int64_t>(found.nonzeros),
             .balanced_rows = static_cast<std::int64_t>(found.balanced_rows),
             .zero_sums = static_cast<std::int64_t>(found.zero_sums),
             .positive_sums = static_cast<std::int64_t>(found.positive_sums),
             .negative_sums = static_cast<std::int64_t>(found.negative_sums),
             .is_finite = found.not_finite == 0,
             .empty_rows = static_cast<std::int64_t>(found.empty_rows),
             .zeros_on_diagonal = found.zeros_on_diagonal != 0,
             .positive_diagonal = found.not_positive == 0,
             .smallest_row = found.smallest_row == 0 ? 0 : std::bit_cast<double>(~found.smallest_row),
             .largest_row = std::bit_cast<double>(found.largest_row)},
            found.not_sorted == 0,
            may_be && found.not_symmetric == 0,
            may_be && found.not_nearly_symmetric == 0,
            may_be && found.not_complex_symmetric == 0};
}

template bool copy_diagonal(const DeviceCsrView<float>&, float*, Stream);
template bool copy_diagonal(const DeviceCsrView<double>&, double*, Stream);
template FactsOnDevice facts_of(const DeviceCsrView<float>&, float*, Stream);
template FactsOnDevice facts_of(const DeviceCsrView<double>&, double*, Stream);

}  // namespace solver::cuda
