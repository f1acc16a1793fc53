#include "proven_digits.hpp"

#include "frame.hpp"
#include "html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

namespace solver::page {
namespace {

constexpr Frame wide{690, 216};
constexpr double most_digits = 17;  // no double has more
constexpr std::size_t places = 300;

struct Range {
    double least = std::numeric_limits<double>::infinity();
    double largest = -least;
};

/// Nothing where there is no digit to speak of. A bound below the range of doubles says that all are right.
std::optional<double> digits(double x, double bound) {
    if (x == 0 || !std::isfinite(x) || !std::isfinite(bound)) return std::nullopt;
    return std::clamp(-std::log10(bound / std::abs(x)), 0.0, most_digits);
}

struct Profile {
    std::vector<Range> ranges;  ///< one a place
    std::int64_t left_out = 0;
    std::size_t worst = 0;  ///< the index of the fewest digits
    double fewest = most_digits;
};

Profile profile_of(std::span<const double> x, std::span<const double> bounds) {
    Profile profile{std::vector<Range>(std::min(places, std::max<std::size_t>(x.size(), 1)))};
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::optional<double> here = digits(x[i], bounds[i]);
        if (!here) {
            ++profile.left_out;
            continue;
        }
        Range& range = profile.ranges[i * profile.ranges.size() / x.size()];
        range = {std::min(range.least, *here), std::max(range.largest, *here)};
        if (*here < profile.fewest) {
            profile.fewest = *here;
            profile.worst = i;
        }
    }
    return profile;
}

double y_of(double count) { return wide.bottom() - (wide.bottom() - wide.top) * count / most_digits; }

std::string axes(std::size_t components) {
    std::string svg =
        fmt::format("<path class=\"axis\" d=\"M{0} {1}V{2}H{3}\"/>\n", wide.left, wide.top, wide.bottom(), wide.right());
    for (const int count : {0, 4, 8, 12, 16})
        fmt::format_to(
            std::back_inserter(svg),
            "<path class=\"axis\" d=\"M{0} {1:.1f}h-3\"/><text x=\"{2}\" y=\"{3:.1f}\" text-anchor=\"end\">{4}</text>\n",
            wide.left, y_of(count), wide.left - 6, y_of(count) + 4, count);
    fmt::format_to(std::back_inserter(svg),
                   "<text x=\"{0}\" y=\"{1}\">component 1</text><text x=\"{2}\" y=\"{1}\" text-anchor=\"end\">{3}</text>\n",
                   wide.left, wide.bottom() + 15, wide.right(), grouped(static_cast<std::int64_t>(components)));
    return svg;
}

std::string line(const std::vector<Range>& ranges) {
    constexpr double least_length = 1.5;
    std::string d;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (ranges[i].least > ranges[i].largest) continue;
        const double x =
            wide.left + (wide.right() - wide.left) * (static_cast<double>(i) + 0.5) / static_cast<double>(ranges.size());
        const double from = y_of(ranges[i].least), to = std::min(y_of(ranges[i].largest), from - least_length);
        fmt::format_to(std::back_inserter(d), "M{:.1f} {:.1f}V{:.1f}", x, from, to);
    }
    return d.empty() ? "" : fmt::format("<path class=\"line\" d=\"{}\"/>\n", d);
}

std::string words(const Profile& profile, std::size_t components) {
    const auto drawn = static_cast<std::int64_t>(components) - profile.left_out;
    if (drawn == 0) return "no component has digits to speak of";
    std::string text = fmt::format("the fewest digits, {:.1f}, has component {}", profile.fewest,
                                   grouped(static_cast<std::int64_t>(profile.worst) + 1));
    if (profile.left_out > 0) text += fmt::format("; {} are 0, or without a bound, and not shown", grouped(profile.left_out));
    return text;
}

}  // namespace

std::string proven_digits(std::span<const double> x, std::span<const double> bounds, std::string_view id) {
    const Profile profile = profile_of(x, bounds);
    const std::string said = words(profile, x.size());
    return fmt::format(
        "<figure class=\"numbers\">\n<figcaption>Proven digits of each component: {1}.</figcaption>\n<svg "
        "xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {2} {3}\" role=\"img\" aria-labelledby=\"{0}-title\">\n<title "
        "id=\"{0}-title\">Proven digits over the index of the component: {1}</title>\n{4}{5}</svg>\n</figure>\n",
        id, said, wide.width, wide.height, axes(x.size()), line(profile.ranges));
}

}  // namespace solver::page
