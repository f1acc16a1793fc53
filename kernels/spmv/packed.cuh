#pragma once

/// Products with a packed matrix: a slice is a warp's and a row of it a lane's, so that entries of a step lie side by side and
/// no lane waits for another's sum. Long rows go to warps of their own (long_rows.cuh) and are read, like rows that exact finds
/// hard, from the CSR matrix.

#include "packed.hpp"
#include "runtime/traits.hpp"
#include "spmv/long_rows.cuh"

#include <memory>

namespace solver::cuda {

/// Slices of which exact's first try has left rows open, and for how many products to go without it.
struct OpenRows {
    struct Slice {
        std::int32_t index;
        unsigned lanes;  ///< a bit for each open row
    };
    struct State {
        unsigned count;
        unsigned without_try;
        unsigned blocks;  ///< that are done
    };
    Slice* slices;
    State* state;
};

/// What a plan needs to multiply by a packed matrix: the device's copy, which plans share, and its own working memory.
template <class T>
class PackedProduct {
public:
    /// `rows` is the same matrix as CSR. Waits for the stream.
    PackedProduct(int device, const Traits& traits, std::shared_ptr<const PackedOnDevice<T>> packed,
                  const CsrRows<T, std::int32_t>& rows, Stream stream);

    /// A task with x alone and alpha other than 0; `escalated` counts rows left to the last resort.
    void multiply(const RowTask<T>& task, Accuracy accuracy, unsigned* escalated, Stream stream, Gate gate) const;

private:
    void split_long_rows(int device, Stream stream);
    void prepare_first_try(int device, Stream stream);
    unsigned resident_blocks(int of_a_multiprocessor) const;
    template <class Values>
    unsigned blocks_with(int of_a_multiprocessor) const;
    bool overlaps(Gate gate) const { return traits_.overlapping && (segments_.size() > 0 || gate.stage != nullptr); }

    template <class A>
    void multiply_with(const RowTask<T>& task, unsigned* escalated, Stream stream, Gate gate) const;
    template <class A, int components>
    void multiply_slices_with(const RowTask<T>& task, unsigned* escalated, Stream stream, Gate gate) const;
    template <class A>
    void multiply_long(const RowTask<T>& task, unsigned* escalated, Stream stream, Gate gate) const;
    template <class A, int components, class Values>
    void multiply_all(const Values& values, const RowTask<T>& task, unsigned* escalated, Stream stream, Gate gate) const;
    template <class A, int components, class Values>
    void try_first(const Values& values, const RowTask<T>& task, unsigned* escalated, Stream stream, Gate gate) const;

    std::shared_ptr<const PackedOnDevice<T>> packed_;
    Traits traits_;
    CsrRows<T, std::int32_t> rows_;
    DeviceArray<Segment<std::int32_t>> segments_;
    DeviceArray<unsigned> arrived_;
    DeviceArray<LargestRowSum> partial_;

    // Of the first try.
    DeviceArray<OpenRows::Slice> open_;
    DeviceArray<OpenRows::State> state_;
    int unit_ = no_unit;  ///< all values are multiples of 2^unit
    static constexpr int no_unit = -1'000'000;
};

}  // namespace solver::cuda
