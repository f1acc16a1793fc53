#include "figure.hpp"

#include "io/atomic_file.hpp"
#include "tools/page/gnuplot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace solver::bench {
namespace {

/// Distinct for the colour-blind too (Okabe, Ito).
constexpr std::array colours{"#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};
/// Curves that cover one another show through each other's gaps.
constexpr std::array dashes{1, 2, 3, 4, 5};
constexpr std::array marks{7, 6, 5, 4, 9, 8, 11, 10};

using Names = std::vector<std::string>;

Names names_of_curves(const std::vector<Panel>& panels) {
    Names names;
    for (const Panel& panel : panels)
        for (const Curve& curve : panel.curves)
            if (std::find(names.begin(), names.end(), curve.name) == names.end()) names.push_back(curve.name);
    return names;
}

std::string data_of(const Panel& panel, std::size_t number) {
    std::string text;
    for (std::size_t i = 0; i < panel.curves.size(); ++i) {
        fmt::format_to(std::back_inserter(text), "$panel{}curve{} << end\n", number, i);
        for (const auto& [size, value] : panel.curves[i].points)
            if (value > 0 && std::isfinite(value)) fmt::format_to(std::back_inserter(text), "{} {:.4g}\n", size, value);
        text += "end\n";
    }
    return text;
}

/// How a curve of this name looks.
std::string look_of(const std::string& name, const Names& names) {
    const auto number = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    return fmt::format(
        "with linespoints linewidth 1.5 dashtype {} pointtype {} pointsize 0.8 linecolor rgb \"{}\" title \"{}\"",
        dashes[number % dashes.size()], marks[number % marks.size()], colours[number % colours.size()],
        page::escaped_for_gnuplot(name));
}

std::string plot_of(const Panel& panel, std::size_t number, const Names& names) {
    std::string text =
        fmt::format("set title \"{}\"\nset ylabel \"{}\"\nplot", page::escaped_for_gnuplot(panel.title), panel.quantity);
    for (std::size_t i = 0; i < panel.curves.size(); ++i)
        fmt::format_to(std::back_inserter(text), "{} $panel{}curve{} {}", i == 0 ? "" : ",", number, i,
                       look_of(panel.curves[i].name, names));
    return text + "\n";
}

std::string legend_of(const Names& names) {
    std::string text =
        "unset title\nunset border\nunset tics\nunset xlabel\nunset ylabel\nset key inside center maxcols 1\nplot";
    for (std::size_t i = 0; i < names.size(); ++i)
        fmt::format_to(std::back_inserter(text), "{} NaN {}", i == 0 ? " [1:2][1:2]" : ",", look_of(names[i], names));
    return text + "\n";
}

std::string script_of(bool svg, const std::string& title, const std::vector<Panel>& panels, const FigureStyle& style) {
    const Names names = names_of_curves(panels);
    const std::size_t rows = (panels.size() + (style.one_legend ? 1 : 0) + 1) / 2;
    std::string script =
        svg ? fmt::format("set terminal svg size 1000,{} dynamic font 'sans-serif,14' background 'white'\n", 40 + 440 * rows)
            : fmt::format("set terminal pngcairo size 1500,{} font 'sans-serif,17' linewidth 1.5\n", 60 + 660 * rows);
    for (std::size_t i = 0; i < panels.size(); ++i) script += data_of(panels[i], i);
    fmt::format_to(std::back_inserter(script), R"(set multiplot layout {},2 title "{}"
set logscale x {}
set logscale y
{}set format y "10^{{%T}}"
set xlabel "{}"
set xtics rotate by -30
set rmargin 6
set grid linetype 1 linecolor rgb "#DDDDDD"
set border linecolor rgb "#555555"
{}
)",
                   rows, page::escaped_for_gnuplot(title), style.base, style.base == 10 ? "set format x \"10^{%T}\"\n" : "",
                   style.size,
                   style.one_legend ? "unset key" : "set key outside bottom center horizontal Left reverse maxcols 2");
    for (std::size_t i = 0; i < panels.size(); ++i) script += plot_of(panels[i], i, names);
    if (style.one_legend) script += legend_of(names);
    return script + "unset multiplot\n";
}

}  // namespace

void Panel::add(const std::string& curve, double size, double value) {
    auto place = std::find_if(curves.begin(), curves.end(), [&](const Curve& other) { return other.name == curve; });
    if (place == curves.end()) place = curves.insert(curves.end(), {curve, {}});
    place->points.emplace_back(size, value);
}

void write_figure(const std::filesystem::path& path, const std::string& title, const std::vector<Panel>& panels,
                  const FigureStyle& style) {
    const std::string script = script_of(path.extension() != ".png", title, panels, style);
    write_file(path, path.extension() == ".gnuplot"
                         ? script
                         : page::drawn_by_gnuplot(script, "a name that ends in .gnuplot for the script alone"));
}

}  // namespace solver::bench
