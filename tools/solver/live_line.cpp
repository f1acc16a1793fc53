#include "live_line.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

namespace solver::command {
namespace {

constexpr auto period = std::chrono::milliseconds(100);

/// A line that wraps could not be erased.
std::string cut_to_terminal(const std::string& text) {
    winsize size{};
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return text.substr(0, known ? size.ws_col - 1 : 79);
}

}  // namespace

LiveLine::LiveLine(bool wanted) : on_(wanted && isatty(STDERR_FILENO)) {}

void LiveLine::show(const std::string& text) {
    if (!on_) return;
    fmt::print(stderr, "\r\x1b[K{}", cut_to_terminal(text));
    std::fflush(stderr);
    shown_ = true;
}

void LiveLine::clear() {
    if (!shown_) return;
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
    shown_ = false;
}

void LiveLine::show(const Iteration& iteration, double tolerance) {
    const auto now = Clock::now();
    if (!on_ || now < next_) return;
    if (start_ == Clock::time_point{}) start_ = now;
    next_ = now + period;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = seconds > 0 ? static_cast<double>(iteration.number) / seconds : 0;
    const std::string wanted = tolerance > 0 ? fmt::format(" (to reach {:.0e})", tolerance) : "";
    show(fmt::format("  iteration {}   residual {:.1e}{}   {:.0f} iterations/s   {:.1f} s", iteration.number,
                     iteration.recursive_residual, wanted, rate, seconds));
}

}  // namespace solver::command
