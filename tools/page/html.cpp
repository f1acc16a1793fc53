#include "html.hpp"

#include "style.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace solver::page {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// Bytes of the character that `text` begins with; 0 where it is no UTF-8.
std::size_t character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                               : first >= 0xE0 && first < 0xF0 ? 3
                               : first >= 0xF0 && first < 0xF5 ? 4
                                                               : 0;
    for (std::size_t i = 1; i < length; ++i)
        if (byte(i) < 0x80 || byte(i) >= 0xC0) return 0;
    const bool is_too_long = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
    const bool is_surrogate = first == 0xED && byte(1) >= 0xA0;
    const bool is_beyond = first == 0xF4 && byte(1) >= 0x90;
    return is_too_long || is_surrogate || is_beyond ? 0 : length;
}

std::string_view entity(char c) {
    switch (c) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        default:
            return {};
    }
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == '\x7f'; }

}  // namespace

std::string escaped(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        const std::size_t length = character(text);
        if (length == 0 || is_control(text.front()))
            safe += replacement;
        else if (const std::string_view name = entity(text.front()); !name.empty())
            safe += name;
        else
            safe += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return safe;
}

std::string grouped(std::int64_t count) {
    std::string digits = fmt::format("{}", count);
    for (std::ptrdiff_t i = std::ssize(digits) - 3; i > 0; i -= 3) digits.insert(static_cast<std::size_t>(i), "\u202F");
    return digits;
}

std::string power(double value) {
    if (std::isnan(value)) return "not a number";
    if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
    if (value == 0) return "0";
    const std::string text = fmt::format("{:.1e}", value);
    const std::size_t e = text.find('e');
    const int exponent = std::stoi(text.substr(e + 1));
    std::string factor = text.substr(0, e);
    if (factor.starts_with('-')) factor.replace(0, 1, "−");
    const std::string ten = fmt::format("10<sup>{}{}</sup>", exponent < 0 ? "−" : "", std::abs(exponent));
    if (exponent == 0) return factor;
    return factor == "1.0" ? ten : factor + "·" + ten;
}

Cell text_cell(std::string_view text) { return {escaped(text)}; }

Cell number_cell(std::string html) { return {std::move(html), " class=\"n\""}; }

Cell bar_cell(const std::string& html, double share) {
    return {html, fmt::format(" class=\"n bar\" style=\"--share:{:.3f}\"", std::min(std::max(share, 0.0), 1.0))};
}

Table::Table(std::string caption, std::vector<Cell> columns, std::string css_class)
    : caption_(std::move(caption)), css_class_(std::move(css_class)), columns_(std::move(columns)) {}

void Table::add(const std::string& name_html, const std::vector<Cell>& cells, const std::string& css_class) {
    rows_ += css_class.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", css_class);
    rows_ += fmt::format("<th scope=\"row\">{}</th>", name_html);
    for (const Cell& cell : cells) rows_ += fmt::format("<td{}>{}</td>", cell.attributes, cell.html);
    rows_ += "</tr>\n";
}

std::string Table::html() const {
    std::string head = "<td></td>";
    for (const Cell& column : columns_) head += fmt::format("<th scope=\"col\"{}>{}</th>", column.attributes, column.html);
    return fmt::format(R"(<figure class="numbers">
<figcaption>{}</figcaption>
<div class="scroll" tabindex="0">
<table class="{}">
<thead><tr>{}</tr></thead>
<tbody>
{}</tbody>
</table>
</div>
</figure>
)",
                       caption_, css_class_, head, rows_);
}

void Facts::add(std::string_view name, const std::string& html) {
    items_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(name), html);
}

std::string Facts::html() const { return "<dl>\n" + items_ + "</dl>\n"; }

std::string section(std::string_view heading, const std::string& html) {
    return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", escaped(heading), html);
}

std::string document(std::string_view title, const std::string& header, const std::string& body) {
    return fmt::format(R"(<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>{}</title>
<style>
{}</style>
</head>
<body>
<header>
{}</header>
<main>
{}</main>
</body>
</html>
)",
                       escaped(title), style, header, body);
}

}  // namespace solver::page
