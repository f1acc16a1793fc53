#pragma once

/// Where the rows of a sparse matrix begin, whether that is kept in 32 or in 64 bits.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <type_traits>

namespace solver {

template <class T>
concept RowOffset = std::same_as<T, std::int32_t> || std::same_as<T, std::int64_t>;

/// The first of some row offsets, in the memory of the host or of a device, read as 64 bits.
class RowOffsetPointer {
public:
    constexpr RowOffsetPointer() = default;
    constexpr RowOffsetPointer(std::nullptr_t) {}
    constexpr RowOffsetPointer(const std::int32_t* narrow) : narrow_(narrow) {}
    constexpr RowOffsetPointer(const std::int64_t* wide) : wide_(wide) {}

    constexpr std::int64_t operator[](std::int64_t i) const { return narrow_ != nullptr ? narrow_[i] : wide_[i]; }

    /// The offsets as they are, or nullptr where they have the other width.
    template <RowOffset Offset>
    constexpr const Offset* as() const {
        if constexpr (std::is_same_v<Offset, std::int32_t>)
            return narrow_;
        else
            return wide_;
    }

    /// Where the i-th lies.
    constexpr const void* address(std::int64_t i) const {
        return narrow_ != nullptr ? static_cast<const void*>(narrow_ + i) : wide_ + i;
    }

    /// What `copy` is, where the offsets were copied there.
    RowOffsetPointer copied_to(const void* copy) const {
        if (narrow_ != nullptr) return static_cast<const std::int32_t*>(copy);
        return static_cast<const std::int64_t*>(copy);
    }

private:
    const std::int32_t* narrow_ = nullptr;
    const std::int64_t* wide_ = nullptr;
};

/// A view of row offsets of either width in the host's memory, for what std::span is for one type. Elements are values.
class RowOffsets : public RowOffsetPointer {
public:
    using value_type = std::int64_t;

    constexpr RowOffsets() = default;

    /// Of std::vector, std::span, std::array and the like.
    template <std::ranges::contiguous_range Range>
    requires std::ranges::sized_range<Range> && RowOffset<std::ranges::range_value_t<Range>>
    constexpr RowOffsets(const Range& offsets)
        : RowOffsetPointer(std::ranges::data(offsets)), size_(std::ranges::size(offsets)) {}

    constexpr std::size_t size() const { return size_; }
    constexpr bool empty() const { return size_ == 0; }

    std::size_t element_bytes() const { return as<std::int32_t>() != nullptr ? 4 : 8; }
    std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(address(0)), size_ * element_bytes()}; }

    class Iterator;
    constexpr Iterator begin() const;
    constexpr Iterator end() const;

private:
    std::size_t size_ = 0;
};

class RowOffsets::Iterator {
public:
    using iterator_category = std::input_iterator_tag;  // for C++17, where elements of other iterators are references
    using iterator_concept = std::forward_iterator_tag;
    using value_type = std::int64_t;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = std::int64_t;

    constexpr Iterator() = default;
    constexpr Iterator(RowOffsetPointer offsets, std::ptrdiff_t place) : offsets_(offsets), place_(place) {}

    constexpr std::int64_t operator*() const { return offsets_[place_]; }
    constexpr Iterator& operator++() {
        ++place_;
        return *this;
    }
    constexpr Iterator operator++(int) { return {offsets_, place_++}; }
    constexpr bool operator==(const Iterator& other) const { return place_ == other.place_; }

private:
    RowOffsetPointer offsets_;
    std::ptrdiff_t place_ = 0;
};

constexpr RowOffsets::Iterator RowOffsets::begin() const { return {*this, 0}; }
constexpr RowOffsets::Iterator RowOffsets::end() const { return {*this, static_cast<std::ptrdiff_t>(size_)}; }

}  // namespace solver
