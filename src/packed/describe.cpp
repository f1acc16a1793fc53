#include "packed/matrix.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <numeric>

namespace solver {
namespace {

template <class V>
std::int64_t bytes_in(const std::vector<V>& vector) {
    return static_cast<std::int64_t>(vector.size() * sizeof(V));
}

/// "80 % by runs, 20 % in 16 bits"
std::string columns_text(std::span<const std::int64_t> steps, std::int64_t all_steps) {
    constexpr std::array<const char*, column_offset_kinds> names{"by runs", "in 8 bits", "in 16 bits", "in 32 bits"};
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (steps[i] == 0) continue;
        const double percent = 100 * static_cast<double>(steps[i]) / static_cast<double>(all_steps);
        text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", percent, names[i]);
    }
    return text.empty() ? "none" : text;
}

std::string values_text(ValueEncoding encoding, std::int64_t dictionary_size, std::int64_t number_bytes) {
    switch (encoding) {
        case ValueEncoding::plain:
            return fmt::format("as they are, {} bytes, since more than 65536 differ or few repeat", number_bytes);
        case ValueEncoding::floats:
            return "4 bytes, since all doubles are floats";
        case ValueEncoding::dictionary8:
        case ValueEncoding::dictionary16:
            return fmt::format("{} bytes, since only {} differ", bytes_of(encoding, number_bytes), dictionary_size);
    }
    return {};
}

}  // namespace

std::int64_t bytes_of(ValueEncoding encoding, std::int64_t number_bytes) {
    switch (encoding) {
        case ValueEncoding::plain:
            return number_bytes;
        case ValueEncoding::floats:
            return sizeof(float);
        case ValueEncoding::dictionary8:
            return 1;
        case ValueEncoding::dictionary16:
            return 2;
    }
    return 0;
}

PackedDescription describe(const PackedSizes& sizes, const SliceTotals& slices, ValueEncoding encoding,
                           std::int64_t dictionary_size, std::int64_t number_bytes) {
    const std::int64_t height = sizes.shape.height;
    const bool is_paired = sizes.components == 2;
    const std::int64_t steps = std::accumulate(std::begin(slices.steps), std::end(slices.steps), std::int64_t{0});
    std::int64_t bytes = slices.bytes;
    const std::int64_t slots = steps * height;
    const std::int64_t apart = sizes.entries_apart();
    bytes += steps * static_cast<std::int64_t>(sizeof(std::int32_t)) +
             slots * sizes.components * bytes_of(encoding, number_bytes) +
             apart * (number_bytes + static_cast<std::int64_t>(sizeof(std::int32_t)));
    const auto part = [](std::int64_t some, std::int64_t all) {
        return all == 0 ? 0 : static_cast<double>(some) / static_cast<double>(all);
    };
    PackedDescription description{part(bytes, sizes.nonzeros), part(sizes.nonzeros - apart, sizes.nonzeros), {}};
    description.text = fmt::format(
        "{:.1f} bytes a nonzero: {}values {}; columns {}; slices of {} {}rows, {:.1f} % of their slots idle; "
        "{} long rows with {} entries apart",
        description.bytes_a_nonzero, is_paired ? "complex pairs of " : "", values_text(encoding, dictionary_size, number_bytes),
        columns_text(slices.steps, steps), height, is_paired ? "complex " : "",
        100 * part(slots - sizes.entries_in_slices, slots), sizes.long_rows, apart);
    return description;
}

std::string why_csr_is_faster(const PackedDescription& packed, double csr_bytes_a_nonzero) {
    constexpr double least_share_in_slices = 0.95;
    constexpr double worth_of_bytes = 0.9;
    if (packed.share_in_slices < least_share_in_slices)
        return fmt::format(
            "{:.0f} % of the nonzeros are in rows too long for slices, which would be multiplied apart from the others",
            100 * (1 - packed.share_in_slices));
    if (packed.bytes_a_nonzero > worth_of_bytes * csr_bytes_a_nonzero)
        return fmt::format("packed it would still read {:.1f} bytes a nonzero", packed.bytes_a_nonzero);
    return {};
}

template <class T>
std::int64_t PackedMatrix<T>::bytes() const {
    const PackedPattern& p = *pattern;
    return bytes_in(p.slices) + bytes_in(p.row) + bytes_in(p.length) + bytes_in(p.base) + bytes_in(p.offsets) +
           bytes_in(p.shares) + p.codes() * bytes_of(values.encoding, sizeof(T)) + bytes_in(values.dictionary);
}

template <class T>
PackedDescription PackedMatrix<T>::describe() const {
    SliceTotals totals;
    for (const PackedSlice& slice : pattern->slices) totals.add(slice, pattern->shape.height);
    return solver::describe(*pattern, totals, values.encoding, static_cast<std::int64_t>(values.dictionary.size()), sizeof(T));
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
template std::int64_t most_packed_bytes(const CsrView<float>&, const PackedShape&);
template std::int64_t most_packed_bytes(const CsrView<double>&, const PackedShape&);

}  // namespace solver
