#pragma once

/// How the rows of a triangular matrix are shared out on a device: plain C++, made on the host.
///
/// Rows come in items, one a block of threads, and items in an order in which a row depends on rows of its own item and of
/// earlier ones alone. So whatever the device runs at once, blocks that take items in this order never wait for one that has
/// not begun. Within an item rows are sorted by level and cut into chunks, one a warp: rows of one level, hence independent of
/// one another. A warp takes chunks in order, so the first chunk that is not done never waits for a later one.

#include "core/paired_triangle.hpp"
#include "solver/triangular_solve.hpp"

#include <cstdint>
#include <vector>

namespace solver::cuda {

/// Of rows that have several lanes, so many entries are left for the row's first lane to add when it has the sum of all others:
/// merging lanes takes long, and these are the entries whose elements are known last.
inline constexpr int late_entries = 4;

/// Rows of one level side by side, `1 << log2_width` lanes each; or a segment of one long row. Lane l's e-th entry is at
/// first_entry + e * lanes() + l, row i's e-th late one at first_late() + e * rows + i.
struct TriangleChunk {
    std::int64_t first_entry;
    std::int32_t first_place;  ///< of its rows, in the order of all items
    std::int32_t depth;        ///< entries a lane, those that fill up included
    std::int16_t rows;
    std::int8_t log2_width;
    bool is_quotients;           ///< of schedule_pairs
    std::int32_t first_segment;  ///< of a long row: the number of its first one
    std::int32_t segments;       ///< of a long row; 0 for whole rows
    std::int32_t segment;        ///< which of these this one is

    constexpr int lanes() const { return rows << log2_width; }
    constexpr int late() const { return log2_width > 0 && segments == 0 ? late_entries : 0; }
    constexpr std::int64_t first_late() const { return first_entry + std::int64_t{depth} * lanes(); }
    constexpr std::int64_t end() const { return first_late() + late() * rows; }
};

struct TriangleItem {
    std::int32_t first_chunk;
    std::int32_t last_chunk;  ///< the one after the last
    std::int32_t first_place;
    std::int32_t places;
};

/// What a schedule is made for.
struct TriangleScheduleOptions {
    bool by_levels = false;                  ///< items of the order of levels, else of the natural order
    std::int64_t rows_an_item = 2048;        ///< at most
    std::int64_t entries_an_item = 1 << 16;  ///< at most, if it has more than one row
    std::int64_t entries_a_lane = 4;         ///< at most, where a row has not a whole warp; at least 2
    std::int64_t entries_a_segment = 1024;   ///< longer rows are split
};

template <class T>
struct TriangleSchedule {
    std::vector<TriangleItem> items;
    std::vector<TriangleChunk> chunks;
    std::vector<std::int32_t> rows;  ///< which row is at a place
    std::vector<T> pivots;           ///< of each place; none where the diagonal is 1
    /// The place of a row of the same item, counted from its first one, or ~place in the order of all. Where entries fill up,
    /// the item's number of places.
    std::vector<std::int32_t> columns;
    std::vector<T> values;  ///< beside the diagonal, with the opposite sign; 0 where they fill up
    std::int32_t segments = 0;
    std::int32_t largest_item = 0;  ///< in places
};

template <class T>
TriangleSchedule<T> schedule_triangle(const CsrView<T>& a, Triangle triangle, Diagonal diagonal,
                                      const TriangleScheduleOptions& options);

/// Of a complex triangle that has pivots: each row is four, the parts of its numerator and those of its quotient, which are
/// what later numerators need. A row of quotients has two entries, the parts of the numerator in turn with p and q as they are;
/// rows of quotients are in chunks of their own, one lane each. `rows` is the part of b, or of x, of each place.
template <class T>
TriangleSchedule<T> schedule_pairs(const PairedTriangle<T>& a, const TriangleScheduleOptions& options);

}  // namespace solver::cuda
