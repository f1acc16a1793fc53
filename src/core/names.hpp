#pragma once

#include "solver/error.hpp"

#include <fmt/format.h>

#include <cstddef>
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

/// The value of that name. `what` says in the message what of an unknown name: "SpMV kernel".
template <class Enum, std::size_t count>
Enum value_of(std::string_view name, const Name<Enum> (&names)[count], std::string_view what) {
    for (const Name<Enum>& each : names)
        if (name == each.name) return each.value;
    std::string choices(names[0].name);
    for (std::size_t i = 1; i < count; ++i) choices.append(i + 1 < count ? ", " : " or ").append(names[i].name);
    throw InvalidArgument(fmt::format("{} '{}' is not known; choose {}", what, name, choices));
}

}  // namespace solver
