#pragma once

/// A number that stands for all the bits of matrices, on host and device.

#include "solver/csr_matrix.hpp"
#include "solver/numeric/rounding.hpp"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace solver {

/// A 64-bit hash of a sequence of words, the same on every machine. Not proof against anyone who wants a collision.
class Hash {
public:
    /// A bijection of the state for any word, and the other way round: two sequences that differ in one word never collide.
    SOLVER_HD void add(std::uint64_t word) { add_spread(spread(word)); }

    /// What of adding a word does not wait for those before.
    SOLVER_HD static std::uint64_t spread(std::uint64_t word) {
        word *= 0x9E3779B97F4A7C15u;
        return word ^ (word >> 32);
    }
    SOLVER_HD void add_spread(std::uint64_t word) {
        constexpr int turn = 27;
        const std::uint64_t mixed = (state_ ^ word) * 0x94D049BB133111EBu;
        state_ = mixed << turn | mixed >> (64 - turn);
    }

    template <class T>
    void add(const CsrView<T>& matrix) {
        add(static_cast<std::uint64_t>(matrix.rows));
        for (const std::int64_t offset : matrix.row_offsets) add(static_cast<std::uint64_t>(offset));
        add_entries(matrix, 0, matrix.nonzeros());
    }

    /// These rows; of a part of a matrix, where so many entries of the whole lie before it.
    template <class T>
    void add(const CsrView<T>& matrix, std::int64_t begin, std::int64_t end, std::int64_t entries_before = 0) {
        for (std::int64_t row = begin; row < end; ++row)
            add(static_cast<std::uint64_t>(entries_before + matrix.row_offsets[row + 1]));
        add_entries(matrix, matrix.row_offsets[begin], matrix.row_offsets[end]);
    }

    SOLVER_HD std::uint64_t value() const { return state_ ^ (state_ >> 32); }

private:
    template <class T>
    void add_entries(const CsrView<T>& matrix, std::int64_t begin, std::int64_t end) {
        using Bits = std::conditional_t<sizeof(T) == sizeof(std::uint32_t), std::uint32_t, std::uint64_t>;
        for (std::int64_t k = begin; k < end; ++k) add(static_cast<std::uint64_t>(matrix.column_indices[k]));
        for (std::int64_t k = begin; k < end; ++k) add(std::bit_cast<Bits>(matrix.values[k]));
    }

    std::uint64_t state_ = 0xBF58476D1CE4E5B9u;
};

}  // namespace solver
