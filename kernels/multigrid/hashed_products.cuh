#pragma once

/// Rows of some length as sums in a hash table in shared memory.

#include "multigrid/row_products.cuh"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace solver::cuda {

/// The shape of the kernel: so many lanes a row, each of which has room for so many columns.
template <int lanes_a_row, int columns_a_row>
struct HashedShape {
    static constexpr int threads = 128;
    static constexpr int lanes = lanes_a_row;
    static constexpr int places = columns_a_row;
    static constexpr int slots = 2 * places;                                                // a power of two
    static constexpr int unused_bits = std::countl_zero(static_cast<unsigned>(slots)) + 1;  // of 32 above those of a slot
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

    /// Mixed twice: after one multiplication the columns of a grid crowd (50 probes a step for a stencil of 27 points and rows
    /// of a thousand columns, so 4).
    __device__ static unsigned slot_of(std::int32_t column) {
        unsigned mixed = static_cast<unsigned>(column) * 0x9E3779B1u;
        mixed = (mixed ^ mixed >> 15) * 0x85EBCA6Bu;
        return mixed >> Shape::unused_bits;
    }

    /// There is an empty slot: at most places + lanes of them are taken.
    __device__ Found find(std::int32_t column) {
        unsigned slot = slot_of(column);
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

/// What a lane adds to a row in one step.
struct Product {
    bool is_step;   ///< of some lane of the row
    bool is_there;  ///< of this lane
    std::int32_t column;
    double factor, value;
};

/// The products of a row of A B, term after term, the entries of a term side by side in the lanes. What a step needs is asked
/// for before: each lane reads a term for all, those of the next steps ahead of their use.
template <class Shape, class L, class B>
class ProductsOfRow {
public:
    __device__ ProductsOfRow(const RowsView<L>& a, const DeviceCsrView<B>& b, std::int64_t begin, std::int64_t end)
        : a_(a), b_(b), lane_(static_cast<int>(threadIdx.x) % Shape::lanes), k_(begin), end_(end) {
        mine_ = term_at(k_ + lane_);
        ahead_ = term_at(k_ + Shape::lanes + lane_);
    }

    /// By all lanes of the warp.
    __device__ Product next() {
        const std::int64_t first = of_lane(mine_.first), length = of_lane(mine_.length);
        const std::int64_t entry = first + done_ + lane_;
        const bool is_step = k_ < end_, is_there = is_step && done_ + lane_ < length;
        const Product product{is_step, is_there, is_there ? b_.column_indices[entry] : 0, of_lane(mine_.factor),
                              is_there ? static_cast<double>(b_.values[entry]) : 0};
        done_ += Shape::lanes;
        if (is_step && done_ >= length) go_to_next_term();
        return product;
    }

private:
    template <class X>
    __device__ X of_lane(X x) const {
        return __shfl_sync(~0u, x, used_, Shape::lanes);
    }

    __device__ void go_to_next_term() {
        ++k_;
        done_ = 0;
        if (++used_ < Shape::lanes) return;
        used_ = 0;
        mine_ = ahead_;
        ahead_ = term_at(k_ + Shape::lanes + lane_);
    }

    __device__ Term term_at(std::int64_t k) const {
        if (k >= end_) return {};
        const std::int32_t j = a_.columns[k];
        const std::int64_t first = b_.row_offsets[j];
        return {static_cast<double>(a_.values[k]), first, b_.row_offsets[j + 1] - first};
    }

    const RowsView<L>& a_;
    const DeviceCsrView<B>& b_;
    int lane_;
    std::int64_t k_, end_;   // the term, of those up to end
    std::int64_t done_ = 0;  // entries of it
    int used_ = 0;           // the lane that has it
    Term mine_, ahead_;
};

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
    HashedRow<Shape> sum(shared, group);
    sum.clear(lane);
    ProductsOfRow<Shape, L, B> products(a, b, is_row ? a.begin[row] : 0, is_row ? a.end[row] : 0);
    bool is_room = true;
    Product first = products.next(), second = products.next();
    while (__any_sync(~0u, first.is_step && is_room)) {
        const Product third = products.next();
        is_room = sum.add(first.is_there && is_room, first.column, mul_rn(first.factor, first.value));
        first = second;
        second = third;
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
