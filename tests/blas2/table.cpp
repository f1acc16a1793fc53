#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace solver::blas2 {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Range {
    const char* title;
    double low, high;  ///< ulp
};

constexpr std::array columns{
    Range{"1/2", 0, 0.5}, Range{"1", 0.5, 1},    Range{"2", 1, 2},          Range{"4", 2, 4},
    Range{"16", 4, 16},   Range{"256", 16, 256}, Range{"2^16", 256, 65536}, Range{"more", 65536, infinity}};

/// In five characters.
std::string count_text(std::int64_t count) {
    if (count == 0) return ".";
    if (count < 100'000) return fmt::format("{}", count);
    if (count < 10'000'000)
        return fmt::format("{:.{}f}{}", static_cast<double>(count) / (count < 1'000'000 ? 1e3 : 1e6), count < 1'000'000 ? 0 : 2,
                           count < 1'000'000 ? 'k' : 'M');
    return fmt::format("{:.0f}M", static_cast<double>(count) / 1e6);
}

/// Beyond 2^53 ulp nothing is right in any precision.
std::string ulps_text(long double ulps) {
    if (std::isinf(ulps)) return "inf";
    if (ulps >= 0x1p53L) return ">2^53";
    if (ulps == 0) return "0";
    return ulps < 100 ? fmt::format("{:.2f}", ulps) : ulps < 1e5 ? fmt::format("{:.0f}", ulps) : fmt::format("{:.1e}", ulps);
}

/// As many digits as tell it from its neighbours.
std::string number_text(double value, const std::string& precision) {
    return precision == "single" ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

std::string histogram_text(const Histogram& histogram) {
    std::string text = fmt::format(" {:>6}", count_text(histogram.correct()));
    for (const Range& column : columns) text += fmt::format(" {:>6}", count_text(histogram.between(column.low, column.high)));
    return text + fmt::format(" {:>6} {:>6}", count_text(histogram.wrong_digits()), count_text(histogram.non_finite()));
}

std::string who(const Verdict& verdict) {
    if (!verdict.accuracy) return verdict.judged;
    const std::string kernel = verdict.kernel.empty() ? "" : verdict.kernel + ' ';
    return kernel + std::string(to_string(*verdict.accuracy));
}

std::string worst_text(const Worst& worst, const std::string& precision) {
    return fmt::format("{}: {}, true {} ({} terms, condition {:.1e})", worst.name, number_text(worst.computed, precision),
                       number_text(worst.exact, precision), worst.terms, worst.condition);
}

std::string line(const Verdict& verdict) {
    const std::string cost = verdict.cost > 0 ? fmt::format("{:.2f}", verdict.cost) : "";
    std::string text = fmt::format("  {:<21}{} {:>8} {:>5}", who(verdict), histogram_text(verdict.histogram),
                                   ulps_text(verdict.largest_ulps), cost);
    if (!verdict.passed) text += "  BROKEN";
    if (verdict.overflowed > 0) text += "  OVERFLOW";
    if (!verdict.same_bits && verdict.accuracy == std::nullopt) text += "  other bits from run to run";
    if (verdict.worst) text += "  " + worst_text(*verdict.worst, verdict.precision);
    if (!verdict.passed) text += "\n    " + verdict.reason;
    return text + '\n';
}

std::string column_titles(const Verdict& verdict) {
    std::string text =
        fmt::format("\n{:<23} {:>6}", fmt::format("{}, {}", to_string(verdict.operation), verdict.precision), "0");
    for (const Range& column : columns) text += fmt::format(" {:>6}", column.title);
    return text + fmt::format(" {:>6} {:>6} {:>8} {:>5}  worst element\n", "wrong", "inf", "largest", "cost");
}

bool same_inputs(const Verdict& a, const Verdict& b) { return a.formula == b.formula && a.inputs.x == b.inputs.x; }

}  // namespace

std::string heading_of(const Verdict& verdict) {
    return fmt::format("{}: {} x {}, {} nonzeros, on {}\n", verdict.matrix, verdict.rows, verdict.columns, verdict.nonzeros,
                       verdict.device);
}

std::string detailed_table(std::span<const Verdict> verdicts) {
    if (verdicts.empty()) return "";
    std::string text = column_titles(verdicts.front());
    std::vector<bool> is_shown(verdicts.size(), false);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        if (is_shown[i]) continue;
        text += fmt::format(" {}, {} {}\n", verdicts[i].formula, verdicts[i].inputs.x.empty() ? "" : "x", verdicts[i].inputs.x);
        for (std::size_t j = i; j < verdicts.size(); ++j) {
            if (is_shown[j] || !same_inputs(verdicts[i], verdicts[j])) continue;
            text += line(verdicts[j]);
            is_shown[j] = true;
        }
    }
    return text;
}

namespace {

bool is_plain_product(const Verdict& verdict) {
    return verdict.operation == Operation::spmv && verdict.inputs.alpha == 1 && verdict.inputs.beta == 0;
}

struct VerdictsOfOneMode {
    Histogram histogram;
    long double largest_ulps = 0;
    std::vector<double> costs;

    void add(const Verdict& verdict) {
        histogram.add(verdict.histogram);
        largest_ulps = std::max(largest_ulps, verdict.largest_ulps);
        if (verdict.cost > 0) costs.push_back(verdict.cost);
    }

    double median_cost() {
        if (costs.empty()) return 0;
        std::nth_element(costs.begin(), costs.begin() + static_cast<std::ptrdiff_t>(costs.size() / 2), costs.end());
        return costs[costs.size() / 2];
    }

    std::string text(bool with_cost) {
        const std::int64_t total = histogram.total();
        if (total == 0) return fmt::format(" {:>8} {:>8} {:>6}{}", "", "", "", with_cost ? "      " : "");
        const double share = 100.0 * static_cast<double>(histogram.correct()) / static_cast<double>(total);
        std::string line = fmt::format(" {:>7.2f}% {:>8} {:>6}", std::floor(share * 100) / 100, ulps_text(largest_ulps),
                                       count_text(histogram.wrong_digits() + histogram.non_finite()));
        return line + (with_cost ? fmt::format(" {:>5.2f}", median_cost()) : "");
    }
};

}  // namespace

std::string summary_heading() {
    std::string text = fmt::format("\n{:<53}|{:<26}|{:<32}|{:<32}|\n", "errors of A x (promises are those of all operations)",
                                   " fast", " compensated", " exact");
    text += fmt::format("{:<26} {:>9} {:>9} {:<6}|", "matrix", "rows", "nonzeros", "");
    for (const Accuracy accuracy : all_accuracies) {
        text += fmt::format(" {:>8} {:>8} {:>6}", "correct", "largest", "wrong");
        text += accuracy == Accuracy::fast ? " |" : fmt::format(" {:>5} |", "cost");
    }
    return text + '\n';
}

std::string summary_line(std::span<const Verdict> verdicts) {
    if (verdicts.empty()) return "";
    std::array<VerdictsOfOneMode, all_accuracies.size()> sums;
    std::int64_t broken = 0, overflowed = 0;
    for (const Verdict& verdict : verdicts) {
        if (verdict.accuracy && is_plain_product(verdict)) sums[static_cast<std::size_t>(*verdict.accuracy)].add(verdict);
        broken += verdict.passed ? 0 : 1;
        overflowed += verdict.overflowed > 0 ? 1 : 0;
    }
    const Verdict& first = verdicts.front();
    std::string text = fmt::format("{:<20} {:>8} {:>9} {:<6}|", first.matrix, first.rows, first.nonzeros, first.precision);
    for (const Accuracy accuracy : all_accuracies)
        text += sums[static_cast<std::size_t>(accuracy)].text(accuracy != Accuracy::fast) + " |";
    if (broken != 0) text += fmt::format(" {} BROKEN", broken);
    if (overflowed != 0) text += fmt::format(" {} OVERFLOW", overflowed);
    for (const Verdict& verdict : verdicts)
        if (!verdict.passed)
            text += fmt::format("\n    {}, x {}, {}: {}", verdict.formula, verdict.inputs.x, who(verdict), verdict.reason);
    return text + '\n';
}

}  // namespace solver::blas2
