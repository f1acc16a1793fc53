#include "core/multigrid/strength.hpp"

#include "core/multigrid/node_pattern.hpp"
#include "core/multigrid/scale.hpp"
#include "multigrid/place.hpp"
#include "multigrid/steps.cuh"

#include <algorithm>
#include <limits>

namespace solver::cuda {

template <class T>
bool CudaPlace::has_sorted_rows(const View<T>& a) const {
    const CurrentDevice current(device_);
    const Counter unsorted(device_, 0, stream_);
    Count* const count = unsorted.get();
    for_all("has_sorted_rows", a.rows, stream_, [=] __device__(std::int64_t i) {
        for (std::int64_t k = a.row_offsets[i] + 1; k < a.row_offsets[i + 1]; ++k)
            if (a.column_indices[k - 1] >= a.column_indices[k]) *count = 1;
    });
    return unsorted.read() == 0;
}

bool CudaPlace::suits_cycle_in_floats(const View<double>& a) const {
    const CurrentDevice current(device_);
    const Counter others(device_, 0, stream_);
    Count* const count = others.get();
    for_all("suits_single_precision", a.nonzeros, stream_, [=] __device__(std::int64_t k) {
        if (!amg::suits_single_precision(a.values[k])) *count = 1;
    });
    return others.read() == 0;
}

/// Each entry below the diagonal is looked for first as far from the end of its column's row as it is from the beginning of its
/// own, which is where regular grids have it.
template <class T>
bool CudaPlace::is_symmetric(const View<T>& a, OwnTranspose kind) const {
    const CurrentDevice current(device_);
    const Counter asymmetric(device_, 0, stream_), lower_less_upper(device_, 0, stream_);
    Count *const found = asymmetric.get(), *const sum = lower_less_upper.get();
    for_all_long("is_symmetric", a.rows, bytes_of_a_row(a), device_, stream_, [=] __device__(std::int64_t i) {
        std::int64_t difference = 0;
        const std::int64_t first = a.row_offsets[i], end = a.row_offsets[i + 1];
        for (std::int64_t k = first; k < end; ++k) {
            const std::int32_t j = a.column_indices[k];
            difference += j < i ? 1 : j > i ? -1 : 0;
            if (j >= i) continue;
            const std::int64_t begin = a.row_offsets[j], guess = a.row_offsets[j + 1] - 1 - (k - first);
            const bool is_there = guess >= begin && a.column_indices[guess] == i;
            const std::int64_t mirrored = is_there ? guess : amg::place_in_row(a, j, i);
            const bool is_stored = mirrored < a.row_offsets[j + 1] && a.column_indices[mirrored] == i;
            const auto entry = [&](std::int64_t row) {
                const std::int64_t place = amg::place_in_row(a, row, row);
                return place < a.row_offsets[row + 1] && a.column_indices[place] == row ? a.values[place] : T(0);
            };
            const auto size = [&] { return diagonal_size(entry(i), entry(j)); };
            if (!is_stored || !is_mirrored(kind, i, j, a.values[k], a.values[mirrored], size)) *found = 1;
        }
        if (difference != 0) atomicAdd(sum, static_cast<Count>(difference));
    });
    return asymmetric.read() == 0 && lower_less_upper.read() == 0;
}

template <class T>
int CudaPlace::unknowns_per_node(const View<T>& a) const {
    const CurrentDevice current(device_);
    return amg::most_unknowns_per_node(a.rows,
                                       [&](std::int64_t nodes, int unknowns) { return count_others(a, nodes, unknowns); });
}

template <class T>
std::int64_t CudaPlace::count_others(const View<T>& a, std::int64_t nodes, int unknowns) const {
    const Counter others(device_, 0, stream_);
    Count* const count = others.get();
    for_all("count_others", nodes, stream_, [=] __device__(std::int64_t node) {
        if (!amg::is_node(a, node, unknowns)) atomicAdd(count, Count{1});
    });
    return static_cast<std::int64_t>(others.read());
}

template <class T>
DeviceMatrix<T> CudaPlace::symmetric_magnitudes(const View<T>& a, const View<T>& transposed) const {
    const CurrentDevice current(device_);
    DeviceMatrix<T> result{a.rows, a.columns, {device_, a.rows + 1, "row offsets of |A| + |A^T|"}, {}, {}};
    std::int64_t* const offsets = result.row_offsets.data();
    for_all("lengths of rows of |A| + |A^T|", a.rows, stream_, [=] __device__(std::int64_t i) {
        std::int64_t count = 0;
        amg::for_each_magnitude(a, transposed, i, [&](std::int32_t, T) { ++count; });
        offsets[i + 1] = count;
    });
    const std::int64_t nonzeros = sum_up(result.row_offsets, stream_);
    result.column_indices = {device_, nonzeros, "column indices of |A| + |A^T|"};
    result.values = {device_, nonzeros, "values of |A| + |A^T|"};
    std::int32_t* const columns = result.column_indices.data();
    T* const values = result.values.data();
    for_all("rows of |A| + |A^T|", a.rows, stream_, [=] __device__(std::int64_t i) {
        std::int64_t k = offsets[i];
        amg::for_each_magnitude(a, transposed, i, [&](std::int32_t column, T value) {
            columns[k] = column;
            values[k++] = value;
        });
    });
    return result;
}

namespace {

/// visit(node, the largest magnitude of a block) for the blocks of a row of nodes, rising: the rows of the node merged.
/// next[row] is where each row is; begins at its first entry.
template <class T, class Visit>
__device__ void for_each_block(const DeviceCsrView<T>& a, std::int64_t node, int unknowns, std::int64_t* next,
                               const Visit& visit) {
    const std::int64_t first = node * unknowns;
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    for (int u = 0; u < unknowns; ++u) next[first + u] = a.row_offsets[first + u];
    while (true) {
        std::int64_t lowest = none;
        for (int u = 0; u < unknowns; ++u)
            if (const std::int64_t k = next[first + u]; k < a.row_offsets[first + u + 1])
                lowest = std::min(lowest, static_cast<std::int64_t>(a.column_indices[k] / unknowns));
        if (lowest == none) return;
        T largest = 0;
        for (int u = 0; u < unknowns; ++u) {
            std::int64_t& k = next[first + u];
            for (; k < a.row_offsets[first + u + 1] && a.column_indices[k] / unknowns == lowest; ++k)
                largest = std::max(largest, magnitude(a.values[k]));
        }
        visit(static_cast<std::int32_t>(lowest), largest);
    }
}

/// visit(how many come before, column) for the strong entries of a row, by its lanes side by side; how many there are. No row
/// where i is negative. All lanes of a warp come together.
template <class T, class Visit>
__device__ std::int64_t for_each_strong(const amg::Strength<DeviceCsrView<T>>& strength, double theta, std::int64_t i, int lane,
                                        const Visit& visit) {
    const std::int64_t begin = i < 0 ? 0 : strength.a.row_offsets[i], end = i < 0 ? 0 : strength.a.row_offsets[i + 1];
    const unsigned in_warp = threadIdx.x % 32;
    const unsigned of_row = ((1u << lanes_a_row) - 1) << (in_warp - static_cast<unsigned>(lane));
    std::int64_t count = 0;
    for (std::int64_t k = begin + lane; __any_sync(~0u, k - lane < end); k += lanes_a_row) {
        const bool is_strong = k < end && strength.is_strong(i, k, theta);
        const unsigned strong = __ballot_sync(~0u, is_strong) & of_row;
        if (is_strong) visit(count + __popc(strong & ((1u << in_warp) - 1)), strength.a.column_indices[k]);
        count += __popc(strong);
    }
    return count;
}

}  // namespace

template <class T>
DeviceMatrix<T> CudaPlace::magnitudes_of_nodes(const View<T>& a, int unknowns) const {
    const CurrentDevice current(device_);
    const std::int64_t nodes = a.rows / unknowns;
    DeviceMatrix<T> result{nodes, a.columns / unknowns, {device_, nodes + 1, "row offsets of nodes"}, {}, {}};
    const DeviceArray<std::int64_t> places(device_, a.rows, "places in rows");
    std::int64_t *const offsets = result.row_offsets.data(), *const next = places.data();
    for_all("lengths of rows of nodes", nodes, stream_, [=] __device__(std::int64_t node) {
        std::int64_t count = 0;
        for_each_block(a, node, unknowns, next, [&](std::int32_t, T) { ++count; });
        offsets[node + 1] = count;
    });
    const std::int64_t nonzeros = sum_up(result.row_offsets, stream_);
    result.column_indices = {device_, nonzeros, "column indices of nodes"};
    result.values = {device_, nonzeros, "values of nodes"};
    std::int32_t* const columns = result.column_indices.data();
    T* const values = result.values.data();
    for_all("rows of nodes", nodes, stream_, [=] __device__(std::int64_t node) {
        std::int64_t k = offsets[node];
        for_each_block(a, node, unknowns, next, [&](std::int32_t column, T value) {
            columns[k] = column;
            values[k++] = value;
        });
    });
    return result;
}

template <class T>
DeviceGraph CudaPlace::strong_connections(const View<T>& magnitudes, double theta) const {
    const CurrentDevice current(device_);
    const std::int64_t rows = magnitudes.rows;
    const DeviceArray<double> weights(device_, rows, "weights of strength"), maxima(device_, rows, "largest strengths");
    double *const weight = weights.data(), *const largest = maxima.data();
    const amg::Strength<View<T>> strength{magnitudes, weight, largest};
    for_all("weights of strength", rows, stream_,
            [=] __device__(std::int64_t i) { weight[i] = strength.weight_of_row(magnitudes, i); });
    for_all_rows("largest strengths", rows, stream_, [=] __device__(std::int64_t i, bool is_row, int lane) {
        double most = is_row ? strength.largest_of_row(i, lane, lanes_a_row) : 0;
        for (int distance = lanes_a_row / 2; distance > 0; distance /= 2)
            most = std::max(most, __shfl_xor_sync(~0u, most, distance));
        if (is_row && lane == 0) largest[i] = most;
    });
    DeviceGraph graph{{device_, rows + 1, "offsets of a graph"}, {}};
    std::int64_t* const offsets = graph.offsets.data();
    for_all_rows("degrees", rows, stream_, [=] __device__(std::int64_t i, bool is_row, int lane) {
        const std::int64_t count = for_each_strong(strength, theta, is_row ? i : -1, lane, [](std::int64_t, std::int32_t) {});
        if (is_row && lane == 0) offsets[i + 1] = count;
    });
    graph.neighbours = {device_, sum_up(graph.offsets, stream_), "neighbours in a graph"};
    std::int32_t* const neighbours = graph.neighbours.data();
    for_all_rows("neighbours", rows, stream_, [=] __device__(std::int64_t i, bool is_row, int lane) {
        for_each_strong(strength, theta, is_row ? i : -1, lane,
                        [&](std::int64_t before, std::int32_t j) { neighbours[offsets[i] + before] = j; });
    });
    return graph;
}

template bool CudaPlace::has_sorted_rows(const View<float>&) const;
template bool CudaPlace::has_sorted_rows(const View<double>&) const;
template bool CudaPlace::is_symmetric(const View<float>&, OwnTranspose) const;
template bool CudaPlace::is_symmetric(const View<double>&, OwnTranspose) const;
template int CudaPlace::unknowns_per_node(const View<float>&) const;
template int CudaPlace::unknowns_per_node(const View<double>&) const;
template DeviceMatrix<float> CudaPlace::symmetric_magnitudes(const View<float>&, const View<float>&) const;
template DeviceMatrix<double> CudaPlace::symmetric_magnitudes(const View<double>&, const View<double>&) const;
template DeviceMatrix<float> CudaPlace::magnitudes_of_nodes(const View<float>&, int) const;
template DeviceMatrix<double> CudaPlace::magnitudes_of_nodes(const View<double>&, int) const;
template DeviceGraph CudaPlace::strong_connections(const View<float>&, double) const;
template DeviceGraph CudaPlace::strong_connections(const View<double>&, double) const;

}  // namespace solver::cuda
