#pragma once

/// A packed matrix in the memory of a device.

#include "packed/matrix.hpp"
#include "solver/cuda.hpp"

#include <algorithm>

namespace solver::cuda {

/// A slice is a warp's, a row of it a lane's. Longer rows would keep a warp too long: they go to warps of their own, in
/// segments.
inline PackedShape packed_shape(std::int64_t rows, std::int64_t nonzeros) {
    constexpr std::int64_t least = 32;
    constexpr std::int64_t most = 256;
    const std::int64_t mean = rows == 0 ? 0 : nonzeros / rows;
    return {.height = 32,
            .window = 16384,
            .longest_row = std::clamp(2 * mean, least, most),
            .share_entries = 1024,
            .most_parts = 4096};
}

/// The arrays of a PackedMatrix whose slices have 32 rows. What a value encoding does not need is empty.
template <class T>
class PackedOnDevice {
public:
    /// Waits for the stream.
    PackedOnDevice(int device, const PackedMatrix<T>& packed, Stream stream)
        : shares(packed.pattern->shares),
          slices(device, packed.pattern->slices, "the slices of a packed matrix", stream),
          row(device, packed.pattern->row, "the rows of a packed matrix", stream),
          length(device, packed.pattern->length, "the row lengths of a packed matrix", stream),
          base(device, packed.pattern->base, "the columns of a packed matrix", stream),
          offsets(device, packed.pattern->offsets, "the column offsets of a packed matrix", stream),
          encoding(packed.values.encoding),
          plain(device, packed.values.plain, "the values of a packed matrix", stream),
          floats(device, packed.values.floats, "the values of a packed matrix", stream),
          index8(device, packed.values.index8, "the values of a packed matrix", stream),
          index16(device, packed.values.index16, "the values of a packed matrix", stream),
          dictionary(device, packed.values.dictionary, "the dictionary of a packed matrix", stream) {}

    std::vector<PackedShare> shares;  ///< on the host
    DeviceArray<PackedSlice> slices;
    DeviceArray<std::int32_t> row;
    DeviceArray<std::uint16_t> length;
    DeviceArray<std::int32_t> base;
    DeviceArray<std::uint8_t> offsets;
    ValueEncoding encoding;
    DeviceArray<T> plain;
    DeviceArray<float> floats;
    DeviceArray<std::uint8_t> index8;
    DeviceArray<std::uint16_t> index16;
    DeviceArray<T> dictionary;
};

}  // namespace solver::cuda
