#pragma once

/// A sparse matrix regrouped and compressed without loss, to be read by rows side by side: SELL-C-sigma (Kreutzer, Hager,
/// Wellein, SIAM J. Sci. Comput. 36(5), 2014) with short columns and, where values repeat, a dictionary (CSR-VI and CSR-DU:
/// Kourtis, Goumas, Koziris, CF 2008). It stands beside the CSR matrix it was made of, which keeps the long rows and serves
/// whoever wants one row.
///
/// Rows 2i and 2i + 1 that turn each other throughout, as those of a complex matrix in its real form, (re, -im; im, re) for
/// each entry, are packed as the one complex row they stand for: an entry is one column, in x two elements, and two numbers.

#include "solver/csr_matrix.hpp"
#include "solver/numeric/complex.hpp"
#include "solver/numeric/rounding.hpp"
#include "solver/views.hpp"

#include <bit>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace solver {

/// How a slice stores the columns of a step: as base + offset of so many bits, or, where they are base, base + 1, ..., as the
/// base alone.
enum class ColumnOffsets : std::uint8_t { none, bits8, bits16, bits32 };
inline constexpr int column_offset_kinds = 4;

SOLVER_HD std::int64_t bytes_of(ColumnOffsets offsets) {
    return offsets == ColumnOffsets::none ? 0 : std::int64_t{1} << (static_cast<int>(offsets) - 1);
}

/// So many rows (the height) side by side. Step k holds the k-th entry of every row, in adjacent slots. A row that has ended
/// repeats its last column, with the code 0 as its value; both may be read, and nothing multiplies them.
struct PackedSlice {
    std::int64_t first_step = 0;    ///< of all slices' steps, one after another
    std::int64_t first_offset = 0;  ///< bytes of column offsets before this slice's
    std::int32_t first_row = 0;
    std::uint16_t steps = 0;   ///< entries of the longest row
    std::uint16_t common = 0;  ///< entries of the shortest one
    ColumnOffsets offsets = ColumnOffsets::none;
    std::uint8_t rows = 0;         ///< at most the height; the lanes behind them are idle
    std::uint8_t is_adjacent = 0;  ///< whether it has all its rows, and they are first_row, first_row + 1, ...
    std::uint8_t unused[5] = {};   ///< no padding: two patterns are the same where their bytes are
};
static_assert(sizeof(PackedSlice) == 32);

/// A part of a long row, which stays in the CSR matrix: entries begin..end-1 of the row.
struct PackedShare {
    std::int64_t row = 0;
    std::int64_t start = 0;  ///< the row's first entry in the CSR matrix
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int32_t part = 0;   ///< its index within the row, from 0
    std::int32_t parts = 0;  ///< that the row has
};

/// What makes a pattern.
struct PackedShape {
    int height = 8;
    std::int64_t window = 4096;         ///< rows among which those of like length are brought together
    std::int64_t longest_row = 256;     ///< longer rows stay apart
    std::int64_t share_entries = 4096;  ///< of long rows: at least so many entries a part
    std::int64_t most_parts = 64;       ///< of a long row
};

/// What is known of a pattern wherever its arrays are. Where rows are paired, rows, columns and entries are complex ones.
struct PackedSizes {
    PackedShape shape;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t nonzeros = 0;  ///< of the CSR matrix, which is always real
    std::int64_t entries_in_slices = 0;
    std::int64_t long_rows = 0;
    int components = 1;  ///< real numbers in an entry: 2 where rows are paired, and no row is long

    std::int64_t entries_apart() const { return components == 1 ? nonzeros - entries_in_slices : 0; }
};

/// The shape for complex rows: as many lanes a slice and products a row.
constexpr PackedShape paired(PackedShape shape) {
    shape.height /= 2;
    shape.window /= 2;
    shape.longest_row /= 2;
    return shape;
}

/// Rows in their own order let y be stored, and often x be loaded, by whole vectors: worth so many times the slots of sorted
/// ones.
inline constexpr double worth_of_order = 1.1;

/// A row up to this length is never kept apart.
inline constexpr std::int64_t short_row = 16;

/// Where every entry is. Made once, and shared by all matrices with these entries.
struct PackedPattern : PackedSizes {
    std::vector<PackedSlice> slices;
    std::vector<std::int32_t> row;      ///< of lane i of slice s at s * height + i; an idle lane has its slice's first row
    std::vector<std::uint16_t> length;  ///< of that row; 0 for an idle lane
    std::vector<std::int32_t> base;     ///< of each step
    std::vector<std::uint8_t> offsets;  ///< of each slot, as wide as its slice says, from the base of its step
    std::vector<PackedShare> shares;    ///< of long rows, a row's parts one after another

    std::int64_t steps() const { return static_cast<std::int64_t>(base.size()); }
    std::int64_t slots() const { return steps() * shape.height; }
    std::int64_t codes() const { return slots() * components; }
};

enum class ValueEncoding { plain, floats, dictionary8, dictionary16 };

/// Bytes of a code in an encoding of numbers of so many bytes.
std::int64_t bytes_of(ValueEncoding encoding, std::int64_t number_bytes);

/// A dictionary of bytes where at most 256 values differ, else floats where all doubles are floats, else a dictionary of two
/// bytes where it is much smaller than what it replaces. `different` is -1 where there are more than most_in_dictionary.
inline constexpr std::int64_t most_in_dictionary = 1 << 16;
template <class AreFloats>
ValueEncoding choose_encoding(std::int64_t different, std::int64_t nonzeros, const AreFloats& are_floats) {
    constexpr std::int64_t most_in_bytes = 1 << 8;
    constexpr std::int64_t uses_of_a_value = 8;
    const bool has_dictionary = different >= 0;
    if (has_dictionary && different <= most_in_bytes) return ValueEncoding::dictionary8;
    if (are_floats()) return ValueEncoding::floats;
    return has_dictionary && nonzeros >= uses_of_a_value * different ? ValueEncoding::dictionary16 : ValueEncoding::plain;
}

/// Whether the double with these bits is a float, to the bit: the payload of a NaN included.
constexpr bool is_float(std::uint64_t bits) {
    constexpr int excess = 52 - 23;  // bits of a fraction
    const int exponent = static_cast<int>(bits >> 52 & 0x7FF) - 1023;
    const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
    const auto ends_in_zeros = [&](int count) { return (fraction & ((std::uint64_t{1} << count) - 1)) == 0; };
    if (exponent == 1024) return fraction == 0 || (fraction >> 51 == 1 && ends_in_zeros(excess));  // a conversion quiets NaN
    if (exponent == -1023) return fraction == 0;
    if (exponent < -149 || exponent > 127) return false;
    return ends_in_zeros(exponent >= -126 ? excess : excess - 126 - exponent);
}

/// The value of the last digit that is not 0: a is a multiple of it. Inf for 0, and for Inf and NaN, of which no finite sum is
/// made.
constexpr double last_digit(double a) {
    constexpr std::uint64_t fraction_bits = (std::uint64_t{1} << 52) - 1;
    const auto bits = std::bit_cast<std::uint64_t>(a) & ~(std::uint64_t{1} << 63);
    const double magnitude = std::bit_cast<double>(bits);
    if (a == 0 || !(magnitude <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::infinity();
    return (bits & fraction_bits) == 0 ? magnitude : magnitude - std::bit_cast<double>(bits & (bits - 1));
}

/// The values of all slots, a code for each component: those of T as they are, floats that are as good, or places in a
/// dictionary, which is in the order of the values' bits. Only the encoding's own vectors have elements.
template <class T>
struct PackedValues {
    ValueEncoding encoding = ValueEncoding::plain;
    std::vector<T> plain;
    std::vector<float> floats;
    std::vector<std::uint8_t> index8;
    std::vector<std::uint16_t> index16;
    std::vector<T> dictionary;
    double unit = 0;  ///< of finite doubles in the narrow encodings: all are multiples of this power of 2. Else 0

    /// The value of a code, to the bit.
    T at(std::int64_t code) const {
        switch (encoding) {
            case ValueEncoding::plain:
                return plain[code];
            case ValueEncoding::floats:
                return static_cast<T>(floats[code]);
            case ValueEncoding::dictionary8:
                return dictionary[index8[code]];
            case ValueEncoding::dictionary16:
                return dictionary[index16[code]];
        }
        return T(0);
    }
};

/// What there is to say of a packed matrix.
struct PackedDescription {
    double bytes_a_nonzero = 0;  ///< which one product reads of the matrix, long rows included
    double share_in_slices = 0;  ///< of the nonzeros; the others are in long rows
    std::string text;            ///< "3.6 bytes a nonzero: values 1 bytes, since only 241 differ; columns 80 % in 8 bits, ..."
};

/// What slices take, added up in any order.
struct SliceTotals {
    std::int64_t steps[column_offset_kinds] = {};  ///< by the kind of their column offsets
    std::int64_t bytes = 0;                        ///< without values

    SOLVER_HD void add(const PackedSlice& slice, std::int64_t height) {
        steps[static_cast<std::size_t>(slice.offsets)] += slice.steps;
        bytes += static_cast<std::int64_t>(sizeof slice) + slice.steps * height * bytes_of(slice.offsets);
        if (slice.is_adjacent == 0) bytes += height * static_cast<std::int64_t>(sizeof(std::int32_t));
        if (slice.common < slice.steps) bytes += height * static_cast<std::int64_t>(sizeof(std::uint16_t));
    }
};

/// Of a matrix of numbers of so many bytes.
PackedDescription describe(const PackedSizes& sizes, const SliceTotals& slices, ValueEncoding encoding,
                           std::int64_t dictionary_size, std::int64_t number_bytes);

/// Why products on a GPU would be slower from this packed matrix than from CSR, or "" where they should be faster.
std::string why_csr_is_faster(const PackedDescription& packed, double csr_bytes_a_nonzero);

template <class T>
struct PackedMatrix {
    std::shared_ptr<const PackedPattern> pattern;
    PackedValues<T> values;

    std::int64_t bytes() const;  ///< of memory
    PackedDescription describe() const;
};

/// Why a matrix cannot be packed, or nullptr where it can.
const char* why_not_packed(std::int64_t rows);

/// Memory that a packed matrix of this size may take, at most.
template <class T>
std::int64_t most_packed_bytes(const CsrView<T>& a, const PackedShape& shape);

/// Appends the parts of a long row, of so many entries from `start` on: equal but for the last, a whole number of share_entries
/// long.
void share_row(std::int64_t row, std::int64_t start, std::int64_t length, const PackedShape& shape,
               std::vector<PackedShare>& shares);

/// The complex matrix of which this is the real form, if all rows are paired and that pays. A usual real matrix costs a look at
/// two rows a thread.
template <class T>
std::optional<CsrMatrix<std::complex<T>>> complex_pairs(const CsrView<T>& a, int threads);

/// Of a real or a complex matrix, as it is. One pass over the matrix that orders its rows, one that writes. The result depends
/// on the matrix and the shape alone, not on the number of threads.
template <class Number>
std::shared_ptr<PackedPattern> pack_pattern(const CsrView<Number>& a, const PackedShape& shape, int threads);

/// The values of a matrix that has this pattern, encoded as choose_encoding says. Values differ where their bits do, so that
/// -0, subnormals, Inf and every NaN come back as they are.
template <class Number>
PackedValues<RealOf<Number>> pack_values(const PackedPattern& pattern, const CsrView<Number>& a, int threads);

/// A real matrix, its rows paired where that pays.
template <class T>
PackedMatrix<T> pack(const CsrView<T>& a, const PackedShape& shape, int threads);

/// Other values: in the same pattern, unless it has paired rows that are no longer pairs.
template <class T>
PackedMatrix<T> repack(const PackedMatrix<T>& packed, const CsrView<T>& a, const PackedShape& shape, int threads);

}  // namespace solver
