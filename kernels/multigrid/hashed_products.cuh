#pragma once

/// Rows of some length as sums in a hash table in shared memory.

#include "multigrid/row_products.cuh"

#include <cstddef>
#include <cstdint>

namespace solver::cuda {

/// The shape of the kernel: so many lanes a row, each of which has room for so many columns.
template <int lanes_a_row, int columns_a_row>
struct HashedShape {
    static constexpr int threads = 128;
    static constexpr int lanes = lanes_a_row;
    static constexpr int places = columns_a_row;
    static constexpr int slots = 2 * places;  // a power of two
    static constexpr int rows_a_block = threads / lanes;
    static constexpr std::size_t shared_bytes = rows_a_block * (places * (sizeof(double) + sizeof(std::int32_t)) +
                                                                slots * (sizeof(std::int32_t) + sizeof(std::int16_t)));
};

/// A row so far, in shared memory: elements in the order of their first terms. The lanes of a row add entries of one row of B
/// side by side, whose columns differ from one another: no two of them meet at an element.
template <class Shape>
class HashedRow {
public:
    __device__ HashedRow(std::byte* shared, int group) {
        constexpr int rows = Shape::rows_a_block, places = Shape::places, slots = Shape::slots;
        auto* const all_values = reinterpret_cast<double*>(shared);
        auto* const all_columns = reinterpret_cast<std::int32_t*>(all_values + rows * places);
        std::int32_t* const all_keys = all_columns + rows * places;
        auto* const all_places = reinterpret_cast<std::int16_t*>(all_keys + rows * slots);
        values_ = all_values + group * places;
        columns_ = all_columns + group * places;
        keys_ = all_keys + group * slots;
        place_of_ = all_places + group * slots;
    }

    __device__ void clear(int lane) {
        for (int s = lane; s < Shape::slots; s += Shape::lanes) keys_[s] = empty;
        __syncwarp();
    }

    /// By all lanes of the warp; `is_there` says which have an entry. False where there is no room: the row is lost.
    __device__ bool add(bool is_there, std::int32_t column, double value) {
        const auto [slot, is_new] = is_there ? find(column) : Found{0, false};
        __syncwarp();
        const unsigned in_warp = threadIdx.x % 32, first = in_warp / Shape::lanes * Shape::lanes;
        const unsigned mine = (~0u >> (32 - Shape::lanes)) << first;
        const unsigned others = __ballot_sync(~0u, is_new) & mine;
        if (is_new) {
            const int place = size_ + __popc(others & ((1u << in_warp) - 1));
            place_of_[slot] = static_cast<std::int16_t>(place);
            if (place < Shape::places) {
                columns_[place] = column;
                values_[place] = add_rn(0.0, value);
            }
        } else if (is_there) {
            double& element = values_[place_of_[slot]];
            element = add_rn(element, value);
        }
        size_ += __popc(others);
        __syncwarp();
        return size_ <= Shape::places;
    }

    __device__ int size() const { return size_; }
    __device__ std::int32_t column(int place) const { return columns_[place]; }
    __device__ double value(int place) const { return values_[place]; }

    /// How many columns are lower than that of an element.
    __device__ int rank(int place) const {
        int lower = 0;
        for (int p = 0; p < size_; ++p) lower += columns_[p] < columns_[place] ? 1 : 0;
        return lower;
    }

private:
    static constexpr std::int32_t empty = -1;

    struct Found {
        unsigned slot;
        bool is_new;
    };

    /// There is an empty slot: at most places + lanes of them are taken.
    __device__ Found find(std::int32_t column) {
        constexpr unsigned factor = 0x9E3779B1u;
        unsigned slot = (static_cast<unsigned>(column) * factor >> 16) % Shape::slots;
        while (true) {
            const std::int32_t seen = static_cast<const volatile std::int32_t*>(keys_)[slot];
            const std::int32_t key = seen == empty ? atomicCAS(keys_ + slot, empty, column) : seen;
            if (key == empty) return {slot, true};
            if (key == column) return {slot, false};
            slot = (slot + 1) % Shape::slots;
        }
    }

    double* values_;
    std::int32_t* columns_;
    std::int32_t* keys_;
    std::int16_t* place_of_;  // of the column in each slot
    int size_ = 0;
};

/// a_ij B_j: a factor and a row of B.
struct Term {
    double factor = 0;
    std::int64_t first = 0;
    std::int64_t length = 0;
};

template <class L, class B>
__device__ Term term_of(const RowsView<L>& a, const DeviceCsrView<B>& b, std::int64_t k) {
    const std::int32_t j = a.columns[k];
    const std::int64_t first = b.row_offsets[j];
    return {static_cast<double>(a.values[k]), first, b.row_offsets[j + 1] - first};
}

/// What is left to do elsewhere.
struct RowList {
    std::int32_t* rows;
    Count* count;
};

/// The rows of a list, or all where there is none. All lanes of a warp go through its rows in step, so that they stay together.
template <class Shape, class L, class B>
__global__ void __launch_bounds__(Shape::threads)
    multiply_hashed(RowsView<L> a, DeviceCsrView<B> b, const std::int32_t* list, std::int64_t count, ColumnOrder order,
                    RowSink sink, RowList too_long) {
    extern __shared__ __align__(16) std::byte shared[];
    const int group = static_cast<int>(threadIdx.x) / Shape::lanes, lane = static_cast<int>(threadIdx.x) % Shape::lanes;
    const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * Shape::rows_a_block + group;
    const bool is_row = number < count;
    const std::int64_t row = !is_row ? 0 : list == nullptr ? number : list[number];
    std::int64_t k = is_row ? a.begin[row] : 0, end = is_row ? a.end[row] : 0, done = 0;
    HashedRow<Shape> sum(shared, group);
    sum.clear(lane);
    bool is_room = true;
    const auto term_at = [&](std::int64_t entry) { return entry < end ? term_of(a, b, entry) : Term{}; };
    Term term = term_at(k), next = term_at(k + 1);  // the next one is on its way while this one is added
    while (__any_sync(~0u, k < end)) {
        const bool is_there = k < end && done + lane < term.length;
        const std::int64_t entry = term.first + done + lane;
        const std::int32_t column = is_there ? b.column_indices[entry] : 0;
        const double value = is_there ? mul_rn(term.factor, static_cast<double>(b.values[entry])) : 0;
        done += Shape::lanes;
        if (k < end && done >= term.length) {
            ++k;
            done = 0;
            term = next;
            next = term_at(k + 1);
        }
        is_room = sum.add(is_there, column, value);
        if (!is_room) end = k;
    }
    std::int64_t place = 0;
    if (is_row && lane == 0) {
        if (is_room)
            place = sink.place(row, sum.size());
        else
            too_long.rows[atomicAdd(too_long.count, Count{1})] = static_cast<std::int32_t>(row);
    }
    place = __shfl_sync(~0u, place, 0, Shape::lanes);
    if (!is_row || !is_room || !sink.is_room_for(place, sum.size())) return;
    for (int p = lane; p < sum.size(); p += Shape::lanes) {
        const std::int64_t to = place + (order == ColumnOrder::rising ? sum.rank(p) : p);
        sink.columns[to] = sum.column(p);
        sink.values[to] = sum.value(p);
    }
}

/// Rows that are still to be made; null stands for all of so many.
struct RowsLeft {
    DeviceArray<std::int32_t> list;
    std::int64_t count;
};

/// Makes those that fit; what is left.
template <class Shape, class L, class B>
RowsLeft multiply_where_short(const RowsLeft& rows, const RowsView<L>& a, const DeviceCsrView<B>& b, ColumnOrder order,
                              const RowSink& sink, Stream stream) {
    if (rows.count == 0) return {{}, 0};
    const int device = b.device;
    DeviceArray<std::int32_t> list(device, rows.count, "a list of rows");
    const Counter count(device, 0, stream);
    const auto kernel = multiply_hashed<Shape, L, B>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(Shape::shared_bytes)),
          "cudaFuncSetAttribute", "products of rows");
    const auto blocks = static_cast<unsigned>((rows.count + Shape::rows_a_block - 1) / Shape::rows_a_block);
    kernel<<<blocks, Shape::threads, Shape::shared_bytes, stream>>>(a, b, rows.list.data(), rows.count, order, sink,
                                                                    RowList{list.data(), count.get()});
    check_launch("products of rows");
    const auto left = static_cast<std::int64_t>(count.read());
    return {std::move(list), left};
}

}  // namespace solver::cuda
