#pragma once

/// Pages of HTML that are well-formed XML too, stand alone (nothing is fetched, nothing runs) and can be printed.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace solver::page {

/// The text as content of an element or value of an attribute. What XML cannot hold (control characters, broken UTF-8) becomes
/// U+FFFD.
std::string escaped(std::string_view text);

/// 116835 as "116 835", the spaces narrow and not broken.
std::string grouped(std::int64_t count);

/// HTML: 3.2e-06 as 3.2 times a power of ten, to two digits.
std::string power(double value);

/// Of a table: content that is HTML already, attributes with a leading space.
struct Cell {
    std::string html;
    std::string attributes = {};
};

Cell text_cell(std::string_view text);
Cell number_cell(std::string html);

/// A number under a bar that is as long as its share (0 to 1) of the column.
Cell bar_cell(const std::string& html, double share);

/// A table whose rows have names. It scrolls sideways where there is no room, its names stay.
class Table {
public:
    /// The caption is HTML; columns are the headings of what follows the names.
    Table(std::string caption, std::vector<Cell> columns, std::string css_class = "");

    void add(const std::string& name_html, const std::vector<Cell>& cells, const std::string& css_class = "");
    std::string html() const;

private:
    std::string caption_, css_class_, rows_;
    std::vector<Cell> columns_;
};

/// A list of names and what they stand for.
class Facts {
public:
    void add(std::string_view name, const std::string& html);
    std::string html() const;

private:
    std::string items_;
};

std::string section(std::string_view heading, const std::string& html);

/// The whole file. The title is text, the rest HTML.
std::string document(std::string_view title, const std::string& header, const std::string& body);

}  // namespace solver::page
