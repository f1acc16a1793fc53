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

std::string table(const std::string& caption, const std::vector<Cell>& before, const std::vector<UlpRow>& rows) {
    std::vector<Cell> headings = before;
    for (const Column& column : columns) headings.push_back({column.heading});
    for (const char* heading : {"no digit", "Inf, NaN", "largest"}) headings.push_back({heading});
    Table table(caption, std::move(headings), "ulps");
    for (const UlpRow& row : rows) {
        std::vector<Cell> all = row.before;
        if (row.histogram) {
            const std::vector<Cell> bars = cells(*row.histogram);
            all.insert(all.end(), bars.begin(), bars.end());
            all.push_back({largest_text(row.histogram->largest)});
        } else {
            all.push_back({"", fmt::format(" colspan=\"{}\"", columns.size() + 3)});
        }
        table.add(escaped(row.name), all);
    }
    return table.html();
}

std::string decimal(const std::string& number) {
    return number.starts_with('-') ? "−" + escaped(number.substr(1)) : escaped(number);
}

std::string worst_elements(const std::vector<UlpRow>& rows) {
    std::string items;
    for (const UlpRow& row : rows) {
        if (!row.histogram || !row.histogram->worst) continue;
        const WorstElement& worst = *row.histogram->worst;
        items += fmt::format("<li><b>{}</b> is furthest off in row {}{}: {}, true is <span class=\"truth\">{}</span></li>\n",
                             escaped(row.name), grouped(worst.row),
                             worst.length > 0 ? fmt::format(" ({} entries)", grouped(worst.length)) : "",
                             decimal(worst.computed), decimal(worst.truth));
    }
    return items.empty() ? "" : "<ul class=\"worst\">\n" + items + "</ul>\n";
}

}  // namespace

void count(UlpHistogram& histogram, double ulps, double magnitude) {
    ++histogram.elements;
    if (!(ulps <= histogram.largest)) histogram.largest = ulps;
    if (!std::isfinite(ulps))
        ++histogram.non_finite;
    else if (ulps > 1 && ulps >= magnitude / 2)
        ++histogram.wrong_digits;
    else if (ulps <= 0.5)
        ++histogram.within[ulps == 0 ? 0 : 0.5];
    else
        ++histogram.within[std::exp2(std::max(std::ceil(std::log2(ulps)), 0.0))];
}

template <std::floating_point T>
UlpHistogram ulp_histogram(std::span<const T> computed, std::span<const T> truth, const RowOffsets& offsets) {
    UlpHistogram histogram;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const double before = histogram.largest;
        count(histogram, ulp_error(computed[i], truth[i]), ulp_error(T(0), truth[i]));
        if (histogram.largest > before)
            histogram.worst = WorstElement{static_cast<std::int64_t>(i) + 1, offsets[i + 1] - offsets[i],
                                           fmt::format("{}", computed[i]), fmt::format("{}", truth[i])};
    }
    return histogram;
}

template UlpHistogram ulp_histogram(std::span<const float>, std::span<const float>, const RowOffsets&);
template UlpHistogram ulp_histogram(std::span<const double>, std::span<const double>, const RowOffsets&);

std::string ulp_histograms(const std::string& caption, const std::vector<Cell>& before, const std::vector<UlpRow>& rows) {
    return fmt::format("<div class=\"beside\">\n{}{}</div>\n", table(caption, before, rows), worst_elements(rows));
}

const std::string_view about_ulp_histograms =
    "How many elements of the result are off by how many units in the last place (ulp) of the true one: 0 is correctly "
    "rounded, "
    "<i>no digit</i> is off by half of the number or more. The bars are logarithmic, so that one wrong row among a million "
    "shows.";

const std::string_view about_exact_products =
    "The truth: every row summed in a fixed-point number of 6 413 bits that holds any sum of products without rounding, then "
    "rounded once. It is the library’s own superaccumulator, which its tests compare with MPFR; <i>exact</i> itself uses one "
    "only "
    "for rows that its filter leaves open.";

}  // namespace solver::page
