#include "io/matrix_market/header.hpp"

#include "io/matrix_market/line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

namespace solver::matrix_market {
namespace {

constexpr const char* banner_form =
    "%%MatrixMarket matrix coordinate|array real|complex|integer|pattern general|symmetric|skew-symmetric|hermitian";

std::string lower_case(const char* begin, const char* end) {
    std::string text(begin, end);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

/// One word of the banner, one of those known.
template <class Value, std::size_t count>
const char* parse_word(const char* p, const char* what, const std::pair<const char*, Value> (&known)[count], Value& value) {
    p = skip_blanks(p);
    const char* const end = token_end(p);
    const std::string word = lower_case(p, end);
    std::array<const char*, count> names;
    for (std::size_t k = 0; k < count; ++k) {
        names[k] = known[k].first;
        if (word != names[k]) continue;
        value = known[k].second;
        return end;
    }
    const std::string expected = fmt::format("{}", fmt::join(names, "|"));
    throw LineError(p, fmt::format("saw {}, expected the {} to be {}", seen(p), what, expected));
}

/// After the mark of UTF-8 that some editors put at the begin of a file.
const char* skip_byte_order_mark(const char* p) { return std::strncmp(p, "\xEF\xBB\xBF", 3) == 0 ? p + 3 : p; }

void parse_banner(const char* p, Header& header) {
    const char* const end = token_end(p);
    if (lower_case(p, end) != "%%matrixmarket") throw LineError(p, fmt::format("saw {}, expected '{}'", seen(p), banner_form));
    bool matrix = false;
    p = parse_word(end, "object", {std::pair{"matrix", true}}, matrix);
    p = parse_word(p, "format", {std::pair{"coordinate", Format::coordinate}, {"array", Format::array}}, header.format);
    p = parse_word(
        p, "field",
        {std::pair{"real", Field::real}, {"complex", Field::complex}, {"integer", Field::integer}, {"pattern", Field::pattern}},
        header.field);
    p = parse_word(p, "symmetry",
                   {std::pair{"general", Symmetry::general},
                    {"symmetric", Symmetry::symmetric},
                    {"skew-symmetric", Symmetry::skew_symmetric},
                    {"hermitian", Symmetry::hermitian}},
                   header.symmetry);
    expect_line_end(p, "the banner");
    if (header.field == Field::pattern && header.format == Format::array)
        throw LineError(p, "an array of patterns has no values; expected the field real or integer");
    if (header.field == Field::pattern && header.symmetry == Symmetry::skew_symmetric)
        throw LineError(p, "a pattern has no signs and cannot be skew-symmetric; expected general or symmetric");
    if (header.symmetry == Symmetry::hermitian && header.field != Field::complex)
        throw LineError(p, "a hermitian matrix is complex; expected the field complex, or the symmetry symmetric");
}

std::int64_t stored_elements(const Header& header) {
    const __int128 n = header.columns;
    __int128 count = n * header.rows;
    if (header.symmetry == Symmetry::symmetric || header.symmetry == Symmetry::hermitian) count = n * (n + 1) / 2;
    if (header.symmetry == Symmetry::skew_symmetric) count = n * (n - 1) / 2;
    return static_cast<std::int64_t>(std::min<__int128>(count, std::numeric_limits<std::int64_t>::max()));
}

/// One number of the line with the sizes.
const char* parse_size(const char* p, const char* what, std::int64_t largest, const Header& header, std::int64_t& size) {
    p = skip_blanks(p);
    const char* const end = parse_whole(p, size);
    if (end == nullptr)
        throw LineError(p, fmt::format("saw {}, expected {}", seen(p),
                                       header.format == Format::coordinate ? "three whole numbers: rows, columns, entries"
                                                                           : "two whole numbers: rows, columns"));
    if (size > largest) throw LineError(p, fmt::format("saw {} {}, at most {} are supported", seen(p), what, largest));
    return end;
}

void parse_sizes(const char* p, Header& header) {
    const char* const begin = p;
    const bool coordinate = header.format == Format::coordinate;
    constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
    p = parse_size(p, "rows", largest, header, header.rows);
    p = parse_size(p, "columns", largest, header, header.columns);
    if (coordinate) p = parse_size(p, "entries", largest_whole, header, header.entries);
    expect_line_end(p, coordinate ? "rows, columns, entries" : "rows, columns");
    if (header.symmetry != Symmetry::general && header.rows != header.columns)
        throw LineError(begin, fmt::format("the matrix is {} x {}; one with a symmetry is square",  //
                                           header.rows, header.columns));
    if (!coordinate) header.entries = stored_elements(header);
}

/// Line by line through the blocks.
class Lines {
public:
    Lines(TextBlocks& blocks, TextBlock& block) : blocks_(blocks), block_(block) { blocks_.next(block_); }

    bool at_end() { return block_.begin == block_.end && !blocks_.next(block_); }
    const char* line() const { return block_.begin; }
    std::int64_t number() const { return block_.first_line; }
    void advance() {
        block_.begin = static_cast<const char*>(std::memchr(block_.begin, '\n', block_.end - block_.begin)) + 1;
        ++block_.first_line;
        --block_.lines;
    }

private:
    TextBlocks& blocks_;
    TextBlock& block_;
};

Header parse_header(Lines& lines) {
    Header header;
    if (lines.at_end()) throw LineError(nullptr, fmt::format("the file is empty, expected '{}'", banner_form));
    parse_banner(skip_byte_order_mark(lines.line()), header);
    for (lines.advance(); !lines.at_end(); lines.advance()) {
        const char* const first = skip_blanks(lines.line());
        if (*first == '%' || *first == '\n') continue;
        parse_sizes(first, header);
        header.size_line = lines.number();
        lines.advance();
        return header;
    }
    throw LineError(nullptr, "the file ends before the line with the sizes");
}

}  // namespace

Header read_header(TextBlocks& blocks, TextBlock& block) {
    Lines lines(blocks, block);
    try {
        return parse_header(lines);
    } catch (const LineError& error) {
        throw FileError(blocks.path(), lines.number(), error.what());
    }
}

}  // namespace solver::matrix_market
