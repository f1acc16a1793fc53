#include "markdown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace solver::blas2 {
namespace {

/// Who computed, in which precision.
struct Column {
    std::string precision;
    std::string who;

    auto operator<=>(const Column&) const = default;
};

Column column_of(const Verdict& verdict) {
    return {verdict.precision, verdict.accuracy ? std::string(to_string(*verdict.accuracy)) : verdict.judged};
}

/// The elements of several results.
struct Sum {
    Histogram histogram;
    long double largest_ulps = 0;
    int broken = 0;

    void add(const Verdict& verdict) {
        histogram.add(verdict.histogram);
        largest_ulps = std::max(largest_ulps, verdict.largest_ulps);
        broken += verdict.passed ? 0 : 1;
    }
};

/// Each once, in the order in which they come.
template <class Value>
void note(std::vector<Value>& values, const Value& value) {
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

std::string row_of(const std::vector<std::string>& cells) {
    std::string row = "|";
    for (const std::string& cell : cells) fmt::format_to(std::back_inserter(row), " {} |", cell);
    return row + '\n';
}

std::string head_of(const std::vector<std::string>& names, std::size_t left_aligned) {
    std::string rule = "|";
    for (std::size_t i = 0; i < names.size(); ++i) rule += i < left_aligned ? "---|" : "---:|";
    return row_of(names) + rule + '\n';
}

/// Beyond 2^53 ulp nothing is right in any precision.
std::string in_ulps(long double error) { return error > 0x1p53L ? "> 2^53" : fmt::format("{:.3g}", error); }

/// 100 % for all of them only.
std::string share(std::int64_t part, std::int64_t total) {
    const double percent = total == 0 ? 100 : 100 * static_cast<double>(part) / static_cast<double>(total);
    return part == total ? "100 %" : fmt::format("{:.2f} %", std::floor(percent * 100) / 100);
}

/// Bold where an element has no correct digit.
std::string error_of(const Sum& sum) {
    if (sum.histogram.non_finite() > 0) return "**inf**";
    const std::string error = in_ulps(sum.largest_ulps);
    return sum.histogram.wrong_digits() > 0 ? fmt::format("**{}**", error) : error;
}

/// The largest errors of A x, a line for each matrix; those with the one and the other x in one cell.
class ProductTable {
public:
    explicit ProductTable(std::span<const Verdict> verdicts) {
        for (const Verdict& verdict : verdicts) {
            if (verdict.operation != Operation::spmv || verdict.inputs.alpha != 1 || verdict.inputs.beta != 0) continue;
            note(columns_, column_of(verdict));
            note(vectors_, verdict.inputs.x);
            if (matrices_.empty() || matrices_.back()->matrix != verdict.matrix) matrices_.push_back(&verdict);
            sums_[{verdict.matrix, column_of(verdict), verdict.inputs.x}].add(verdict);
        }
    }

    std::string text() const {
        std::string text = "The largest error of y = A x in ulp, of both kernels; x = ";
        for (const std::string& x : vectors_) text += (&x == &vectors_.front() ? "" : " / ") + x;
        text += ". Bold: some element has no correct digit.\n\n";
        std::vector<std::string> names{"matrix", "rows", "entries"};
        for (const Column& column : columns_) names.push_back(fmt::format("{}: {}", column.precision, column.who));
        text += head_of(names, 1);
        for (const Verdict* matrix : matrices_) text += row_of(cells_of(*matrix));
        return text;
    }

private:
    std::vector<std::string> cells_of(const Verdict& matrix) const {
        std::vector<std::string> cells{matrix.matrix, fmt::format("{}", matrix.rows), fmt::format("{}", matrix.nonzeros)};
        for (const Column& column : columns_) {
            std::string cell;
            for (const std::string& x : vectors_) {
                const auto sum = sums_.find({matrix.matrix, column, x});
                cell += (cell.empty() ? "" : " / ") + (sum == sums_.end() ? "-" : error_of(sum->second));
            }
            cells.push_back(cell);
        }
        return cells;
    }

    std::vector<Column> columns_;
    std::vector<std::string> vectors_;
    std::vector<const Verdict*> matrices_;  ///< the first verdict of each
    std::map<std::tuple<std::string, Column, std::string>, Sum> sums_;
};

std::string operations_table(std::span<const Verdict> verdicts) {
    using Key = std::pair<Operation, Column>;
    std::vector<Key> keys;
    std::map<Key, Sum> sums;
    for (const Verdict& verdict : verdicts) {
        const Key key{verdict.operation, column_of(verdict)};
        note(keys, key);
        sums[key].add(verdict);
    }
    std::stable_sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
        return std::tie(a.first, a.second.precision) < std::tie(b.first, b.second.precision);
    });
    std::string text = "All matrices, vectors, factors and kernels together.\n\n";
    text += head_of({"operation", "precision", "mode", "elements", "correctly rounded", "at most 1 ulp", "largest error, ulp",
                     "no correct digit", "promises broken"},
                    3);
    for (const Key& key : keys) {
        const Sum& sum = sums.at(key);
        const std::int64_t total = sum.histogram.total(), correct = sum.histogram.correct();
        text += row_of({std::string(to_string(key.first)), key.second.precision, key.second.who, fmt::format("{}", total),
                        share(correct, total), share(correct + sum.histogram.between(0, 1), total), in_ulps(sum.largest_ulps),
                        fmt::format("{}", sum.histogram.wrong_digits() + sum.histogram.non_finite()),
                        fmt::format("{}", sum.broken)});
    }
    return text;
}

}  // namespace

std::string to_markdown(std::span<const Verdict> verdicts, const Options& options) {
    return fmt::format("`{}`, test-blas2 {}, {}\n\n{}\n{}", options.command, SOLVER_VERSION, to_string(options.device),
                       operations_table(verdicts), ProductTable(verdicts).text());
}

}  // namespace solver::blas2
