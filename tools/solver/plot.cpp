#include "plot.hpp"

#include "io/atomic_file.hpp"
#include "tools/page/gnuplot.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <iterator>
#include <string>

namespace solver::command {
namespace {

namespace fs = std::filesystem;
using page::escaped_for_gnuplot;

/// Distinct for the colour-blind too (Okabe, Ito).
constexpr std::array colours{"#0072B2", "#D55E00", "#009E73", "#000000"};

struct Curve {
    std::string name;
    std::string lines;   ///< "iteration residual" a line
    std::string points;  ///< of true residuals
};

void add_point(std::string& text, double iteration, double residual) {
    if (residual > 0) fmt::format_to(std::back_inserter(text), "{} {}\n", iteration, residual);
}

Curve curve_of(const Run& run) {
    Curve curve{fmt::format("{}: {}", to_string(run.accuracy), status_text(run)), {}, {}};
    for (const Iteration& step : run.worst().history) {
        add_point(curve.lines, static_cast<double>(step.number), step.recursive_residual);
        add_point(curve.points, static_cast<double>(step.number), step.true_residual);
    }
    add_point(curve.points, static_cast<double>(run.worst().iterations), run.worst().relative_residual);
    return curve;
}

Curve curve_of(const ReferenceRun& run) {
    Curve curve{fmt::format("{}: {}", run.name, run.claim), {}, {}};
    for (std::size_t i = 0; i < run.half_steps.size(); ++i)
        add_point(curve.lines, static_cast<double>(i) + 0.5, run.half_steps[i]);
    add_point(curve.points, static_cast<double>(run.iterations), run.true_residual);
    return curve;
}

std::vector<Curve> curves_of(const Outcome& outcome) {
    std::vector<Curve> curves;
    for (const Run& run : outcome.runs) curves.push_back(curve_of(run));
    for (const ReferenceRun& run : outcome.references)
        if (!run.half_steps.empty()) curves.push_back(curve_of(run));
    return curves;
}

}  // namespace

std::string plot_script(const Options& options, const Outcome& outcome) {
    const bool svg = options.plot.extension() == ".svg";
    std::string script = svg ? "set terminal svg size 960,600 dynamic font 'sans-serif,15' background 'white'\n"
                             : "set terminal pngcairo size 1440,900 font 'sans-serif,18' linewidth 1.5\n";
    const std::vector<Curve> curves = curves_of(outcome);
    for (std::size_t i = 0; i < curves.size(); ++i)
        fmt::format_to(std::back_inserter(script), "$line{0} << end\n{1}end\n$point{0} << end\n{2}end\n", i, curves[i].lines,
                       curves[i].points);
    fmt::format_to(std::back_inserter(script), R"(set title "{}: {}, {} precision, preconditioner {}"
set xlabel "iteration"
set ylabel "residual, relative to b"
set logscale y
set format y "10^{{%T}}"
set grid linecolor rgb "#DDDDDD"
set border linecolor rgb "#555555"
set key outside bottom center horizontal Left reverse maxcols 2
set xrange [0:*]
)",
                   escaped_for_gnuplot(fs::path(outcome.matrix).filename().string()), method_name(outcome.run()),
                   to_string(options.precision), to_string(options.preconditioner));
    script += "plot";
    for (std::size_t i = 0; i < curves.size(); ++i)
        fmt::format_to(std::back_inserter(script),
                       " $line{0} with lines linewidth 1.5 linecolor rgb \"{1}\" title \"{2}\","
                       " $point{0} with points pointtype 7 pointsize 0.8 linecolor rgb \"{1}\" notitle,",
                       i, colours[i % colours.size()], escaped_for_gnuplot(curves[i].name));
    script += " keyentry with points pointtype 7 pointsize 0.8 linecolor rgb \"#555555\" title \"true residual\"";
    if (options.tolerance > 0)  // a logarithmic axis has no 0
        fmt::format_to(std::back_inserter(script), ", {} with lines dashtype 2 linecolor rgb \"#777777\" title \"tolerance\"",
                       options.tolerance);
    return script + "\n";
}

void plot(const Options& options, const Outcome& outcome) {
    write_file(options.plot, page::drawn_by_gnuplot(plot_script(options, outcome), "--history for the numbers"));
}

}  // namespace solver::command
