#pragma once

/// Results in rows and columns, for a person and for programs.

#include "options.hpp"
#include "report.hpp"

#include <string>
#include <vector>

namespace solver::bench {

class ResultTable {
public:
    explicit ResultTable(std::vector<Measure> columns) : columns_(std::move(columns)) {}

    /// A cell for each column; what was not measured is empty.
    void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

    /// The first column to the left, the others to the right.
    void print() const;
    /// With the machine and the name of what was measured. All cells are strings.
    std::string json(const Options& options, const std::string& benchmark) const;
    /// Where the options want JSON.
    void write(const Options& options, const std::string& benchmark, FileWriter to_file) const;

private:
    std::vector<Measure> columns_;
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace solver::bench
