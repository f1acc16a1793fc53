#include "core/huge_pages.hpp"
#include "core/thread_pool.hpp"
#include "packed/matrix.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <type_traits>

namespace solver {
namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Different bit patterns in the order in which they were added: open addressing, at most a quarter full.
template <class T>
class Dictionary {
public:
    Dictionary() { rehash(10); }

    /// The value's place, or -1.
    std::int32_t find(T value) const {
        const auto bits = std::bit_cast<BitsOf<T>>(value);
        for (std::size_t slot = slot_of(bits);; slot = (slot + 1) & (place_.size() - 1)) {
            const std::int32_t place = place_[slot];
            if (place < 0 || std::bit_cast<BitsOf<T>>(values_[place]) == bits) return place;
        }
    }
    void add(T value) {
        if (find(value) >= 0) return;
        values_.push_back(value);
        if (4 * values_.size() > place_.size())
            rehash(65 - shift_);
        else
            insert(static_cast<std::int32_t>(values_.size()) - 1);
    }
    const std::vector<T>& values() const { return values_; }
    std::int64_t size() const { return static_cast<std::int64_t>(values_.size()); }

private:
    std::size_t slot_of(std::uint64_t bits) const { return static_cast<std::size_t>((bits * 0x9E3779B97F4A7C15u) >> shift_); }
    void rehash(int log2_size) {
        shift_ = 64 - log2_size;
        place_.assign(std::size_t{1} << log2_size, -1);
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(values_.size()); ++i) insert(i);
    }
    void insert(std::int32_t place) {
        std::size_t slot = slot_of(std::bit_cast<BitsOf<T>>(values_[place]));
        while (place_[slot] >= 0) slot = (slot + 1) & (place_.size() - 1);
        place_[slot] = place;
    }

    std::vector<T> values_;
    std::vector<std::int32_t> place_;
    int shift_ = 0;
};

/// of(the values of a part) for each part.
template <class T, class Of>
auto of_parts(std::span<const T> values, int threads, const Of& of) {
    constexpr std::int64_t worth_a_thread = 32768;
    const int parts = static_cast<int>(std::clamp<std::int64_t>(std::ssize(values) / worth_a_thread, 1, threads));
    std::vector<decltype(of(values))> results(static_cast<std::size_t>(parts));
    cpu::parallel_for(parts, [&](int part) {
        const std::int64_t begin = cpu::share_begin(std::ssize(values), part, parts);
        results[part] = of(values.subspan(begin, cpu::share_begin(std::ssize(values), part + 1, parts) - begin));
    });
    return results;
}

/// Adds the values; false as soon as there are more than a dictionary may have.
template <class T>
bool try_add(Dictionary<T>& dictionary, std::span<const T> values) {
    for (const T value : values) {
        dictionary.add(value);
        if (dictionary.size() > most_in_dictionary) return false;
    }
    return true;
}

/// All values in the order of their bits, unless there are more than a dictionary may have.
template <class T>
std::optional<Dictionary<T>> find_dictionary(std::span<const T> values, int threads) {
    const auto of_part = [](std::span<const T> part) {
        Dictionary<T> found;
        return try_add(found, part) ? std::optional(std::move(found)) : std::nullopt;
    };
    Dictionary<T> all;
    for (const std::optional<Dictionary<T>>& found : of_parts(values, threads, of_part))
        if (!found || !try_add<T>(all, found->values())) return std::nullopt;
    std::vector<T> in_order = all.values();
    std::sort(in_order.begin(), in_order.end(),
              [](T a, T b) { return std::bit_cast<BitsOf<T>>(a) < std::bit_cast<BitsOf<T>>(b); });
    Dictionary<T> dictionary;
    for (const T value : in_order) dictionary.add(value);
    return dictionary;
}

/// Whether every value is a double that is a float.
bool are_narrower(std::span<const float>, int) { return false; }
bool are_narrower(std::span<const double> values, int threads) {
    const auto of_part = [](std::span<const double> part) {
        return std::ranges::all_of(part, [](double value) { return is_float(std::bit_cast<std::uint64_t>(value)); }) ? 1 : 0;
    };
    return std::ranges::min(of_parts(values, threads, of_part)) != 0;
}

/// What all these numbers are multiples of; 0 for floats, whose sums need no such grid.
double unit_of(std::span<const float>, int) { return 0; }
double unit_of(std::span<const double> values, int threads) {
    return std::ranges::min(of_parts(values, threads, [](std::span<const double> part) {
        double unit = std::numeric_limits<double>::infinity();
        for (const double value : part) unit = std::min(unit, last_digit(value));
        return unit;
    }));
}

/// Writes encode(value) of every number into its slot, and 0 into the idle ones.
template <class Number, class Code, class Encode>
void fill_slots(const PackedPattern& pattern, const CsrView<Number>& a, int threads, std::vector<Code>& codes,
                const Encode& encode) {
    const RealOf<Number>* const numbers = real_view(a.values).data();
    resize_in_huge_pages(codes, pattern.codes(), threads);
    Code* const slots = codes.data();
    constexpr std::int64_t parts = components<Number>;
    const std::int64_t width = pattern.shape.height * parts;
    const auto count = static_cast<std::int64_t>(pattern.slices.size());
    const auto fill_slice = [&](std::int64_t s) {
        const PackedSlice& slice = pattern.slices[s];
        for (std::int64_t i = 0; i < width; ++i) {
            const std::int64_t place = s * pattern.shape.height + i / parts;
            const std::int64_t from = a.row_offsets[pattern.row[place]] * parts + i % parts, length = pattern.length[place];
            const std::int64_t to = slice.first_step * width + i;  // there is no memory where there are no entries
            for (std::int64_t k = 0; k < length; ++k) slots[to + k * width] = encode(numbers[from + k * parts]);
            for (std::int64_t k = length; k < slice.steps; ++k) slots[to + k * width] = Code(0);
        }
    };
    cpu::parallel_for(threads, [&](int t) {
        for (std::int64_t s = cpu::share_begin(count, t, threads); s < cpu::share_begin(count, t + 1, threads); ++s)
            fill_slice(s);
    });
}

}  // namespace

template <class Number>
PackedValues<RealOf<Number>> pack_values(const PackedPattern& pattern, const CsrView<Number>& a, int threads) {
    using T = RealOf<Number>;
    const std::span<const T> numbers = real_view(a.values);
    PackedValues<T> packed;
    const std::optional<Dictionary<T>> dictionary = find_dictionary(numbers, threads);
    packed.encoding = choose_encoding(dictionary ? dictionary->size() : -1, std::ssize(numbers),
                                      [&] { return are_narrower(numbers, threads); });
    switch (packed.encoding) {
        case ValueEncoding::plain:
            fill_slots(pattern, a, threads, packed.plain, [](T value) { return value; });
            break;
        case ValueEncoding::floats:
            fill_slots(pattern, a, threads, packed.floats, [](T value) { return static_cast<float>(value); });
            break;
        case ValueEncoding::dictionary8:
            fill_slots(pattern, a, threads, packed.index8,
                       [&](T value) { return static_cast<std::uint8_t>(dictionary->find(value)); });
            break;
        case ValueEncoding::dictionary16:
            fill_slots(pattern, a, threads, packed.index16,
                       [&](T value) { return static_cast<std::uint16_t>(dictionary->find(value)); });
            break;
    }
    if (packed.encoding == ValueEncoding::dictionary8 || packed.encoding == ValueEncoding::dictionary16)
        packed.dictionary = dictionary->values();
    if (packed.encoding != ValueEncoding::plain)
        packed.unit = unit_of(dictionary ? std::span<const T>(dictionary->values()) : numbers, threads);
    return packed;
}

template PackedValues<float> pack_values(const PackedPattern&, const CsrView<float>&, int);
template PackedValues<double> pack_values(const PackedPattern&, const CsrView<double>&, int);
template PackedValues<float> pack_values(const PackedPattern&, const CsrView<std::complex<float>>&, int);
template PackedValues<double> pack_values(const PackedPattern&, const CsrView<std::complex<double>>&, int);

}  // namespace solver
