#pragma once

/// Where the axes of a picture are, which leave room for numbers on the left and below.

namespace solver::page {

struct Frame {
    double width, height;

    static constexpr double left = 34, top = 8;
    constexpr double right() const { return width - 12; }
    constexpr double bottom() const { return height - 32; }
};

}  // namespace solver::page
