#pragma once

/// The lines behind the header, in parallel.

#include "core/thread_pool.hpp"
#include "io/matrix_market/decimal.hpp"
#include "io/matrix_market/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace solver::matrix_market {

/// What one block of text held.
template <class Item>
struct Parsed {
    std::int64_t number = 0;  ///< of the block
    std::vector<Item> items;
    std::optional<FileError> error;  ///< what stopped the parsing behind the items
    std::int64_t below_line = 0;     ///< the first line with an entry below the diagonal; 0: none
    std::int64_t above_line = 0;     ///< the first line with an entry above the diagonal
};

template <class T>
const char* parse_value(const char* p, Field field, T& value) {
    const Decimal decimal = split_decimal(p);
    if (field == Field::integer && !decimal.whole) throw LineError(p, fmt::format("saw {}, expected an integer", seen(p)));
    value = nearest<T>(decimal);
    return decimal.end;
}

/// Two decimals, or one where the file is real.
template <class T>
const char* parse_value(const char* p, Field field, std::complex<T>& z) {
    T re{}, im{};
    p = parse_value(p, field, re);
    if (field == Field::complex) p = parse_value(skip_blanks(p), field, im);
    z = {re, im};
    return p;
}

/// The diagonal is real where a matrix equals its conjugate transpose.
template <class T>
void require_real_diagonal(const char* p, const Entry<T>& entry) {
    if constexpr (is_complex<T>)
        if (entry.row == entry.column && entry.value.imag() != 0)
            throw LineError(p,
                            fmt::format("saw an imaginary part of {:g} at ({}, {}); the diagonal of a hermitian matrix is real",
                                        entry.value.imag(), entry.row + 1, entry.row + 1));
}

inline const char* parse_index(const char* p, std::int64_t limit, const char* name, std::int32_t& index) {
    p = skip_blanks(p);
    std::int64_t counted_from_one = 0;
    const char* const end = parse_whole(p, counted_from_one);
    if (end == nullptr)
        throw LineError(p, fmt::format("saw {}, expected a {}, a whole number within 1..{}", seen(p), name, limit));
    if (counted_from_one < 1 || counted_from_one > limit)
        throw LineError(p, fmt::format("{} {} is outside 1..{}", name, std::string_view(p, end), limit));
    index = static_cast<std::int32_t>(counted_from_one - 1);
    return end;
}

/// row column value
template <class T>
const char* parse_line(const char* p, const Header& header, Entry<T>& entry) {
    p = parse_index(p, header.rows, "row", entry.row);
    p = parse_index(p, header.columns, "column", entry.column);
    entry.value = T(1);
    if (header.field != Field::pattern) p = parse_value(skip_blanks(p), header.field, entry.value);
    if (header.symmetry == Symmetry::skew_symmetric && entry.row == entry.column)
        throw LineError(
            p, fmt::format("saw an entry on the diagonal, ({0}, {0}), where a skew-symmetric matrix is 0 and stores none",
                           entry.row + 1));
    if (header.symmetry == Symmetry::hermitian) require_real_diagonal(p, entry);
    return p;
}

/// value
template <class T>
const char* parse_line(const char* p, const Header& header, T& value) {
    return parse_value(p, header.field, value);
}

inline std::int64_t line_of(const char* p, const TextBlock& block) {
    return block.first_line + std::count(block.begin, p, '\n');
}

/// Remembers where each triangle begins.
template <class T>
void note_triangle(const Entry<T>& entry, const char* p, const TextBlock& block, Parsed<Entry<T>>& parsed) {
    if (entry.row > entry.column && parsed.below_line == 0) parsed.below_line = line_of(p, block);
    if (entry.row < entry.column && parsed.above_line == 0) parsed.above_line = line_of(p, block);
}

template <class Item>
void parse_lines(const TextBlock& block, const Header& header, Parsed<Item>& parsed) {
    constexpr bool has_triangles = !std::is_floating_point_v<RealOf<Item>>;
    for (const char* p = block.begin; p != block.end; ++p) {
        p = skip_blanks(p);
        if (*p == '\n') continue;
        if (*p == '%') {
            p = static_cast<const char*>(std::memchr(p, '\n', block.end - p));
            continue;
        }
        Item item;
        const char* const end = parse_line(p, header, item);
        if constexpr (has_triangles)
            if (header.symmetry != Symmetry::general) note_triangle(item, p, block, parsed);
        p = expect_line_end(end, has_triangles ? "the entry" : "the value");
        parsed.items.push_back(item);
    }
}

template <class Item>
Parsed<Item> parse_block(const TextBlock& block, const Header& header, const std::string& path) {
    Parsed<Item> parsed;
    parsed.number = block.number;
    parsed.items.reserve(std::min(block.lines, header.entries));
    try {
        parse_lines(block, header, parsed);
    } catch (const LineError& error) {
        parsed.error = FileError(path, line_of(error.where(), block), error.what());
    }
    if (parsed.items.size() < parsed.items.capacity() / 2) parsed.items.shrink_to_fit();
    return parsed;
}

/// The first error of the file: a broken line, or more items than declared, or fewer.
template <class Item>
void check_parsed(const std::vector<Parsed<Item>>& parsed, const Header& header, const std::string& path) {
    const char* const items = header.format == Format::coordinate ? "entries" : "values";
    std::int64_t count = 0;
    for (const Parsed<Item>& block : parsed) {
        count += static_cast<std::int64_t>(block.items.size());
        if (count > header.entries)
            throw FileError(path, header.size_line,
                            fmt::format("{} declared here: {}, but more follow", items, header.entries));
        if (block.error) throw *block.error;
    }
    if (count < header.entries)
        throw FileError(path, header.size_line,
                        fmt::format("{} declared here: {}, but the file ends after {}", items, header.entries, count));
}

/// A symmetric file stores one triangle. One that mixes both may as well have stored the whole matrix, and expanding that would
/// double every value.
template <class Item>
void check_triangles(const std::vector<Parsed<Item>>& parsed, const std::string& path) {
    std::int64_t below = 0;
    std::int64_t above = 0;
    for (const Parsed<Item>& block : parsed) {
        if (below == 0) below = block.below_line;
        if (above == 0) above = block.above_line;
    }
    if (below == 0 || above == 0) return;
    throw FileError(path, std::max(below, above),
                    fmt::format("saw an entry {} the diagonal, but line {} has one {} it; a file with a symmetry "
                                "stores one triangle only",
                                above > below ? "above" : "below", std::min(below, above), above > below ? "below" : "above"));
}

/// All items behind the header, block by block in the order of the file. `block` is what read_header left.
template <class Item>
std::vector<Parsed<Item>> parse_all(TextBlocks& blocks, TextBlock block, const Header& header, int threads) {
    std::vector<Parsed<Item>> all;
    all.push_back(parse_block<Item>(block, header, blocks.path()));
    std::mutex all_mutex;
    std::atomic<std::int64_t> count = all[0].items.size();
    const auto work = [&](int) {
        TextBlock mine;
        for (bool going_on = true; going_on;) {
            Parsed<Item> parsed;
            try {
                if (!blocks.next(mine)) return;
                parsed = parse_block<Item>(mine, header, blocks.path());
            } catch (const FileError& error) {
                parsed.number = mine.number;
                parsed.error = error;
            }
            count += parsed.items.size();
            going_on = !parsed.error && count <= header.entries;
            if (!going_on) blocks.stop();
            const std::lock_guard lock(all_mutex);
            all.push_back(std::move(parsed));
        }
    };
    if (!all[0].error && !blocks.at_end()) cpu::parallel_for(threads, work);
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    check_parsed(all, header, blocks.path());
    check_triangles(all, blocks.path());
    return all;
}

}  // namespace solver::matrix_market
