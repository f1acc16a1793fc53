#include "provenance.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <string_view>

namespace solver::page {
namespace {

std::string in_quotes_if_needed(std::string_view argument) {
    constexpr std::string_view harmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
    if (!argument.empty() && argument.find_first_not_of(harmless) == std::string_view::npos) return std::string(argument);
    std::string quoted = "'";
    for (const char c : argument) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

}  // namespace

std::string command_line(int argc, const char* const* argv) {
    std::string line = argc > 0 ? in_quotes_if_needed(std::filesystem::path(argv[0]).filename().string()) : "";
    for (int i = 1; i < argc; ++i) line += ' ' + in_quotes_if_needed(argv[i]);
    return line;
}

std::string now() {
    const std::time_t time = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&time, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &utc);
    return text.data();
}

std::string compiler() {
#if defined(__clang__)
    return "Clang " __clang_version__;
#else
    return "GCC " __VERSION__;
#endif
}

}  // namespace solver::page
