#include "result_table.hpp"

#include "io/atomic_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace solver::bench {

void ResultTable::print() const {
    std::vector<std::size_t> widths;
    for (const Measure& column : columns_) widths.push_back(column.title.size());
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    const auto print_row = [&](auto cell) {
        for (std::size_t i = 0; i < widths.size(); ++i)
            fmt::print(fmt::runtime(i == 0 ? "  {:<{}}" : "  {:>{}}"), cell(i), widths[i]);
        fmt::print("\n");
    };
    print_row([&](std::size_t i) { return columns_[i].title; });
    for (const auto& row : rows_) print_row([&](std::size_t i) { return row[i]; });
    std::fflush(stdout);
}

std::string ResultTable::csv() const {
    std::string text;
    for (const Measure& column : columns_) text += (text.empty() ? "" : ",") + column.name;
    text += '\n';
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i) text += csv_field(row[i]) + (i + 1 < row.size() ? ',' : '\n');
    return text;
}

std::string ResultTable::markdown() const {
    std::string text = "|", line = "|";
    for (const Measure& column : columns_) {
        text += ' ' + column.title + " |";
        line += line.size() == 1 ? "---|" : "---:|";
    }
    text += '\n' + line + '\n';
    for (const auto& row : rows_) {
        text += '|';
        for (std::string cell : row) {
            std::replace(cell.begin(), cell.end(), '|', '/');
            text += ' ' + cell + " |";
        }
        text += '\n';
    }
    return text;
}

std::string ResultTable::json(const Options& options, const std::string& benchmark) const {
    nlohmann::ordered_json json;
    json["solver"] = SOLVER_VERSION;
    json["benchmark"] = benchmark;
    json["machine"] = machine_facts(options);
    json["cases"] = nlohmann::ordered_json::array();
    for (const auto& row : rows_) {
        nlohmann::ordered_json entry;
        for (std::size_t i = 0; i < row.size(); ++i) entry[columns_[i].name] = row[i];
        json["cases"].push_back(std::move(entry));
    }
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

void ResultTable::write(const Options& options, const std::string& benchmark, FileWriter to_file) const {
    if (!options.csv.empty()) to_file(options.csv, csv());
    if (!options.json.empty()) to_file(options.json, json(options, benchmark));
}

}  // namespace solver::bench
