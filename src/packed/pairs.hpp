#pragma once

/// Pairs of rows that turn each other, as a processor and a GPU find them in a matrix.

#include "solver/numeric/rounding.hpp"
#include "solver/row_offsets.hpp"
#include "solver/views.hpp"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace solver {

/// Whether so many complex entries are read faster than what the real form has of them: where a quarter has both parts. A part
/// that is zero costs two products more than in the real form. Measured on a Zen 4 core, 5 to 9 entries a row, double and
/// float, fast and exact, paired by not paired: 0.7 to 1.2 where all are real, 1.02 to 1.8 where a fifth has both parts, 1.06
/// to 2.2 where a quarter has.
constexpr bool pairs_pay(std::int64_t nonzeros, std::int64_t complex_entries) { return 2 * nonzeros >= 5 * complex_entries; }

/// Rows 2i and 2i + 1 of a real matrix, where they are those of a complex row: (re, -im; im, re) for each of its entries, with
/// the parts that are zero left out.
template <class T>
struct PairedRows {
    RowOffsetPointer row_offsets;
    const std::int32_t* columns;
    const T* values;

    /// How many complex entries they have, or -1 where they are no pair.
    SOLVER_HD std::int64_t entries(std::int64_t pair) const {
        const std::int64_t end = row_offsets[2 * pair + 1];
        const std::int64_t length = end - row_offsets[2 * pair];
        if (row_offsets[2 * pair + 2] - end != length) return -1;
        std::int64_t count = 0;
        for (std::int64_t k = end - length; k < end; ++count) {
            const std::int64_t parts = parts_at(k, end);
            for (std::int64_t part = 0; part < parts; ++part)
                if (!is_turned(k + part, k + length + parts - 1 - part)) return -1;
            k += parts;
        }
        return count;
    }

    /// Writes them, two numbers each.
    SOLVER_HD void write(std::int64_t pair, std::int32_t* column, T* number) const {
        const std::int64_t end = row_offsets[2 * pair + 1];
        for (std::int64_t k = row_offsets[2 * pair]; k < end; ++column, number += 2) {
            const std::int64_t last = k + parts_at(k, end) - 1;
            *column = columns[k] / 2;
            number[0] = is_real(k) ? values[k] : T(0);
            number[1] = is_real(last) ? T(0) : std::bit_cast<T>(turned(last));
            k = last + 1;
        }
    }

private:
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

    /// Whether an entry of an upper row is a real part; else it is an imaginary one, negated.
    SOLVER_HD bool is_real(std::int64_t k) const { return columns[k] % 2 == 0; }

    /// How many entries of an upper row, from entry k on, are parts of one complex number.
    SOLVER_HD std::int64_t parts_at(std::int64_t k, std::int64_t end) const {
        return is_real(k) && k + 1 < end && columns[k + 1] == columns[k] + 1 ? 2 : 1;
    }

    /// What an entry of an upper row is in the lower one. (A GPU's negation may change a NaN.)
    SOLVER_HD Bits turned(std::int64_t k) const {
        constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
        return std::bit_cast<Bits>(values[k]) ^ (is_real(k) ? Bits{0} : sign);
    }

    /// A stored zero would be taken for a part that is no entry.
    SOLVER_HD bool is_turned(std::int64_t upper, std::int64_t lower) const {
        return values[upper] != T(0) && columns[lower] == (columns[upper] ^ 1) &&
               std::bit_cast<Bits>(values[lower]) == turned(upper);
    }
};

/// Whether the first two rows are a pair, which hardly any rows are but those of complex matrices.
template <class T>
bool starts_with_pair(const CsrView<T>& a) {
    return a.rows >= 2 && PairedRows<T>{a.row_offsets, a.column_indices.data(), a.values.data()}.entries(0) > 0;
}

}  // namespace solver
