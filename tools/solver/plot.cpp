#include "plot.hpp"

#include "atomic_file.hpp"
#include "solver/error.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

namespace solver::command {
namespace {

namespace fs = std::filesystem;

/// A folder of our own that goes away.
class TemporaryFolder {
public:
    TemporaryFolder() : path_((fs::temp_directory_path() / "solver-plot-XXXXXX").string()) {
        if (mkdtemp(path_.data()) == nullptr)
            throw FileError(path_, 0, "cannot make this temporary folder; set TMPDIR to another");
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    fs::path file(const char* name) const { return fs::path(path_) / name; }

private:
    std::string path_;
};

std::string contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
}

std::string in_quotes(const fs::path& path) {
    std::string quoted = "'";
    for (const char c : path.string()) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

/// The picture that this script draws to its output.
std::string drawn(const std::string& script) {
    const TemporaryFolder folder;
    const fs::path script_file = folder.file("script"), picture = folder.file("picture"), messages = folder.file("messages");
    write_file(script_file, script);
    const std::string command =
        fmt::format("gnuplot {} >{} 2>{}", in_quotes(script_file), in_quotes(picture), in_quotes(messages));
    const int status = std::system(command.c_str());
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        throw NotSupported(
            "--plot: gnuplot was not found on the PATH; install it (gnuplot-nox), or use --history for the numbers");
    if (status != 0) throw Error(fmt::format("--plot: gnuplot failed: {}", contents(messages)));
    return contents(picture);
}

/// As the text of a label: gnuplot's enhanced mode gives these a meaning.
std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : text) {
        if (std::string_view("_^{}@&~\\\"").find(c) != std::string_view::npos) safe += "\\\\";
        safe += c == '"' ? '\'' : c;
    }
    return safe;
}

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

std::string script_of(const Options& options, const Outcome& outcome) {
    const bool svg = options.plot.extension() == ".svg";
    std::string script = svg ? "set terminal svg size 960,600 dynamic font 'sans-serif,15' background 'white'\n"
                             : "set terminal pngcairo size 1440,900 font 'sans-serif,18' linewidth 1.5\n";
    const std::vector<Curve> curves = curves_of(outcome);
    for (std::size_t i = 0; i < curves.size(); ++i)
        fmt::format_to(std::back_inserter(script), "$line{0} << end\n{1}end\n$point{0} << end\n{2}end\n", i, curves[i].lines,
                       curves[i].points);
    fmt::format_to(std::back_inserter(script), R"(set title "{}: BiCGStab, {} precision, preconditioner {}"
set xlabel "iteration"
set ylabel "residual, relative to b"
set logscale y
set format y "10^{{%T}}"
set grid linecolor rgb "#DDDDDD"
set border linecolor rgb "#555555"
set key outside bottom center horizontal Left reverse maxcols 2
set xrange [0:*]
)",
                   escaped(fs::path(outcome.matrix).filename().string()), to_string(options.precision),
                   to_string(options.preconditioner));
    script += "plot";
    for (std::size_t i = 0; i < curves.size(); ++i)
        fmt::format_to(std::back_inserter(script),
                       " $line{0} with lines linewidth 1.5 linecolor rgb \"{1}\" title \"{2}\","
                       " $point{0} with points pointtype 7 pointsize 0.8 linecolor rgb \"{1}\" notitle,",
                       i, colours[i % colours.size()], escaped(curves[i].name));
    script += " keyentry with points pointtype 7 pointsize 0.8 linecolor rgb \"#555555\" title \"true residual\",";
    fmt::format_to(std::back_inserter(script), " {} with lines dashtype 2 linecolor rgb \"#777777\" title \"tolerance\"\n",
                   options.tolerance);
    return script;
}

}  // namespace

void plot(const Options& options, const Outcome& outcome) { write_file(options.plot, drawn(script_of(options, outcome))); }

}  // namespace solver::command
