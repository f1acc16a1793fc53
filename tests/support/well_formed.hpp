#pragma once

/// Whether a page can be read: enough of a strict XML parser for pages that hold neither comments nor CDATA.

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace solver::testing {

/// Every tag closed in order, every attribute quoted and given once, every & an entity, no < in text, every id once, and
/// nothing that is fetched or runs.
inline ::testing::AssertionResult stands_alone(const std::string& page) {
    static const std::regex tag(R"(^</?([A-Za-z][A-Za-z0-9]*)((\s+[A-Za-z][A-Za-z0-9:-]*="[^"<]*")*)\s*(/?)>)");
    static const std::regex attribute(R"re(([A-Za-z][A-Za-z0-9:-]*)="([^"]*)")re");
    static const std::regex entity(R"(^&(amp|lt|gt|quot|#[0-9]+);)");
    constexpr std::string_view start = "<!DOCTYPE html>\n";
    if (!page.starts_with(start)) return ::testing::AssertionFailure() << "no DOCTYPE";
    std::vector<std::string> open;
    std::set<std::string> ids;
    for (std::size_t at = start.size(); at < page.size(); ++at) {
        std::smatch found;
        const auto from = page.begin() + static_cast<std::ptrdiff_t>(at);
        const auto failure = [&](const std::string& what) {
            return ::testing::AssertionFailure() << what << " at " << at << ": " << page.substr(at, 80);
        };
        if (page[at] == '&' && !std::regex_search(from, page.end(), found, entity)) return failure("no entity");
        if (static_cast<unsigned char>(page[at]) < ' ' && page[at] != '\n' && page[at] != '\t') return failure("control");
        if (page[at] != '<') continue;
        if (!std::regex_search(from, page.end(), found, tag)) return failure("no tag");
        const std::string name = found[1], attributes = found[2];
        std::set<std::string> given;
        for (std::sregex_iterator each(attributes.begin(), attributes.end(), attribute), end; each != end; ++each) {
            if (!given.insert((*each)[1]).second) return failure("attribute twice");
            if ((*each)[1] == "id" && !ids.insert((*each)[2]).second) return failure("id twice");
            if ((*each)[1] == "src" || (*each)[1] == "href" || std::string((*each)[1]).starts_with("on"))
                return failure("something to fetch or to run");
        }
        if (name == "script" || name == "link" || name == "img") return failure("something to fetch or to run");
        if (page[at + 1] == '/') {
            if (open.empty() || open.back() != name) return failure("closes what is not open");
            open.pop_back();
        } else if (found[4].length() == 0) {
            open.push_back(name);
        }
        at += static_cast<std::size_t>(found[0].length()) - 1;
    }
    if (!open.empty()) return ::testing::AssertionFailure() << open.back() << " is not closed";
    if (page.find("url(") != std::string::npos || page.find("@import") != std::string::npos)
        return ::testing::AssertionFailure() << "the style fetches something";
    return ::testing::AssertionSuccess();
}

/// Every row of a table is as wide as the table's first, which names the columns.
inline ::testing::AssertionResult tables_are_even(const std::string& page) {
    static const std::regex part(R"re(<(table|tr|t[dh])[ >]|colspan="([0-9]+)"|</tr>)re");
    int width = 0, cells = 0;
    for (std::sregex_iterator each(page.begin(), page.end(), part), end; each != end; ++each) {
        const std::string name = (*each)[1], spanned = (*each)[2];
        if (name == "table") width = 0;
        if (name == "tr") cells = 0;
        if (name == "td" || name == "th") ++cells;
        if (!spanned.empty()) cells += std::stoi(spanned) - 1;
        if ((*each)[0] != "</tr>") continue;
        if (width == 0) width = cells;
        if (cells != width)
            return ::testing::AssertionFailure() << "a row of " << cells << " cells in a table of " << width << ": "
                                                 << page.substr(0, static_cast<std::size_t>(each->position()))
                                                        .substr(page.rfind("<tr", static_cast<std::size_t>(each->position())));
    }
    return ::testing::AssertionSuccess();
}

}  // namespace solver::testing
