#include "ulp_histogram.hpp"

#include "html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace solver::page {
namespace {

/// A column of the table: errors above the limit of the one before.
struct Column {
    double limit;
    const char* heading;
};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::array columns{Column{0, "0"},
                             Column{1, "≤ 1"},
                             Column{2, "≤ 2"},
                             Column{4, "≤ 4"},
                             Column{16, "≤ 16"},
                             Column{256, "≤ 256"},
                             Column{65536, "≤ 2<sup>16</sup>"},
                             Column{infinity, "more"}};

Cell cell(std::int64_t number, std::int64_t elements, bool is_wrong) {
    if (number == 0) return {"·", " class=\"none\""};
    constexpr double tallest = 2.4;
    const double share = std::log1p(static_cast<double>(number)) / std::log1p(static_cast<double>(std::max(elements, number)));
    return {fmt::format("<i style=\"--h:{:.2f}em\"></i>{}", tallest * share, grouped(number)),
            is_wrong ? " class=\"wrong\"" : ""};
}

std::vector<Cell> cells(const UlpHistogram& histogram) {
    std::vector<Cell> row;
    auto bin = histogram.within.begin();
    for (const Column& column : columns) {
        std::int64_t number = 0;
        for (; bin != histogram.within.end() && bin->first <= column.limit; ++bin) number += bin->second;
        row.push_back(cell(number, histogram.elements, false));
    }
    row.push_back(cell(histogram.wrong_digits, histogram.elements, true));
    row.push_back(cell(histogram.non_finite, histogram.elements, true));
    return row;
}

std::string largest_text(double ulps) {
    if (ulps < 1e4) return fmt::format("{:.4g}", ulps);
    return power(ulps);
}

std::string table(const std::string& caption, const std::vector<std::pair<std::string, UlpHistogram>>& histograms) {
    std::vector<Cell> headings;
    for (const Column& column : columns) headings.push_back({column.heading});
    for (const char* heading : {"no digit", "Inf, NaN", "largest"}) headings.push_back({heading});
    Table table(caption, std::move(headings), "ulps");
    for (const auto& [name, histogram] : histograms) {
        std::vector<Cell> row = cells(histogram);
        row.push_back({largest_text(histogram.largest)});
        table.add(escaped(name), row);
    }
    return table.html();
}

std::string decimal(const std::string& number) {
    return number.starts_with('-') ? "−" + escaped(number.substr(1)) : escaped(number);
}

std::string worst_elements(const std::vector<std::pair<std::string, UlpHistogram>>& histograms) {
    std::string items;
    for (const auto& [name, histogram] : histograms) {
        if (!histogram.worst) continue;
        const WorstElement& worst = *histogram.worst;
        items += fmt::format("<li><b>{}</b> is furthest off in row {}{}: {}, true is <span class=\"truth\">{}</span></li>\n",
                             escaped(name), grouped(worst.row),
                             worst.length > 0 ? fmt::format(" ({} entries)", grouped(worst.length)) : "",
                             decimal(worst.computed), decimal(worst.truth));
    }
    return items.empty() ? "" : "<ul class=\"worst\">\n" + items + "</ul>\n";
}

}  // namespace

void count(UlpHistogram& histogram, double ulps, int digits) {
    ++histogram.elements;
    if (!(ulps <= histogram.largest)) histogram.largest = ulps;
    if (!std::isfinite(ulps))
        ++histogram.non_finite;
    else if (ulps > std::ldexp(1.0, digits - 1))
        ++histogram.wrong_digits;
    else if (ulps <= 0.5)
        ++histogram.within[ulps == 0 ? 0 : 0.5];
    else
        ++histogram.within[std::exp2(std::max(std::ceil(std::log2(ulps)), 0.0))];
}

template <std::floating_point T>
UlpHistogram ulp_histogram(std::span<const T> computed, std::span<const T> truth, std::span<const std::int64_t> offsets) {
    UlpHistogram histogram;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const double before = histogram.largest;
        count(histogram, ulp_error(computed[i], truth[i]), std::numeric_limits<T>::digits);
        if (histogram.largest > before)
            histogram.worst = WorstElement{static_cast<std::int64_t>(i) + 1, offsets[i + 1] - offsets[i],
                                           fmt::format("{}", computed[i]), fmt::format("{}", truth[i])};
    }
    return histogram;
}

template UlpHistogram ulp_histogram(std::span<const float>, std::span<const float>, std::span<const std::int64_t>);
template UlpHistogram ulp_histogram(std::span<const double>, std::span<const double>, std::span<const std::int64_t>);

std::string ulp_histograms(const std::string& caption, const std::vector<std::pair<std::string, UlpHistogram>>& histograms) {
    return fmt::format("<div class=\"beside\">\n{}{}</div>\n", table(caption, histograms), worst_elements(histograms));
}

}  // namespace solver::page
