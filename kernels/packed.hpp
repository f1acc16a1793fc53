#pragma once

/// A packed matrix in the memory of a device, where it is made: byte by byte what pack of packed/matrix.hpp makes of it.

#include "packed/matrix.hpp"
#include "solver/cuda/csr.hpp"

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

/// Why products on this device cannot read a packed matrix of T of this size, or nullptr where they can.
template <class T>
const char* why_not_packed(int device, std::int64_t rows, std::int64_t nonzeros);

/// The arrays of a PackedPattern whose slices have 32 rows.
struct PackedPatternOnDevice : PackedSizes {
    std::vector<PackedShare> shares;  ///< on the host
    DeviceArray<PackedSlice> slices;
    DeviceArray<std::int32_t> row;
    DeviceArray<std::uint16_t> length;
    DeviceArray<std::int32_t> base;
    DeviceArray<std::uint8_t> offsets;

    std::int64_t slots() const { return base.size() * shape.height; }
};

/// The arrays of PackedValues. What the encoding does not need is empty.
template <class T>
struct PackedValuesOnDevice {
    ValueEncoding encoding = ValueEncoding::plain;
    DeviceArray<T> plain;
    DeviceArray<float> floats;
    DeviceArray<std::uint8_t> index8;
    DeviceArray<std::uint16_t> index16;
    DeviceArray<T> dictionary;
};

// Both wait for the stream. Working memory: 32 bytes a row and some MiB.

template <class T>
std::shared_ptr<const PackedPatternOnDevice> pack_pattern(const DeviceCsrView<T>& a, const PackedShape& shape, Stream stream);

template <class T>
PackedValuesOnDevice<T> pack_values(const PackedPatternOnDevice& pattern, const DeviceCsrView<T>& a, Stream stream);

template <class T>
class PackedOnDevice {
public:
    std::shared_ptr<const PackedPatternOnDevice> pattern;
    PackedValuesOnDevice<T> values;

    /// Waits for the stream.
    PackedDescription describe(Stream stream) const;
};

/// The matrix may have no more rows and entries than why_not_packed allows.
template <class T>
PackedOnDevice<T> pack(const DeviceCsrView<T>& a, Stream stream) {
    PackedOnDevice<T> packed{pack_pattern(a, packed_shape(a.rows, a.nonzeros), stream), {}};
    packed.values = pack_values(*packed.pattern, a, stream);
    return packed;
}

}  // namespace solver::cuda
