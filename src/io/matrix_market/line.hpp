#pragma once

/// Tokens of one line. All functions rely on the '\n' at its end.

#include "solver/error.hpp"

#include <cstdint>
#include <string>

namespace solver::matrix_market {

/// What is wrong with a line, at `where`; the line number and the path are added further up.
class LineError : public Error {
public:
    LineError(const char* where, const std::string& message) : Error(message), where_(where) {}
    const char* where() const { return where_; }

private:
    const char* where_;
};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }
inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool ends_token(char c) { return c == '\n' || is_blank(c); }

inline const char* skip_blanks(const char* p) {
    while (is_blank(*p)) ++p;
    return p;
}

inline const char* token_end(const char* p) {
    while (!ends_token(*p)) ++p;
    return p;
}

/// The token at p in quotes, fit to print: shortened, and with escapes for what is not printable ASCII.
std::string seen(const char* p);

/// What parse_whole keeps apart.
inline constexpr std::int64_t largest_whole = 1'000'000'000'000'000'000;

/// Reads a whole number without sign, and gives the end of the token or nullptr where it is none. A number beyond
/// largest_whole comes out as largest_whole + 1.
inline const char* parse_whole(const char* p, std::int64_t& value) {
    const char* const begin = p;
    std::int64_t number = 0;
    for (; is_digit(*p); ++p) number = number <= largest_whole / 10 - 1 ? number * 10 + (*p - '0') : largest_whole + 1;
    value = number;
    return p != begin && ends_token(*p) ? p : nullptr;
}

/// Throws unless nothing but blanks follows; `after` names what came before.
inline const char* expect_line_end(const char* p, const char* after) {
    p = skip_blanks(p);
    if (*p != '\n') throw LineError(p, std::string("saw ") + seen(p) + ", expected the end of the line after " + after);
    return p;
}

}  // namespace solver::matrix_market
