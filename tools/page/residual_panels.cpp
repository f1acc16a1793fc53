#include "residual_panels.hpp"

#include "frame.hpp"
#include "html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace solver::page {
namespace {

constexpr Frame panel{330, 216};

bool can_be_drawn(const ResidualPoint& point) { return point.residual > 0 && std::isfinite(point.residual); }

/// From residuals and iterations to places.
class Axes {
public:
    /// Where the tolerance is 0 the residuals alone set the range.
    Axes(const std::vector<ResidualCurve>& curves, double tolerance) {
        if (tolerance > 0) low_ = high_ = std::log10(tolerance);
        for (const ResidualCurve& curve : curves)
            for (const auto* points : {&curve.believed, &curve.truth})
                for (const ResidualPoint& point : *points)
                    if (can_be_drawn(point)) include(point);
        if (low_ > high_) low_ = high_ = 0;
        low_ = std::floor(low_ - 0.2);
        high_ = std::max(std::ceil(high_), low_ + 1);
    }

    double x(double iteration) const { return panel.left + (panel.right() - panel.left) * iteration / iterations_; }
    double y(double residual) const {
        return panel.bottom() - (panel.bottom() - panel.top) * (std::log10(residual) - low_) / (high_ - low_);
    }

    std::string svg() const {
        std::string svg = fmt::format("<path class=\"axis\" d=\"M{0} {1}V{2}H{3}\"/>\n", panel.left, panel.top, panel.bottom(),
                                      panel.right());
        const double decades = std::ceil((high_ - low_) / 6);
        for (double e = decades * std::ceil(low_ / decades); e <= high_; e += decades) add_decade(svg, e);
        const double step = step_of(iterations_);
        for (double i = 0; i <= iterations_; i += step) add_iteration(svg, i);
        svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">iteration</text>\n", panel.right(), panel.height - 3);
        return svg;
    }

private:
    void include(const ResidualPoint& point) {
        low_ = std::min(low_, std::log10(point.residual));
        high_ = std::max(high_, std::log10(point.residual));
        iterations_ = std::max(iterations_, point.iteration);
    }

    /// 1, 2 or 5 times a power of ten: five ticks or fewer.
    static double step_of(double range) {
        const double power = std::pow(10, std::floor(std::log10(range / 5)));
        for (const double factor : {1, 2, 5})
            if (factor * power * 5 >= range) return std::max(factor * power, 1.0);
        return 10 * power;
    }

    void add_decade(std::string& svg, double exponent) const {
        const double place = y(std::pow(10, exponent));
        fmt::format_to(
            std::back_inserter(svg),
            "<path class=\"axis\" d=\"M{:.1f} {:.1f}h-3\"/><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">10<tspan "
            "dy=\"-4\" font-size=\"8\">{}{:.0f}</tspan></text>\n",
            panel.left, place, panel.left - 6, place + 4, exponent < 0 ? "−" : "", std::abs(exponent));
    }

    void add_iteration(std::string& svg, double iteration) const {
        fmt::format_to(
            std::back_inserter(svg),
            "<path class=\"axis\" d=\"M{0:.1f} {1}v3\"/><text x=\"{0:.1f}\" y=\"{2}\" text-anchor=\"middle\">{3}</text>\n",
            x(iteration), panel.bottom(), panel.bottom() + 15, grouped(static_cast<std::int64_t>(iteration)));
    }

    double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
    double iterations_ = 1;
};

/// No more points than can be told apart: of each share of the width the least and the largest.
std::vector<ResidualPoint> thinned(const std::vector<ResidualPoint>& all) {
    constexpr std::size_t shares = 300;
    std::vector<ResidualPoint> points;
    std::copy_if(all.begin(), all.end(), std::back_inserter(points), can_be_drawn);
    if (points.size() <= 2 * shares) return points;
    std::vector<ResidualPoint> kept;
    for (std::size_t share = 0; share < shares; ++share) {
        const auto begin = points.begin() + static_cast<std::ptrdiff_t>(share * points.size() / shares);
        const auto end = points.begin() + static_cast<std::ptrdiff_t>((share + 1) * points.size() / shares);
        const auto [least, largest] = std::minmax_element(
            begin, end, [](const ResidualPoint& p, const ResidualPoint& q) { return p.residual < q.residual; });
        kept.push_back(*std::min(least, largest));
        if (least != largest) kept.push_back(*std::max(least, largest));
    }
    return kept;
}

std::string path(const std::vector<ResidualPoint>& points, const Axes& axes, const char* css_class) {
    std::string d;
    for (const ResidualPoint& point : thinned(points))
        fmt::format_to(std::back_inserter(d), "{}{:.1f} {:.1f}", d.empty() ? "M" : "L", axes.x(point.iteration),
                       axes.y(point.residual));
    return d.empty() ? "" : fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css_class, d);
}

std::string dots(const std::vector<ResidualPoint>& points, const Axes& axes) {
    std::string svg;
    for (const ResidualPoint& point : thinned(points))
        fmt::format_to(std::back_inserter(svg), "<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"/>\n",
                       axes.x(point.iteration), axes.y(point.residual));
    return svg;
}

std::string tolerance_line(double tolerance, const Axes& axes) {
    if (tolerance == 0) return "";
    const double y = axes.y(tolerance);
    return fmt::format("<path class=\"tolerance\" d=\"M{0} {1:.1f}H{2}\"/><text x=\"{3}\" y=\"{4:.1f}\">tolerance</text>\n",
                       panel.left, y, panel.right(), panel.left + 5, y + 11);
}

/// For who cannot see the picture.
std::string description(const ResidualCurve& curve) {
    std::string text = "Residual relative to b over the iterations, on a logarithmic scale.";
    const auto say = [&](const char* what, const std::vector<ResidualPoint>& points) {
        if (points.empty()) return;
        text += fmt::format(" {}: {} points, from {:.1e} to {:.1e} at iteration {}.", what, points.size(),
                            points.front().residual, points.back().residual, points.back().iteration);
    };
    say("The line, what the recursion believes", curve.believed);
    say("The dots, what is true", curve.truth);
    return text;
}

std::string figure(const std::vector<ResidualCurve>& curves, std::size_t shown, double tolerance, const Axes& axes,
                   const std::string& id) {
    const ResidualCurve& curve = curves[shown];
    std::string svg;
    for (std::size_t i = 0; i < curves.size(); ++i)
        if (i != shown) svg += path(curves[i].believed, axes, "context");
    svg += axes.svg() + tolerance_line(tolerance, axes) + path(curve.believed, axes, "line") + dots(curve.truth, axes);
    return fmt::format(
        "<figure>\n<figcaption><b>{1}</b> {2}</figcaption>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {3} {4}\" "
        "role=\"img\" aria-labelledby=\"{0}-title {0}-desc\">\n<title id=\"{0}-title\">{1}</title>\n<desc id=\"{0}-desc\">{5}"
        "</desc>\n{6}</svg>\n</figure>\n",
        id, escaped(curve.name), curve.verdict, panel.width, panel.height, escaped(description(curve)), svg);
}

}  // namespace

std::string residual_panels(const std::vector<ResidualCurve>& curves, double tolerance, std::string_view id) {
    const Axes axes(curves, tolerance);
    std::string figures;
    for (std::size_t i = 0; i < curves.size(); ++i)
        figures += figure(curves, i, tolerance, axes, fmt::format("{}-{}", id, i + 1));
    return "<div class=\"panels\">\n" + figures + "</div>\n";
}

std::string belief_and_truth(double believed, double truth) {
    if (believed >= truth / 2) return fmt::format("Residual <span class=\"truth\">{}</span>.", power(truth));
    return fmt::format("Believes <span class=\"claim\">{}</span>; true is <span class=\"truth\">{}</span>.", power(believed),
                       power(truth));
}

}  // namespace solver::page
