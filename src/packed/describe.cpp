#include "packed/matrix.hpp"

#include <fmt/format.h>

#include <array>

namespace solver {
namespace {

template <class V>
std::int64_t bytes_in(const std::vector<V>& vector) {
    return static_cast<std::int64_t>(vector.size() * sizeof(V));
}

/// "80 % none, 20 % in 16 bits"
std::string columns_text(const PackedPattern& pattern) {
    constexpr std::array<const char*, column_offset_kinds> names{"by runs", "in 8 bits", "in 16 bits", "in 32 bits"};
    std::array<std::int64_t, column_offset_kinds> steps{};
    for (const PackedSlice& slice : pattern.slices) steps[static_cast<std::size_t>(slice.offsets)] += slice.steps;
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (steps[i] == 0) continue;
        const double percent = 100 * static_cast<double>(steps[i]) / static_cast<double>(pattern.steps());
        text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", percent, names[i]);
    }
    return text.empty() ? "none" : text;
}

template <class T>
std::string values_text(const PackedValues<T>& values) {
    switch (values.encoding) {
        case ValueEncoding::plain:
            return fmt::format("as they are, {} bytes, since more than 65536 differ or few repeat", sizeof(T));
        case ValueEncoding::floats:
            return "4 bytes, since all doubles are floats";
        case ValueEncoding::dictionary8:
        case ValueEncoding::dictionary16:
            return fmt::format("{} bytes, since only {} differ", values.bytes_a_slot(), values.dictionary.size());
    }
    return {};
}

}  // namespace

template <class T>
std::int64_t PackedValues<T>::bytes_a_slot() const {
    switch (encoding) {
        case ValueEncoding::plain:
            return sizeof(T);
        case ValueEncoding::floats:
            return sizeof(float);
        case ValueEncoding::dictionary8:
            return 1;
        case ValueEncoding::dictionary16:
            return 2;
    }
    return 0;
}

template <class T>
std::int64_t PackedMatrix<T>::bytes() const {
    const PackedPattern& p = *pattern;
    return bytes_in(p.slices) + bytes_in(p.row) + bytes_in(p.length) + bytes_in(p.base) + bytes_in(p.offsets) +
           bytes_in(p.shares) + p.slots() * values.bytes_a_slot() + bytes_in(values.dictionary);
}

template <class T>
double PackedMatrix<T>::bytes_a_nonzero() const {
    const PackedPattern& p = *pattern;
    std::int64_t bytes = bytes_in(p.slices) + bytes_in(p.base) + bytes_in(p.offsets) + p.slots() * values.bytes_a_slot();
    for (const PackedSlice& slice : p.slices) {
        if (slice.is_adjacent == 0) bytes += p.shape.height * static_cast<std::int64_t>(sizeof(std::int32_t));
        if (slice.common < slice.steps) bytes += p.shape.height * static_cast<std::int64_t>(sizeof(std::uint16_t));
    }
    bytes += (p.nonzeros - p.entries_in_slices) * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t));
    return p.nonzeros == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(p.nonzeros);
}

template <class T>
std::string PackedMatrix<T>::describe() const {
    const PackedPattern& p = *pattern;
    const double idle =
        p.slots() == 0 ? 0 : 100 * (1 - static_cast<double>(p.entries_in_slices) / static_cast<double>(p.slots()));
    return fmt::format(
        "{:.1f} bytes a nonzero: values {}; columns {}; slices of {} rows, {:.1f} % of their slots idle; "
        "{} long rows with {} entries apart",
        bytes_a_nonzero(), values_text(values), columns_text(p), p.shape.height, idle, p.long_rows,
        p.nonzeros - p.entries_in_slices);
}

template <class T>
std::int64_t most_packed_bytes(const CsrView<T>& a, const PackedShape& shape) {
    const std::int64_t windows = a.rows / shape.window + 1;
    const std::int64_t slots =
        2 * a.nonzeros() + windows * shape.height * 16;  // cut_sorted leaves at most half of them idle, or short
    const std::int64_t lanes = a.rows + shape.height * windows;
    return slots * static_cast<std::int64_t>(sizeof(T) + sizeof(std::int32_t)) + lanes * 16;
}

template struct PackedMatrix<float>;
template struct PackedMatrix<double>;
template struct PackedValues<float>;
template struct PackedValues<double>;
template std::int64_t most_packed_bytes(const CsrView<float>&, const PackedShape&);
template std::int64_t most_packed_bytes(const CsrView<double>&, const PackedShape&);

}  // namespace solver
