#pragma once

#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace solver {

/// A line of the table of an enumeration's names.
template <class Enum>
struct Name {
    Enum value;
    std::string_view name;
};

/// The value's name. `none_such` begins the message for a value that has none: "spmv: there is no kernel".
template <class Enum, std::size_t count>
std::string_view name_of(Enum value, const Name<Enum> (&names)[count], std::string_view none_such) {
    for (const Name<Enum>& each : names)
        if (value == each.value) return each.name;
    throw InvalidArgument(fmt::format("{} number {}", none_such, static_cast<int>(value)));
}

/// The value of that name. `what` says in the message what of an unknown name: "SpMV kernel"; `choices` is what may be chosen
/// besides.
template <class Enum, std::size_t count>
Enum value_of(std::string_view name, const Name<Enum> (&names)[count], std::string_view what, std::string choices = {}) {
    for (const Name<Enum>& each : names)
        if (name == each.name) return each.value;
    for (std::size_t i = 0; i < count; ++i)
        choices.append(choices.empty() ? "" : i + 1 < count ? ", " : " or ").append(names[i].name);
    throw InvalidArgument(fmt::format("{} '{}' is not known; choose {}", what, name, choices));
}

/// Nothing for "auto".
template <class Enum, std::size_t count>
std::optional<Enum> value_or_auto(std::string_view name, const Name<Enum> (&names)[count], std::string_view what) {
    if (name == "auto") return std::nullopt;
    return value_of(name, names, what, "auto");
}

}  // namespace solver
