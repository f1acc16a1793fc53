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

std::string ResultTable::json(const Options& options, const std::string& benchmark) const {
    nlohmann::ordered_json json = head_of_record(options, benchmark);
    json["cases"] = nlohmann::ordered_json::array();
    for (const auto& row : rows_) {
        nlohmann::ordered_json entry;
        for (std::size_t i = 0; i < row.size(); ++i) entry[columns_[i].name] = row[i];
        json["cases"].push_back(std::move(entry));
    }
    return text_of(json);
}

void ResultTable::write(const Options& options, const std::string& benchmark, FileWriter to_file) const {
    if (!options.json.empty()) to_file(options.json, json(options, benchmark));
}

}  // namespace solver::bench
