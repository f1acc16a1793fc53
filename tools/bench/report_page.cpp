#include "report_page.hpp"

#include "tools/page/html.hpp"
#include "tools/page/residual_panels.hpp"
#include "tools/page/ulp_histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace solver::bench {
namespace {

using Json = nlohmann::ordered_json;
using page::Cell;
using page::escaped;
using page::grouped;
using page::number_cell;
using page::power;
using page::Table;
using page::UlpHistogram;

std::string text(const Json& json, const char* key) { return json.at(key).get<std::string>(); }

/// JSON has no infinity; it is null there.
double number(const Json& value) { return value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>(); }

std::string time_html(double seconds) {
    constexpr double below = 0.9995;  // of the next unit: from there on three digits would be 1e+03
    if (seconds < below * 1e-6) return fmt::format("{:.3g} ns", seconds * 1e9);
    if (seconds < below * 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
    return seconds < below ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string rate_html(double rate) {
    return rate < 999.5 ? fmt::format("{:.3g}", rate) : grouped(std::llround(rate));  // from there on it would be 1e+03
}

std::string error_html(double error) {
    return error == 0 || error < 1e-2 || error >= 1e4 ? power(error) : fmt::format("{:.4g}", error);
}

// ---------------------------------------------------------------------------------------------------------------- histograms

/// Of "-1.005 (-0x1.0p0)", the decimal number.
std::string decimal(const Json& json, const char* key) {
    const std::string both = text(json, key);
    return both.substr(0, both.find(" ("));
}

page::WorstElement worst_of(const Json& json) {
    return {.row = json.at("row").get<std::int64_t>(),
            .length = json.value("length", std::int64_t{0}),
            .computed = decimal(json, "computed"),
            .truth = decimal(json, "true")};
}

/// As bench/report.cpp and test-blas2 write it.
UlpHistogram histogram_of(const Json& json) {
    UlpHistogram histogram;
    histogram.elements = json.at("elements").get<std::int64_t>();
    for (const auto& [name, count] : json.at("histogram").items()) {
        if (name == "wrong_digits")
            histogram.wrong_digits = count.get<std::int64_t>();
        else if (name == "non_finite")
            histogram.non_finite = count.get<std::int64_t>();
        else
            histogram.within[std::strtod(name.c_str(), nullptr)] += count.get<std::int64_t>();
    }
    histogram.largest = number(json.at("largest_ulps"));
    if (json.contains("worst") && json["worst"].is_object() && histogram.largest > 0) histogram.worst = worst_of(json["worst"]);
    return histogram;
}

// ------------------------------------------------------------------------------------------------------------------ contests

/// What was compared: the cases of one heading.
using Contest = std::span<const Json>;

std::vector<Contest> contests_of(const Json& part) {
    const auto& cases = part.at("cases").get_ref<const Json::array_t&>();
    std::vector<Contest> contests;
    for (std::size_t begin = 0, end = 0; begin < cases.size(); begin = end) {
        while (end < cases.size() && cases[end].at("heading") == cases[begin].at("heading")) ++end;
        contests.push_back(std::span(cases).subspan(begin, end - begin));
    }
    return contests;
}

double best_ratio(Contest contest) {
    double best = 1;
    for (const Json& entry : contest)
        if (entry.at("ratio_to_peer").is_number()) best = std::max(best, entry["ratio_to_peer"].get<double>());
    return best;
}

Cell ratio_cell(const Json& entry, Contest contest) {
    const Json& ratio = entry.at("ratio_to_peer");
    if (!ratio.is_number()) return {"", " class=\"n\""};
    return page::bar_cell(fmt::format("{:.2f}", ratio.get<double>()), ratio.get<double>() / best_ratio(contest));
}

std::string ratio_heading(Contest contest) {
    const std::string peer = text(contest.front(), "peer");
    return peer.empty() ? "" : fmt::format("× {}", escaped(peer));
}

/// The headings of what every table says of speed, and the cells.
std::vector<Cell> speed_headings(const Json& part, Contest contest) {
    return {number_cell("time"), number_cell(escaped(text(part.at("rate"), "title"))), number_cell(ratio_heading(contest))};
}

std::vector<Cell> speed_cells(const Json& part, const Json& entry, Contest contest) {
    const double rate = number(entry.at(text(part.at("rate"), "name")));
    return {number_cell(time_html(number(entry.at("median_seconds")))), number_cell(rate > 0 ? rate_html(rate) : ""),
            ratio_cell(entry, contest)};
}

std::string histograms(const Json& part, Contest contest, const std::string& caption) {
    std::vector<page::UlpRow> rows;
    for (const Json& entry : contest)
        rows.push_back({text(entry, "competitor"), speed_cells(part, entry, contest),
                        entry.contains("histogram") ? std::optional(histogram_of(entry)) : std::nullopt});
    return page::ulp_histograms(caption, speed_headings(part, contest), rows);
}

/// Errors in ulp as they are, residuals as powers of ten, red where they miss the tolerance.
Cell error_cell(const Json& entry, const std::string& name) {
    const double error = number(entry.at(name));
    if (name != "relative_residual") return number_cell(error_html(error));
    const bool is_missed = error > std::stod(text(entry, "tolerance"));
    return number_cell(is_missed ? fmt::format("<span class=\"bad\">{}</span>", power(error)) : power(error));
}

std::string table(const Json& part, Contest contest, const std::string& caption) {
    const std::string error = text(part.at("error"), "name");
    std::vector<Cell> headings = speed_headings(part, contest);
    headings.push_back(number_cell(fmt::format("× {}", escaped(text(contest.front(), "baseline")))));
    headings.push_back(number_cell(escaped(text(part["error"], "title"))));
    headings.push_back(page::text_cell(""));
    Table table(caption, std::move(headings));
    for (const Json& entry : contest) {
        std::vector<Cell> cells = speed_cells(part, entry, contest);
        cells.push_back(number_cell(fmt::format("{:.2f}", number(entry.at("ratio_to_baseline")))));
        cells.push_back(error_cell(entry, error));
        cells.push_back(page::text_cell(text(entry, "remark")));
        table.add(escaped(text(entry, "competitor")), cells);
    }
    return table.html();
}

// -------------------------------------------------------------------------------------------------------------------- solves

std::vector<page::ResidualPoint> points_of(const Json& json) {
    std::vector<page::ResidualPoint> points;
    for (const Json& point : json) points.push_back({point.at(0).get<double>(), number(point.at(1))});
    return points;
}

std::string system_of(const Json& entry) {
    return fmt::format("{}, {} precision: {} rows, {} nonzeros, preconditioner {}, tolerance {}",
                       escaped(text(entry, "matrix")), escaped(text(entry, "precision")),
                       grouped(std::stoll(text(entry, "rows"))), grouped(std::stoll(text(entry, "nonzeros"))),
                       escaped(text(entry, "preconditioner")), power(std::stod(text(entry, "tolerance"))));
}

std::string panels(Contest contest, const std::string& id) {
    std::vector<page::ResidualCurve> curves;
    for (const Json& entry : contest) {
        if (!entry.contains("residuals")) continue;
        page::ResidualCurve curve{text(entry, "competitor"), escaped(text(entry, "remark")) + ".",
                                  points_of(entry["residuals"].at("believed")), points_of(entry["residuals"].at("true"))};
        if (!curve.believed.empty() && !curve.truth.empty())
            curve.verdict += "<br/>" + page::belief_and_truth(curve.believed.back().residual, curve.truth.back().residual);
        curves.push_back(std::move(curve));
    }
    if (curves.empty()) return "";
    return page::residual_panels(curves, std::stod(text(contest.front(), "tolerance")), id);
}

// ------------------------------------------------------------------------------------------------------------------ sections

/// What a subject is called, and what has to be said about it.
struct About {
    const char* heading;
    std::string html;
};

About about(const std::string& subject) {
    if (subject == "spmv")
        return {"Sparse products",
                fmt::format("<p>{}</p>\n<p class=\"note\">{}</p>\n", page::about_ulp_histograms, page::about_exact_products)};
    if (subject == "solve")
        return {"Solves",
                "<p>BiCGStab updates its residual from step to step: what the recursion <span class=\"claim\">believes</span> "
                "(line). Rounding makes it drift from ‖<i>b</i> − A <i>x</i>‖, the <span class=\"truth\">true</span> residual "
                "(dots, where it was computed; of the solution with every sum rounded once). Times are those of one "
                "iteration.</p>\n"};
    if (subject == "gemm")
        return {"Dense products", "<p>Errors are the largest of up to 2000 elements, chosen at random.</p>\n"};
    if (subject == "dot")
        return {
            "Dot products",
            "<p><i>Random</i> elements, and the <i>worst</i>: cancelling so that no filter can decide, and every element is "
            "added up again in a superaccumulator.</p>\n"};
    if (subject == "sum") return {"Sums", ""};
    if (subject == "norm2") return {"Norms", ""};
    if (subject == "triangular") return {"Triangular solves", ""};
    return {"Results", ""};
}

std::string section(const Json& part, std::size_t index) {
    const std::vector<Contest> contests = contests_of(part);
    auto [heading, html] = about(text(part, "benchmark"));
    const bool is_plain = std::none_of(contests.begin(), contests.end(), [](Contest contest) {
        return std::any_of(contest.begin(), contest.end(), [](const Json& entry) {
            return entry.contains("histogram") || entry.contains("residuals") || !text(entry, "remark").empty();
        });
    });
    if (is_plain) html += "<div class=\"tables\">\n";
    for (std::size_t i = 0; i < contests.size(); ++i) {
        const std::string caption = escaped(text(contests[i].front(), "heading"));
        if (contests[i].front().contains("histogram"))
            html += histograms(part, contests[i], caption);
        else if (contests[i].front().contains("residuals"))
            html += fmt::format("<h3>{}</h3>\n", system_of(contests[i].front())) +
                    panels(contests[i], fmt::format("residual-{}-{}", index + 1, i + 1)) +
                    table(part, contests[i], "By the time of one iteration");
        else
            html += table(part, contests[i], caption);
    }
    if (is_plain) html += "</div>\n";
    return page::section(heading, html);
}

// ------------------------------------------------------------------------------------------------------------------- summary

/// One way to multiply, over all products.
struct Summary {
    double least_right = 1;                                    ///< share of the elements that are correctly rounded
    double right = 0;                                          ///< sum of these shares
    double largest = 0;                                        ///< error
    double slowest = std::numeric_limits<double>::infinity();  ///< speed beside the peer
    double speed = 0;                                          ///< sum of logarithms
    int products = 0;

    void add(const UlpHistogram& histogram, double ratio) {
        const auto found = histogram.within.find(0);
        const double share =
            found == histogram.within.end() ? 0 : static_cast<double>(found->second) / static_cast<double>(histogram.elements);
        least_right = std::min(least_right, share);
        right += share;
        largest = std::max(largest, histogram.largest);
        slowest = std::min(slowest, ratio);
        speed += std::log(ratio);
        ++products;
    }
};

/// 99.9993 % must not look like all.
std::string share_html(double share) {
    if (share == 1) return "all";
    const double percent = 100 * share;
    return percent > 99.9 ? fmt::format("{:.4f} %", std::min(percent, 99.9999)) : fmt::format("{:.1f} %", percent);
}

std::string summary(const Json& parts) {
    std::vector<std::string> names;
    std::map<std::string, Summary> ways;
    for (const Json& part : parts)
        for (const Json& entry : part.at("cases")) {
            if (!entry.contains("histogram") || !entry.at("ratio_to_peer").is_number()) continue;
            const std::string name = text(entry, "competitor");
            if (!ways.contains(name)) names.push_back(name);
            ways[name].add(histogram_of(entry), entry["ratio_to_peer"].get<double>());
        }
    if (names.empty()) return "";
    Table table("Over all sparse products below. Speed is beside the fastest peer of each, a geometric mean.",
                {number_cell("products"), number_cell("correctly rounded, mean"), number_cell("least"),
                 number_cell("largest error, ulp"), number_cell("speed × peer"), number_cell("least")});
    double fastest = 1;
    for (const auto& [name, way] : ways) fastest = std::max(fastest, std::exp(way.speed / way.products));
    for (const std::string& name : names) {
        const Summary& way = ways[name];
        const double speed = std::exp(way.speed / way.products);
        table.add(
            escaped(name),
            {number_cell(grouped(way.products)), page::bar_cell(share_html(way.right / way.products), way.right / way.products),
             number_cell(share_html(way.least_right)), number_cell(error_html(way.largest)),
             page::bar_cell(fmt::format("{:.2f}", speed), speed / fastest), number_cell(fmt::format("{:.2f}", way.slowest))});
    }
    return page::section("At a glance", table.html());
}

// ------------------------------------------------------------------------------------------------------------------ verdicts

/// The verdicts on one way to compute, over all matrices and vectors.
struct Verdicts {
    UlpHistogram histogram;
    std::int64_t all = 0, kept = 0;
    double cost = 0;  ///< sum of logarithms of times by that of fast
    int costs = 0;

    void add(const Json& verdict) {
        UlpHistogram one = histogram_of(verdict);
        if (one.worst) one.worst->of = text(verdict, "matrix");
        page::add(histogram, one);
        ++all;
        kept += verdict.at("passed").get<bool>();
        if (!verdict.contains("cost") || !verdict["cost"].is_number() || verdict["cost"].get<double>() <= 0) return;
        cost += std::log(verdict["cost"].get<double>());
        ++costs;
    }
};

std::string way_of(const Json& verdict) {
    const std::string accuracy = verdict.value("accuracy", "");
    return accuracy.empty() ? text(verdict, "judged") : accuracy;
}

std::string case_of(const Json& verdict) {
    std::string operation = text(verdict, "operation");
    std::replace(operation.begin(), operation.end(), '_', ' ');
    return fmt::format("{}, {} precision, {}", escaped(operation), escaped(text(verdict, "precision")),
                       escaped(verdict.value("device", "")));
}

page::UlpRow row_of(const std::string& name, const Verdicts& verdicts) {
    return {name,
            {number_cell(grouped(verdicts.all)),
             number_cell(verdicts.kept == verdicts.all ? "all"
                                                       : fmt::format("<span class=\"bad\">{}</span>", grouped(verdicts.kept))),
             number_cell(verdicts.costs > 0 ? fmt::format("{:.2f}", std::exp(verdicts.cost / verdicts.costs)) : "")},
            verdicts.histogram};
}

/// What broke its promise, one by one.
std::string failures(const Json& verdicts) {
    std::string items;
    for (const Json& verdict : verdicts)
        if (!verdict.at("passed").get<bool>())
            items +=
                fmt::format("<li><span class=\"bad\">{}</span>: {} of {}, x {}, kernel {}: {}</li>\n", escaped(way_of(verdict)),
                            case_of(verdict), escaped(text(verdict, "matrix")), escaped(verdict.value("x", "")),
                            escaped(verdict.value("kernel", "")), escaped(verdict.value("reason", "")));
    return items.empty() ? "" : "<ul>\n" + items + "</ul>\n";
}

std::string verdict_section(const Json& file) {
    using Ways = std::vector<std::pair<std::string, Verdicts>>;
    std::vector<std::pair<std::string, Ways>> cases;
    const auto entry_of = [](auto& entries, const std::string& name) -> auto& {
        const auto found = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.first == name; });
        if (found != entries.end()) return found->second;
        entries.emplace_back().first = name;
        return entries.back().second;
    };
    std::set<std::string> matrices;
    std::int64_t kept = 0;
    for (const Json& verdict : file.at("verdicts")) {
        entry_of(entry_of(cases, case_of(verdict)), way_of(verdict)).add(verdict);
        matrices.insert(text(verdict, "matrix"));
        kept += verdict["passed"].get<bool>();
    }
    std::string html = fmt::format(
        "<p>Results on {} matrices beside what MPFR, a library that shares nothing with this one, finds in as many digits as "
        "it "
        "takes: {} of {} verdicts say that the promise is kept. {}</p>\n{}",
        grouped(std::ssize(matrices)), grouped(kept), grouped(std::ssize(file["verdicts"])), page::about_ulp_histograms,
        failures(file["verdicts"]));
    for (const auto& [name, ways] : cases) {
        std::vector<page::UlpRow> rows;
        for (const auto& [way, verdicts] : ways) rows.push_back(row_of(way, verdicts));
        html += page::ulp_histograms(name, {number_cell("verdicts"), number_cell("kept"), number_cell("× fast’s time")}, rows);
    }
    return page::section("Verdicts of test-blas2", html);
}

// -------------------------------------------------------------------------------------------------------------------- origin

std::string value_html(const Json& value) {
    if (value.is_string()) return escaped(value.get<std::string>());
    if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
    return value.is_number_integer() ? grouped(value.get<std::int64_t>()) : escaped(value.dump());
}

std::string readable(std::string name) {
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

/// One machine, and the commands that ran there.
std::string origin(const Json& report) {
    std::vector<std::pair<Json, std::vector<std::string>>> machines;
    const auto add = [&](const Json& file) {
        const Json machine = file.value("machine", Json::object());
        const std::string command =
            fmt::format("<code>{}</code> {}", escaped(file.value("command", "")), escaped(file.value("made", "")));
        const std::string version = file.contains("solver") ? "solver " + text(file, "solver") : "";
        const auto same =
            std::find_if(machines.begin(), machines.end(), [&](const auto& known) { return known.first == machine; });
        auto& commands =
            same != machines.end() ? same->second : machines.emplace_back(machine, std::vector<std::string>{}).second;
        if (std::find(commands.begin(), commands.end(), command) == commands.end()) commands.push_back(command);
    };
    for (const char* kind : {"parts", "verdicts"})
        for (const Json& file : report.at(kind)) add(file);
    std::string html;
    for (const auto& [machine, commands] : machines) {
        page::Facts facts;
        for (const auto& [name, value] : machine.items()) facts.add(readable(name), value_html(value));
        for (const std::string& command : commands) facts.add("command", command);
        html += facts.html();
    }
    return page::section(
        "Where this comes from",
        html +
            "<p class=\"note\">Competitors take turns, A B C A B C …, each one call that is not timed, then calls for a "
            "millisecond or more (on a GPU a CUDA graph of calls, between events). Shown are the median time of a call, "
            "compulsory traffic by time, and the median of the ratios within a round; above 1 is faster.</p>\n");
}

std::string machine_name(const Json& parts) {
    std::string name;
    for (const Json& part : parts) {
        const Json& machine = part.at("machine");
        std::string here = text(machine, machine.contains("device") ? "device" : "processor");
        here = here.substr(0, here.find(" ("));
        if (!name.empty() && name != here) return "several machines";
        name = here;
    }
    return name;
}

/// Without what stands in parentheses.
std::string in_short(const std::string& peers) {
    std::string kept;
    int depth = 0;
    for (const char c : peers) {
        if (c == '(') {
            ++depth;
            if (kept.ends_with(' ')) kept.pop_back();
        }
        if (depth == 0) kept += c;
        if (c == ')') --depth;
    }
    return kept;
}

std::string header(const Json& parts) {
    if (parts.empty()) return "<h1>Accuracy</h1>\n";
    const bool verified =
        std::all_of(parts.begin(), parts.end(), [](const Json& part) { return part.at("verified").get<bool>(); });
    return fmt::format(
        "<p class=\"kicker\">solver-bench {}</p>\n<h1>Accuracy and speed on {}</h1>\n<p class=\"lede\">The modes <i>fast</i>, "
        "<i>compensated</i> (as if in twice the precision) and <i>exact</i> (every sum rounded once) beside {}. {}</p>\n",
        escaped(text(parts.front(), "solver")), escaped(machine_name(parts)),
        escaped(in_short(text(parts.front().at("machine"), "peer"))),
        verified ? "Errors are those of the results that were timed."
                 : "<span class=\"bad\">A result of exact was not correctly rounded.</span>");
}

}  // namespace

std::string report_page(const Json& report) {
    const Json& parts = report.at("parts");
    std::string body = summary(parts);
    for (std::size_t i = 0; i < parts.size(); ++i) body += section(parts[i], i);
    for (const Json& file : report.at("verdicts")) body += verdict_section(file);
    return page::document(fmt::format("Accuracy and speed on {}", machine_name(parts)), header(parts), body + origin(report));
}

}  // namespace solver::bench
