#pragma once

/// Whole texts that programs make of made-up results, beside the ones in tests/data/texts, which were read and reckoned by
/// hand.

#include "solver/device.hpp"
#include "tools/page/provenance.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <utility>

namespace solver::testing {

inline std::string with(std::string text, const std::string& what, const std::string& by) {
    if (what.empty()) return text;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

/// Without what depends on the machine, on the day, or on nothing that is tested: the style of a page.
inline std::string without_circumstances(std::string text) {
    text = with(std::move(text), SOLVER_VERSION, "VERSION");
    text = with(std::move(text), describe(Device::cpu()).name, "PROCESSOR");
    text = with(std::move(text), page::compiler(), "COMPILER");
    for (const auto& [what, by] :
         {std::pair("[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} UTC", "NOW"),
          std::pair("(\"device_memory_bytes\": )[0-9]+", "$1BYTES"), std::pair("Eigen [0-9]+\\.[0-9.]+", "Eigen VERSION"),
          std::pair("Eigen VERSION \\([^)]*\\)", "Eigen VERSION"), std::pair("(\"machine\": \\{)[^}]*", "$1"),
          std::pair("[0-9]+ processors; beside .*\\. b = ", "ALL processors; beside PEERS. b = "),
          std::pair("(<dt>CUDA</dt><dd>)[^<]*", "$1VERSIONS")})
        text = std::regex_replace(text, std::regex(what), by);
    const std::size_t begin = text.find("<style>"), end = text.find("</style>");
    return end == std::string::npos ? text : text.erase(begin, end - begin);
}

/// Whether a text is the one in this file of tests/data/texts.
inline void expect_text(const std::string& found, const std::string& name) {
    std::ifstream file(SOLVER_TEST_DATA "/texts/" + name);
    const std::string expected{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(without_circumstances(found), expected) << name;
}

}  // namespace solver::testing
