#pragma once

/// What the programs' command lines have in common: options as Boost reads them, and refusals that say what was given, what was
/// expected and what helps.

#include "solver/device.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace solver::cli {

namespace po = boost::program_options;

/// A command line that cannot be obeyed; the text says why and what is possible.
class UsageError : public InvalidArgument {
public:
    using InvalidArgument::InvalidArgument;
};

/// How a program tells of its options.
struct Usage {
    std::string help;        ///< the command that lists them, as in "solver --help"
    std::string example;     ///< an argument with its option, as in "--matrix FILE"
    std::string positional;  ///< the option that arguments without one belong to; empty where there is none
};

/// Options with a value: one, or any number of them.
inline auto* text(const char* value) { return po::value<std::string>()->value_name(value); }
inline auto* texts(const char* value) { return po::value<std::vector<std::string>>()->value_name(value)->composing(); }

/// The values of a command line without the program's name. Options cannot be abbreviated. Throws UsageError, which names the
/// option that a mistyped one may have meant.
po::variables_map read(const std::vector<std::string>& arguments, const po::options_description& table, const Usage& usage);

/// The value of an option, if it was given; throws UsageError where it is empty.
std::optional<std::string> given(const po::variables_map& values, const char* name);

/// All values of an option that may be repeated.
std::vector<std::string> all_given(const po::variables_map& values, const char* name);

inline bool is_given(const po::variables_map& values, const char* name) { return values.count(name) != 0; }

/// The number that all of the text is, if it is one.
template <class T>
std::optional<T> number_from(std::string_view text) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

/// The number that the text of an option is. Throws UsageError where it is none, or none that `accept`(number) likes.
template <class T, class Accept>
T number_where(std::string_view name, std::string_view text, std::string_view expected, const Accept& accept) {
    const auto value = number_from<T>(text);
    if (!value || !accept(*value)) throw UsageError(fmt::format("--{} {}: expected {}", name, text, expected));
    return *value;
}

/// The number in the text of the option --name; UsageError unless it is one from `least` to `most`.
template <class T>
T number_between(std::string_view name, std::string_view text, T least, T most) {
    return number_where<T>(name, text, fmt::format("a number from {} to {}", least, most),
                           [&](T value) { return value >= least && value <= most; });
}

/// --threads; 0, all of them, unless given.
int threads_of(const po::variables_map& values);

/// The index in "cuda" or "cuda:N"; nothing for another text.
std::optional<int> cuda_index(std::string_view text);

/// --device: auto (unless given), cpu, cuda or cuda:N. Throws UsageError where that is not there, too.
Device device_of(const po::variables_map& values, int threads);

}  // namespace solver::cli
