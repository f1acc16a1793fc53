#include "io/matrix_market/line.hpp"

#include <fmt/format.h>

namespace solver::matrix_market {

std::string seen(const char* p) {
    constexpr int longest = 40;
    if (*p == '\n') return "the end of the line";
    std::string text = "'";
    for (int length = 0; !ends_token(*p); ++p, ++length) {
        if (length == longest) return text + "...'";
        const auto byte = static_cast<unsigned char>(*p);
        text += byte >= 0x20 && byte < 0x7f ? std::string(1, *p) : fmt::format("\\x{:02x}", byte);
    }
    return text + "'";
}

}  // namespace solver::matrix_market
