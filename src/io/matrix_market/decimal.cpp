#include "io/matrix_market/decimal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace solver::matrix_market {
namespace {

/// Whether a decimal other than 0 is at least 1.
bool is_large(const Decimal& decimal) {
    std::int64_t significant_digits = 0;
    for (const char* p = decimal.begin; is_digit(*p) || *p == '.' || *p == '-' || *p == '+'; ++p)
        significant_digits += is_digit(*p) && (significant_digits > 0 || *p != '0');
    return significant_digits + decimal.exponent > 0;
}

}  // namespace

template <class T>
T nearest_by_library(const Decimal& decimal) {
    std::string_view text(decimal.begin + (*decimal.begin == '+'), decimal.end);
    std::string with_e;  // from_chars knows no d
    if (decimal.fortran) {
        with_e = text;
        std::replace_if(
            with_e.begin(), with_e.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');
        text = with_e;
    }
    T value{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool too_large = code == std::errc::result_out_of_range ? is_large(decimal) : std::isinf(value);
    if (too_large)
        throw LineError(decimal.begin,
                        fmt::format("{} is beyond the range of {} precision, {:.3g}", seen(decimal.begin),
                                    std::is_same_v<T, float> ? "single" : "double", std::numeric_limits<T>::max()));
    if (code == std::errc::result_out_of_range) return decimal.negative ? -T(0) : T(0);
    return value;
}

template float nearest_by_library(const Decimal&);
template double nearest_by_library(const Decimal&);

}  // namespace solver::matrix_market
