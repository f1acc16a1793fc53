#pragma once

/// What was measured as curves over the size, both axes logarithmic.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace solver::bench {

struct Curve {
    std::string name;
    std::vector<std::pair<double, double>> points;  ///< those that are not positive numbers are left out
};

struct Panel {
    std::string title;
    std::string quantity;
    std::vector<Curve> curves;

    /// To the end of the curve with this name, which begins here if there is none.
    void add(const std::string& curve, double size, double value);
};

/// What the panels have in common.
struct FigureStyle {
    std::string size = "n";   ///< what it is called
    int base = 2;             ///< whose powers stand at its axis
    bool one_legend = false;  ///< in a panel of its own, instead of one below each
};

/// Two panels side by side; a curve of one name looks the same in all of them. `path` ends in .svg or .png, which gnuplot
/// draws, or in .gnuplot: the script itself, data included, which draws SVG to its output. Throws as drawn_by_gnuplot does, and
/// FileError.
void write_figure(const std::filesystem::path& path, const std::string& title, const std::vector<Panel>& panels,
                  const FigureStyle& style = {});

}  // namespace solver::bench
